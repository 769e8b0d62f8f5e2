// Layouts are written down twice, in C and in src/kernel/dataplane: here the one is held against the other, by what the
// compiler has made of the C. Every example is laid out by the BTF of each object that has the map, and compared byte
// for byte with what TypeScript writes; what TypeScript reads from it is compared with the example, and which bytes it
// looks at with the widths of the fields. Nothing that the dataplane's files export is without an example or a number.
import { readdirSync } from 'node:fs';
import { inspect } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { CAPACITY } from '../../../src/intent/capacity.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { MAX_HEADERS } from '../../../src/packet/ip/walk.ts';
import { TENANT_UNKNOWN, tenantOfSid, tenantOfTable } from '../../../src/plan/tenants.ts';
import { Btf, type Layout } from '../support/btf.ts';
import { compileBpf } from '../support/compile.ts';
import { DETECTOR } from './layout-examples/detector.ts';
import { GUARD, SRV6 } from './layout-examples/guard-srv6.ts';
import { BUILDER, WATCHED } from './layout-examples/flows-builder.ts';
import { HOLDS } from './layout-examples/holds.ts';
import { MULTICAST } from './layout-examples/multicast.ts';
import { PROXY } from './layout-examples/proxy.ts';
import { SOURCE } from './layout-examples/source.ts';
import { A, type Dataplane, type Example, SHARED } from './layout-examples/example.ts';

const OBJECTS = ['egress', 'proxy', 'guard', 'srv6', 'multicast', 'source', 'hold'].map((name) => ({
  name,
  btf: new Btf(`dist/bpf/${name}.bpf.o`),
}));
const compiled = compileBpf('test/bpf/support/programs/layouts.bpf.c');
afterAll(() => compiled.remove());
const NAMED = new Btf(compiled.path);

const DATAPLANE = new URL('../../../src/kernel/dataplane/', import.meta.url);
const exported = Object.assign(
  {},
  ...(await Promise.all(
    readdirSync(DATAPLANE)
      .filter((name) => name.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(name))
      .map((name) => import(new URL(name, DATAPLANE).href) as Promise<object>),
  )),
) as Record<string, unknown>;
/** What of it has been looked at. */
const used = new Set<string>();
const ts = new Proxy(exported, {
  get: (target, name: string) => {
    used.add(name);
    return target[name];
  },
}) as unknown as Dataplane;

const EXAMPLES: readonly Example[] = [
  ...SHARED,
  ...DETECTOR,
  ...WATCHED,
  ...BUILDER,
  ...PROXY,
  ...SOURCE,
  ...GUARD,
  ...SRV6,
  ...MULTICAST,
  ...HOLDS,
];

interface Place {
  readonly name: string;
  readonly layout: Layout;
}

/** Where an example's layout is declared: in each object that has the map. */
function placesOf({ keysOf = [], valuesOf = [], struct }: Example): Place[] {
  const found = (names: readonly string[], side: 'key' | 'value'): Place[] =>
    names.flatMap((name) => {
      const places = OBJECTS.flatMap(({ name: object, btf }) => {
        const layout = btf.maps().get(name)?.[side];
        return layout ? [{ name: `${side} of ${name} in ${object}`, layout }] : [];
      });
      if (places.length === 0) throw new Error(`no object has a map ${name}`);
      return places;
    });
  return [
    ...found(keysOf, 'key'),
    ...found(valuesOf, 'value'),
    ...(struct ? [{ name: `struct ${struct}`, layout: NAMED.struct(struct) }] : []),
  ];
}

const CASES = EXAMPLES.flatMap((example) => placesOf(example).map(({ name, layout }) => ({ name, layout, example })));

/** Fields of two bytes or more whose first or last byte is 0: of another width they would look the same. */
function narrowFields(layout: Layout, bytes: Uint8Array): string[] {
  return layout
    .fields()
    .filter(({ offset, size }) => size > 1 && (bytes[offset] === 0 || bytes[offset + size - 1] === 0))
    .map(({ field }) => field);
}

/** Which bytes make a difference to what is read. */
function noticed(read: (bytes: Uint8Array) => unknown, bytes: Uint8Array): boolean[] {
  const differences = (changed: Uint8Array): string => {
    try {
      return inspect(read(changed), { depth: 9, maxArrayLength: null });
    } catch (error) {
      return String(error);
    }
  };
  const before = differences(bytes);
  return Array.from(bytes, (byte, at) =>
    [0x01, 0x80, 0xff, byte].some((mask) => mask !== 0 && differences(bytes.with(at, byte ^ mask)) !== before),
  );
}

