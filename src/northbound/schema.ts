// The shape of yang/cnpd.yang as data: which node is a container, list, leaf-list or leaf, its YANG type and the keys of its lists. The types tie
// it to src/model/state.ts (a field without a node here does not compile), a unit test ties it to the YANG file. A node's YANG name is its field
// name in kebab-case: `yangName` is the only place where the two spellings meet, so JSON answers, paths and `cnpctl -o json` all read alike.
import { NOTIFICATION_FORMATS } from '../model/notification.ts';
import type { BgpState, CnpdState, OspfState } from '../model/state.ts';

export type LeafType = 'string' | 'boolean' | 'uint8' | 'uint16' | 'uint32' | 'uint64' | 'decimal64' | 'ip-address' | 'ip-prefix' | 'date-and-time' | readonly string[];

interface LeafShape {
  readonly kind: 'leaf' | 'leaf-list';
  readonly type: LeafType;
}
interface ContainerShape<T> {
  readonly kind: 'container';
  readonly fields: { readonly [K in keyof Required<T>]: Shape<Exclude<T[K], null | undefined>> };
}
interface ListShape<E> {
  readonly kind: 'list';
  readonly keys: readonly (keyof E)[];
  readonly fields: ContainerShape<E>['fields'];
}
type Shape<T> = [T] extends [readonly (infer E)[]] ? ([E] extends [object] ? ListShape<E> : LeafShape) : [T] extends [object] ? ContainerShape<T> : LeafShape;

const leaf = (type: LeafType): LeafShape => ({ kind: 'leaf', type });
const leafList = (type: LeafType): LeafShape => ({ kind: 'leaf-list', type });

const STRING = leaf('string');
const BOOLEAN = leaf('boolean');
const UINT32 = leaf('uint32');
const UINT64 = leaf('uint64');
/** Three fraction digits. */
const DECIMAL = leaf('decimal64');
const TIME = leaf('date-and-time');
const ADDRESS = leaf('ip-address');
const PREFIX = leaf('ip-prefix');

/** Of both versions (`grouping ospf` in the YANG file). */
const OSPF: ContainerShape<OspfState> = {
  kind: 'container',
  fields: {
    neighbors: {
      kind: 'list',
      keys: ['area'],
      fields: {
        area: STRING,
        interface: STRING,
        state: leaf(['down', 'init', 'ex-start', 'exchange', 'loading', 'full']),
        routerId: STRING,
        deadTimeRemaining: UINT32,
        mtu: leaf('uint16'),
        takesOpaque: BOOLEAN,
        unacknowledged: UINT32,
        databaseFull: BOOLEAN,
        routerIdContested: BOOLEAN,
        notFullSince: TIME,
        since: TIME,
        reason: STRING,
      },
    },
    database: {
      kind: 'list',
      keys: ['area', 'type', 'lsId', 'router'],
      fields: {
        area: STRING,
        type: STRING,
        lsId: STRING,
        router: STRING,
        sequence: STRING,
        age: leaf('uint16'),
        checksum: STRING,
        length: leaf('uint16'),
        own: BOOLEAN,
        reachable: BOOLEAN,
        proxyPrefixes: UINT32,
      },
    },
  },
};

const BGP: ContainerShape<BgpState> = {
  kind: 'container',
  fields: {
    session: {
      kind: 'list',
      keys: ['target'],
      fields: {
        target: STRING,
        state: leaf(['connecting', 'loading', 'ready', 'waiting']),
        api: leaf(['v3', 'v4']),
        as: UINT32,
        routerId: STRING,
        since: TIME,
        reason: STRING,
        originated: UINT32,
        wanted: UINT32,
        dropped: UINT32,
        noTable: leafList('string'),
        refusal: STRING,
        neighbors: UINT32,
        learned: UINT32,
        withProxy: UINT32,
      },
    },
    peers: {
      kind: 'list',
      keys: ['address'],
      fields: {
        address: STRING,
        as: UINT32,
        state: leaf(['idle', 'connect', 'active', 'opensent', 'openconfirm', 'established', 'unknown']),
        families: leafList('string'),
        received: UINT32,
        advertised: UINT32,
        inDomain: BOOLEAN,
      },
    },
    paths: {
      kind: 'list',
      keys: ['prefix', 'peer', 'nextHop'],
      fields: {
        prefix: PREFIX,
        peer: STRING,
        nextHop: ADDRESS,
        headerNextHop: ADDRESS,
        proxy: ADDRESS,
        asPath: STRING,
        best: BOOLEAN,
        status: leaf(['originated', 'used', 'next-hop-mismatch', 'family-mismatch', 'outside-domain', 'malformed', 'no-characteristic', 'no-proxy-address']),
        sids: leafList('ip-address'),
        unknown: leafList('uint16'),
        since: TIME,
      },
    },
  },
};

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
        problems: { kind: 'list', keys: ['feature', 'problem'], fields: { feature: STRING, problem: STRING, remedy: STRING } },
        intent: {
          kind: 'container',
          fields: {
            file: STRING,
            loadedAt: TIME,
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
        action: leaf(['notify', 'pause', 'rate-reduce', 'resume']),
        parameter: leaf('uint16'),
      },
    },
    sids: {
      kind: 'list',
      keys: ['sid', 'origin'],
      fields: { sid: ADDRESS, behavior: STRING, origin: leaf(['local', 'learned']), status: STRING, table: UINT32, carrier: STRING, originator: STRING },
    },
    rtt: {
      kind: 'list',
      keys: ['target'],
      fields: { target: ADDRESS, port: STRING, source: leaf(['configured', 'learned']), sent: UINT64, received: UINT64, rttMs: DECIMAL, minRttMs: DECIMAL, lastAnswer: TIME },
    },
    counters: { kind: 'list', keys: ['name'], fields: { name: STRING, value: UINT64 } },
    codepoints: { kind: 'list', keys: ['name'], fields: { name: STRING, value: UINT32, default: UINT32, description: STRING, source: STRING } },
  },
};

export const MODULE = { name: 'cnpd', organization: 'cnpd', version: '2026-11-22' } as const;

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

type AnyShape = LeafShape | { readonly kind: 'container'; readonly fields: object } | { readonly kind: 'list'; readonly keys: readonly PropertyKey[]; readonly fields: object };

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
export const ROOT: SchemaNode = { name: '', field: '', kind: 'container', keys: [], children: new Map([[cnpdNode.name, cnpdNode]]) };
