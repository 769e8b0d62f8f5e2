// The shape of yang/cnpd.yang as data: which node is a container, list, leaf-list or leaf, its YANG type and the keys of its lists. The types tie
// it to src/model/state.ts (a field without a node here does not compile), a unit test ties it to the YANG file. A node's YANG name is its field
// name in kebab-case: `yangName` is the only place where the two spellings meet, so JSON answers, paths and `cnpctl -o json` all read alike.
import type { CnpdState } from '../model/state.ts';

export type LeafType = 'string' | 'boolean' | 'uint8' | 'uint16' | 'uint32' | 'uint64' | 'ip-address' | 'ip-prefix' | 'date-and-time' | readonly string[];

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
const TIME = leaf('date-and-time');
const ADDRESS = leaf('ip-address');
const PREFIX = leaf('ip-prefix');

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
    counters: { kind: 'list', keys: ['name'], fields: { name: STRING, value: UINT64 } },
    codepoints: { kind: 'list', keys: ['name'], fields: { name: STRING, value: UINT32, default: UINT32, description: STRING, source: STRING } },
  },
};

export const MODULE = { name: 'cnpd', organization: 'cnpd', version: '2026-11-20' } as const;

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