/** The fields none of whose bytes are noticed, and those of which some are not. */
function unnoticed(layout: Layout, notices: readonly boolean[]): { unread: string[]; partly: string[] } {
  const spans = layout.fields();
  const names = [...new Set(spans.map(({ field }) => field))];
  const bytesOf = (name: string): boolean[] =>
    spans.filter(({ field }) => field === name).flatMap(({ offset, size }) => notices.slice(offset, offset + size));
  return {
    unread: names.filter((name) => !bytesOf(name).includes(true)),
    partly: names.filter((name) => new Set(bytesOf(name)).size > 1),
  };
}

describe('an example is laid out in C as in TypeScript', () => {
  const written = CASES.filter(({ example }) => example.written);
  test.each(written)('$name, written', ({ layout, example }) => {
    for (const bytes of example.written!(ts)) {
      expect(layout.decode(bytes)).toEqual(example.fields);
      // What has no name is zero.
      expect(toHex(bytes)).toBe(toHex(layout.encode(example.fields)));
      expect(narrowFields(layout, bytes).filter((field) => !example.narrow?.includes(field))).toEqual([]);
    }
  });

  const read = CASES.filter(({ example }) => example.read);
  test.each(read)('$name, read', ({ layout, example }) => {
    const bytes = layout.encode(example.fields);
    const reader = (changed: Uint8Array): unknown => example.read!(ts, changed);
    expect(reader(bytes)).toEqual(example.is);
    const { unread, partly } = unnoticed(layout, noticed(reader, bytes));
    expect({ unread: unread.sort(), partly: partly.sort() }).toEqual({
      unread: [...(example.unread ?? [])].sort(),
      partly: [...(example.partly ?? [])].sort(),
    });
  });

  const sized = CASES.filter(({ example }) => example.size);
  test.each(sized)('$name, size', ({ layout, example }) => expect(example.size!(ts)).toBe(layout.size));
});

