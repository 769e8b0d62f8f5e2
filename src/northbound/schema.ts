// The shape of yang/cnpd.yang as data: which node is a container, list, leaf-list or leaf, its YANG type and the keys
// of its lists. The types tie it to src/model/state.ts (a field without a node here does not compile), a unit test ties
// it to the YANG file. A node's YANG name is its field name in kebab-case: `yangName` is the only place where the two
// spellings meet, so JSON answers, paths and `cnpctl -o json` all read alike.
import { ROLL_BACK_REASONS } from '../model/config-change.ts';
import { LONG_HAUL_ACTIONS, NOTIFICATION_FORMATS } from '../model/notification.ts';
import type { CnpdState } from '../model/state.ts';
import { BGP, OSPF } from './schema-carriers.ts';
import { CONFIGURATION } from './schema-configuration.ts';
import { FLOW_CONTROL } from './schema-flow-control.ts';
import { GROUPS } from './schema-groups.ts';
import { SOURCES } from './schema-sources.ts';
import {
  STRING,
  BOOLEAN,
  UINT32,
  UINT64,
  DECIMAL,
  TIME,
  ADDRESS,
  PREFIX,
  type AnyShape,
  type ContainerShape,
  type LeafType,
  leaf,
  leafList,
} from './shape.ts';

const CNPD: ContainerShape<CnpdState> = {
  kind: 'container',
  fields: {
    status: {
      kind: 'container',
      fields: {
        version: STRING,
        pid: UINT32,
        startedAt: TIME,
        health: leaf(['starting', 'running', 'degraded']),
        waitsFor: leafList('string'),
        problems: {
          kind: 'list',
          keys: ['feature', 'problem'],
          fields: { code: STRING, feature: STRING, problem: STRING, remedy: STRING },
        },
        intent: {
          kind: 'container',
          fields: {
            file: STRING,
            loadedAt: TIME,
            persistent: BOOLEAN,
            confirmBy: TIME,
            rolledBack: { kind: 'container', fields: { at: TIME, reason: leaf(ROLL_BACK_REASONS) } },
            lastReload: { kind: 'container', fields: { at: TIME, ok: BOOLEAN, errors: leafList('string') } },
          },
        },
        adopted: BOOLEAN,
      },
    },
    proxies: {
      kind: 'list',
      keys: ['address'],
      fields: { address: ADDRESS, prefixes: leafList('ip-prefix'), format: STRING, advertisedIn: leafList('string') },
    },
    senders: {
      kind: 'list',
      keys: ['prefix', 'carrier', 'source'],
      fields: {
        prefix: PREFIX,
        proxy: ADDRESS,
        best: BOOLEAN,
        pnc: BOOLEAN,
        metric: UINT32,
        carrier: STRING,
        originator: STRING,
        source: STRING,
        since: TIME,
        heldUntil: TIME,
        supports: leafList('string'),
        supportsInForce: BOOLEAN,
      },
    },
    isis: {
      kind: 'container',
      fields: {
        neighbors: {
          kind: 'list',
          keys: ['interface', 'level'],
          fields: {
            interface: STRING,
            level: leaf(['L1', 'L2', 'L1L2']),
            state: leaf(['down', 'initializing', 'up']),
            systemId: STRING,
            hostname: STRING,
            holdTimeRemaining: UINT32,
            since: TIME,
            reason: STRING,
          },
        },
        database: {
          kind: 'list',
          keys: ['level', 'lspId'],
          fields: {
            level: leaf('uint8'),
            lspId: STRING,
            sequence: UINT32,
            lifetime: leaf('uint16'),
            checksum: STRING,
            length: leaf('uint16'),
            own: BOOLEAN,
            reachable: BOOLEAN,
            overload: BOOLEAN,
            proxyPrefixes: UINT32,
          },
        },
      },
    },
    ospfv2: OSPF,
    ospfv3: OSPF,
    bgp: BGP,
    ports: {
      kind: 'list',
      keys: ['interface'],
      fields: {
        interface: STRING,
        ifindex: UINT32,
        attached: BOOLEAN,
        rootQdisc: STRING,
        queueBytes: UINT64,
        peakQueueBytes: UINT64,
        kMin: UINT64,
        kMax: UINT64,
        explanation: leafList('string'),
        packets: UINT64,
        bytes: UINT64,
        ceMarked: UINT64,
        triggers: UINT64,
        notifications: UINT64,
        suppressedPerFlow: UINT64,
        suppressedPerPort: UINT64,
        noProxy: UINT64,
        rttMs: DECIMAL,
        vEcn: DECIMAL,
        vGrowth: UINT64,
        ecnMarkingRate: DECIMAL,
        queueGrowth: UINT64,
        measurementIntervalMs: DECIMAL,
        notContributing: UINT64,
        deferred: UINT64,
        noFormat: UINT64,
        unseen: UINT64,
        unseenMpls: UINT64,
        unseenGre: UINT64,
        unseenVxlan: UINT64,
        unseenEsp: UINT64,
        unseenGeneve: UINT64,
        unseenOther: UINT64,
      },
    },
    flows: {
      kind: 'list',
      keys: ['port', 'source', 'destination', 'destinationQpn'],
      fields: {
        port: STRING,
        source: ADDRESS,
        destination: ADDRESS,
        destinationQpn: UINT32,
        sourceQpn: UINT32,
        learnedFrom: leaf(['cm', 'reverse-traffic', 'configured']),
        packets: UINT64,
        bytes: UINT64,
        lastSeen: TIME,
        notifications: UINT64,
      },
    },
    notifications: {
      kind: 'list',
      keys: ['sequence'],
      fields: {
        sequence: UINT64,
        at: TIME,
        port: STRING,
        format: leaf(NOTIFICATION_FORMATS),
        reason: leaf(['queue-depth', 'ecn-marking-rate', 'queue-growth', 'escalation', 'resume']),
        source: ADDRESS,
        destination: ADDRESS,
        destinationQpn: UINT32,
        sourceQpn: UINT32,
        endCon: ADDRESS,
        queueBytes: UINT64,
        level: leaf('uint8'),
        action: leaf(LONG_HAUL_ACTIONS),
        parameter: leaf('uint16'),
      },
    },
    ...SOURCES,
    flowControl: FLOW_CONTROL,
    sids: {
      kind: 'list',
      keys: ['sid', 'origin'],
      fields: {
        sid: ADDRESS,
        behavior: STRING,
        origin: leaf(['local', 'learned']),
        status: STRING,
        table: UINT32,
        carrier: STRING,
        originator: STRING,
      },
    },
    groups: GROUPS,
    rtt: {
      kind: 'list',
      keys: ['target'],
      fields: {
        target: ADDRESS,
        port: STRING,
        source: leaf(['configured', 'learned']),
        sent: UINT64,
        received: UINT64,
        rttMs: DECIMAL,
        minRttMs: DECIMAL,
        lastAnswer: TIME,
      },
    },
    counters: { kind: 'list', keys: ['name'], fields: { name: STRING, value: UINT64 } },
    codepoints: {
      kind: 'list',
      keys: ['name'],
      fields: { name: STRING, value: UINT32, default: UINT32, description: STRING, source: STRING },
    },
    configuration: CONFIGURATION,
  },
};