describe('numbers are the same in C and in TypeScript', () => {
  const numbers = NAMED.enumeration('number');
  const number = (name: string): number => numbers[`NUMBER_${name}`]!;

  test.each<readonly [string, (of: Dataplane) => number]>([
    ['CB_TAG', (of) => of.CB_TAG],
    ['CONGESTION_LEVELS', (of) => of.CONGESTION_LEVELS],
    ['FLOW_SETS', (of) => of.FLOW_SETS],
    ['FLOW_WAYS', (of) => of.FLOW_WAYS],
    ['HOLD_FILTER_WORDS', (of) => of.HOLD_FILTER_WORDS],
    ['HOLD_FIRST_MINOR', (of) => of.HOLD_FIRST_MINOR],
    ['HOLD_SLOTS', (of) => of.HOLD_SLOTS],
    ['HOLD_EDT', (of) => of.HOLD_EDT],
    ['HOLD_LONGEST_DEPARTURE_NS', (of) => of.HOLD_LONGEST_DEPARTURE_NS],
    ['HOLD_LONGEST_WAIT_NS', (of) => of.HOLD_LONGEST_WAIT_NS],
    ['INSTRUCTIONS', (of) => of.MAX_INSTRUCTIONS],
    ['MARK_NOTICE', (of) => of.MARK_NOTICE],
    ['MARK_TRIGGER', (of) => of.MARK_TRIGGER],
    ['MULTICAST_BRANCHES', (of) => of.MULTICAST_BRANCHES],
    ['MULTICAST_GROUPS', (of) => of.MULTICAST_GROUPS],
    ['MULTICAST_LISTS', (of) => of.MULTICAST_LISTS],
    ['MULTICAST_ROUTERS', (of) => of.MULTICAST_ROUTERS],
    ['MULTICAST_SLOTS', (of) => of.MULTICAST_SLOTS],
    ['EPOCH_LABEL', (of) => of.labelOfEpoch(0xfffff)],
    ['STATE_OF_EDGE', (of) => of.multicastStateIndex(5, 'edge')],
    ['STATE_OF_BRANCHING', (of) => of.multicastStateIndex(5, 'branching')],
    ['PNC_LEVELS', (of) => of.PNC_LEVELS],
    ['PORT_PROBES', (of) => of.PORT_PROBES],
    ['PORT_SHARES', (of) => of.PORT_SHARES],
    ['PORT_SLOTS', (of) => of.PORT_SLOTS],
    ['WALK_DEPTH', () => MAX_HEADERS],
    ['TENANT_UNKNOWN', () => TENANT_UNKNOWN],
    ['TENANT_MAIN', () => tenantOfTable(254)],
  ])('%s', (name, of) => {
    expect(number(name)).toEqual(expect.any(Number));
    expect(of(ts)).toBe(number(name));
  });

  test('the least value of TENANT_PASSING is that of tenants elsewhere', () => {
    expect(tenantOfSid(A)).toBeGreaterThanOrEqual(number('TENANT_PASSING'));
    expect(tenantOfTable(number('TENANT_PASSING') - 1)).toBe(number('TENANT_PASSING') - 1);
    expect(tenantOfTable(number('TENANT_PASSING'))).toBe(TENANT_UNKNOWN);
  });

  test('what is not there is the same: a threshold, a DSCP, a PSN', () => {
    const port = DETECTOR[0]!.written!(ts)[0]!;
    const at = OBJECTS[0]!.btf.maps().get('egress_ports')!.value!.decode(port) as {
      instructions: { from_bytes: number }[];
    };
    expect(at.instructions[0]!.from_bytes).toBe(number('THRESHOLD_OFF'));
    expect(SRV6[1]!.fields).toMatchObject({ outer_dscp: number('OUTER_DSCP_AS_WRITTEN') });
    expect(PROXY.map(({ fields }) => fields)).toContainEqual(
      expect.objectContaining({ source: 3, psn: number('PSN_UNKNOWN'), starting_psn: number('PSN_UNKNOWN') }),
    );
    expect(number('FLOW_DATAGRAM')).toBe(0x8000_0000);
    expect(ts.decodeSid(Uint8Array.of(number('SID_IPV6'), 0, 0, 0, 0, 0, 0, 0)).families).toEqual([6]);
    expect(ts.decodeSid(Uint8Array.of(number('SID_IPV4'), 0, 0, 0, 0, 0, 0, 0)).families).toEqual([4]);
  });

  test('the bit of a Queue Pair in the filter of holds', () => {
    const at = ts.holdFilterBit(0xabcdef);
    expect(at).toEqual({ word: 0xcdef >> 6, bit: 1n << BigInt(0xcdef & 63) });
    expect(number('HOLD_FILTER_WORDS') * 64).toBe(0x10000);
    expect(NAMED.enumeration('hold_kind')).toEqual(spelled('HOLD', ts.HOLD_KIND));
    expect(NAMED.enumeration('hold_phase')).toEqual({ HOLD_HELD: 1, HOLD_LEAVING: 2, HOLD_BEHIND: 3 });
    expect(NAMED.enumeration('flow_control_reason')).toEqual(spelled('FLOW_CONTROL', ts.FLOW_CONTROL_REASON));
  });

  test('the longest extension objects have room', () => {
    const [header, timestamp, pathId] = [4, 4 + 8, 4 + 4];
    expect(header + timestamp + 4 + ts.MAX_DEVICE_ID + pathId).toBeLessThanOrEqual(number('NOTICE_OBJECTS_MAX'));
  });

  /** `FORMAT_FAST_CNP` is `fast-cnp`. */
  const spelled = (prefix: string, names: Readonly<Record<string, number>>): Record<string, number> =>
    Object.fromEntries(
      Object.entries(names).map(([name, value]) => [`${prefix}_${name.replaceAll('-', '_').toUpperCase()}`, value]),
    );
  const inOrder = (names: readonly string[], from: number): Record<string, number> =>
    Object.fromEntries(names.map((name, i) => [name, from + i]));

  test('what becomes of a notification at the source', () =>
    expect(NAMED.enumeration('source_action')).toEqual({
      SOURCE_NONE: 0,
      ...spelled('SOURCE', ts.SOURCE_ACTION_NUMBER),
    }));

  test('formats, actions, reasons, answers and kinds of tunnels', () => {
    expect(NAMED.enumeration('notification_format')).toEqual({
      FORMAT_NONE: 0,
      ...spelled('FORMAT', ts.FORMAT_NUMBER),
      FORMATS: 5,
    });
    expect(NAMED.enumeration('action')).toEqual(spelled('ACTION', ts.ACTION_NUMBER));
    expect(NAMED.enumeration('reason')).toEqual({ REASON_NONE: 0, ...spelled('REASON', ts.REASON_NUMBER) });
    expect(NAMED.enumeration('tunnel_kind')).toEqual({
      TUNNEL_NONE: 0,
      ...spelled('TUNNEL', inOrder(ts.TUNNEL_KINDS, 1)),
      TUNNEL_KINDS: ts.TUNNEL_KINDS.length + 1,
    });
    expect(NAMED.enumeration('resume_answer')).toEqual({
      RESUME_GRANTED: ts.RESUME_ANSWERS.indexOf('granted'),
      RESUME_FLOW_WAITS: ts.RESUME_ANSWERS.indexOf('flow-waits'),
      RESUME_PORT_WAITS: ts.RESUME_ANSWERS.indexOf('port-waits'),
      RESUME_UNKNOWN_PORT: ts.RESUME_ANSWERS.indexOf('port-unknown'),
    });
  });

  test('where a Queue Pair is known from', () => {
    const source = OBJECTS[0]!.btf
      .maps()
      .get('queue_pairs')!
      .value!.fields()
      .find(({ field }) => field === 'source')!;
    const readAs = (value: number): string | undefined => {
      const bytes = new Uint8Array(ts.QUEUE_PAIR_SIZE);
      bytes[source.offset] = value;
      return ts.decodeQueuePair(new Uint8Array(ts.FLOW_KEY_SIZE), bytes)?.source;
    };
    const { QP_FROM_CM, QP_FROM_TRAFFIC, QP_CONFIGURED, ...more } = NAMED.enumeration('qp_source');
    expect({
      QP_FROM_CM: readAs(QP_FROM_CM!),
      QP_FROM_TRAFFIC: readAs(QP_FROM_TRAFFIC!),
      QP_CONFIGURED: readAs(QP_CONFIGURED!),
    }).toEqual({ QP_FROM_CM: 'cm', QP_FROM_TRAFFIC: 'reverse-traffic', QP_CONFIGURED: 'configured' });
    expect(more).toEqual({});
  });

  test('every counter has its row, and every row its counter', () => {
    const indexes = Object.values(NAMED.enumeration('counter'));
    expect(ts.COUNTERS.map(({ index }) => index).sort((a, b) => a - b)).toEqual(indexes.sort((a, b) => a - b));
    for (const { btf } of OBJECTS) expect(btf.maps().get(ts.COUNTERS_MAP)!.maxEntries).toBe(number('COUNTERS_MAX'));
  });

  test('tables are as long as the agent takes them for', () => {
    const length = (map: string): number => OBJECTS.map(({ btf }) => btf.maps().get(map)).find(Boolean)!.maxEntries;
    expect([length('multicast_groups'), length('multicast_states'), length('multicast_lists')]).toEqual([
      ts.MULTICAST_GROUPS,
      2 * ts.MULTICAST_GROUPS,
      ts.MULTICAST_LISTS,
    ]);
    for (const map of ['branches', 'records', 'members']) expect(length(`multicast_${map}`)).toBe(ts.MULTICAST_SLOTS);
    for (const map of ['routers', 'router_sids']) expect(length(`multicast_${map}`)).toBe(ts.MULTICAST_ROUTERS);
    for (const map of ['holds', 'hold_records', 'hold_paces']) expect(length(map)).toBe(ts.HOLD_SLOTS);
    expect(length('hold_filter')).toBe(ts.HOLD_FILTER_WORDS);
    expect({ egress_ports: length('egress_ports'), flows: length('flows') }).toEqual({
      egress_ports: ts.PORT_SLOTS,
      flows: ts.FLOW_SETS,
    });
    const most = (...path: string[]): number => CAPACITY.find((limit) => limit.path.join() === path.join())!.most;
    expect(most('ports')).toBeLessThanOrEqual(length('egress_ports') / 2);
    expect(most('border-ports')).toBe(length('guard_ports'));
    expect(most('border-allow', 'inbound')).toBe(length('guard_allow_inbound'));
    expect(most('border-allow', 'outbound')).toBe(length('guard_allow_outbound'));
    expect(most('proxy', 'senders')).toBe(length('proxy_senders'));
    expect(most('proxy', 'accept-from')).toBe(length('proxy_sources'));
    expect(most('source', 'senders')).toBe(length('source_senders'));
    expect(most('source', 'accept-from')).toBe(length('source_nodes'));
    expect(most('notifications', 'senders')).toBeLessThanOrEqual(length('sender_policies'));
    expect(most('srv6', 'end-con')).toBeLessThanOrEqual(length('end_con_sids'));
  });
});

test('headers that describe layouts make no maps', () => expect([...NAMED.maps().keys()]).toEqual([]));

describe('nothing is left out', () => {
  /** Maps whose content only programs know, and how often a port was doubted, which is not read. */
  const UNKNOWN_TO_TYPESCRIPT = [
    ...['cm_connections', 'qp_sent_psns', 'qp_candidates', 'notice_buffer'].flatMap((map) => [
      `key of ${map}`,
      `value of ${map}`,
    ]),
    'value of doubted_ports',
    'value of proxy_bucket',
    'value of source_bucket',
    'value of flow_control_bucket',
    'value of flow_control_told',
  ];

  test('key and value of every map that the agent names have an example', () => {
    const maps = [
      ts.EGRESS_MAPS,
      ts.FLOW_CONTROL_MAPS,
      ts.GUARD_MAPS,
      ts.HOLD_MAPS,
      ts.MULTICAST_MAPS,
      ts.PROXY_MAPS,
      ts.SOURCE_MAPS,
      ts.SRV6_MAPS,
      ts.TENANT_MAPS,
    ].flatMap((names) => Object.values(names));
    const sides = [...maps, ts.NOTICE_CONFIG_MAP, ts.COUNTERS_MAP].flatMap((map) => {
      const layout = OBJECTS.map(({ btf }) => btf.maps().get(map)).find(Boolean);
      if (!layout) throw new Error(`no object has a map ${map}`);
      return [...(layout.key ? [`key of ${map}`] : []), ...(layout.value ? [`value of ${map}`] : [])];
    });
    const shown = new Set(CASES.map(({ name }) => name.replace(/ in \w+$/, '')));
    expect(sides.filter((side) => !shown.has(side)).sort()).toEqual([...UNKNOWN_TO_TYPESCRIPT].sort());
  });

  test('scratch maps and programs are there', () => {
    const maps = new Set(OBJECTS.flatMap(({ btf }) => [...btf.maps().keys()]));
    for (const map of [
      ...ts.FLOW_CONTROL_SCRATCH_MAPS,
      ...ts.PROXY_SCRATCH_MAPS,
      ...ts.SOURCE_SCRATCH_MAPS,
      ...ts.SRV6_SCRATCH_MAPS,
      ...ts.MULTICAST_SCRATCH_MAPS,
    ])
      expect(maps).toContain(map);
    const programs = [
      ts.FLOW_CONTROL_PROGRAMS,
      ts.EGRESS_PROGRAMS,
      ts.GUARD_PROGRAMS,
      ts.SRV6_PROGRAMS,
      ts.MULTICAST_PROGRAMS,
    ].flatMap((names) => Object.values(names));
    const functions = new Set(OBJECTS.flatMap(({ btf }) => btf.functions()));
    for (const program of [...programs, ts.PROXY_PROGRAM, ts.SOURCE_PROGRAM, ts.HOLD_PROGRAM])
      expect(functions).toContain(program);
  });

  /** Tools, defaults, words: exports that say nothing about a layout which an example does not show. */
  const WITHOUT_LAYOUT = [
    ...['LITTLE_ENDIAN', 'viewOf', 'structure', 'putMapped', 'sumOverCpus', 'PortSlotsFull', 'EGRESS_PORT_RATE'],
    ...['DEFAULT_FLOW_AGEING_NS', 'DEFAULT_INTERVAL_NS', 'DEFAULT_LEARNING_LIMITS', 'ntpOffsetNs', 'isLongHaul'],
    ...['actionOf', 'formatOf', 'latencyBounds', 'latencyQuantile', 'multicastWindowPacket', 'MULTICAST_COUNTERS'],
    ...['SOURCE_COUNTERS', 'SOURCE_RECORD_FIELDS', 'bucketOf'],
    ...['HOLD_COUNTERS', 'FLOW_CONTROL_COUNTERS', 'isHoldMinor', 'isHeldTraffic', 'KIND_OF_MODE'],
    ...['flowControlBucketOf', 'flowsIn'],
    ...['ENFORCE_SLOTS', 'FLOW_CONTROL_SLOTS', 'FIRST_SLOT', 'minorOf', 'purposeOf'],
    'multicastRoleOf', // the inverse of multicastStateIndex
    // Offsets: what reads by them is in an example.
    ...['FLOW_FIELDS', 'MEASURE_FIELDS', 'RECORD_FIELDS'],
  ];

  test('every export of the dataplane is in an example, or is a number or a name that is looked at here', () => {
    for (const { example, layout } of CASES) {
      example.written?.(ts);
      example.size?.(ts);
      example.read?.(ts, layout.encode(example.fields));
    }
    const left = Object.keys(exported).filter((name) => !used.has(name));
    expect(left.sort()).toEqual([...WITHOUT_LAYOUT].sort());
  });
});