export const MODULE = { name: 'cnpd', organization: 'cnpd', version: '2026-11-27' } as const;

/** camelCase field name → YANG name: `kMin` → `k-min`. */
export const yangName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A node as the rest of the northbound walks it. */
export interface SchemaNode {
  /** YANG name; empty for the root. */
  readonly name: string;
  /** Field name in src/model/state.ts. */
  readonly field: string;
  readonly kind: 'container' | 'list' | 'leaf' | 'leaf-list';
  /** Leaves and leaf-lists only. */
  readonly type?: LeafType;
  /** Lists only: key nodes in YANG order. */
  readonly keys: readonly SchemaNode[];
  /** By YANG name; empty for leaves. */
  readonly children: ReadonlyMap<string, SchemaNode>;
}

function compile(field: string, shape: AnyShape): SchemaNode {
  const base = { name: yangName(field), field, kind: shape.kind };
  if (!('fields' in shape)) return { ...base, type: shape.type, keys: [], children: new Map() };
  const nodes = Object.entries(shape.fields as Record<string, AnyShape>).map(([name, child]) => compile(name, child));
  const children = new Map(nodes.map((node) => [node.name, node]));
  const keys = shape.kind === 'list' ? shape.keys.map((key) => children.get(yangName(String(key)))!) : [];
  return { ...base, keys, children };
}

const cnpdNode = compile('cnpd', CNPD);

/** The root `/`: its only child is the container `cnpd`. */
export const ROOT: SchemaNode = {
  name: '',
  field: '',
  kind: 'container',
  keys: [],
  children: new Map([[cnpdNode.name, cnpdNode]]),
};

/** The sections of the state, as they are and by their YANG names. */
export const SECTIONS: readonly { readonly name: string; readonly field: keyof CnpdState }[] = [
  ...cnpdNode.children.values(),
].map(({ name, field }) => ({ name, field: field as keyof CnpdState }));
