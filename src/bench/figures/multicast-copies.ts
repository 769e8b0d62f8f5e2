// What one receiver's copy costs at an edge of End.MT: the rewriting with the ICRC from its difference. Beside it what
// a program without that would do: a clone for every receiver, the rewriting, and the ICRC over the whole packet, eight
// octets a step. Once without the clones that the kernel makes, which differ only in their number: End.MT sends the
// packet itself as the last copy. The look-up of the receiver's route is in neither.
import { openBpfObject } from '../../kernel/bpf/object.ts';
import { attachTcx } from '../../kernel/bpf/tcx.ts';
import { structure, u32Key } from '../../kernel/dataplane/layout.ts';
import { encodeMulticastBranch } from '../../kernel/dataplane/multicast-lists.ts';
import { MULTICAST_BRANCHES, MULTICAST_MAPS, encodeMulticastGroup } from '../../kernel/dataplane/multicast.ts';
import { type IpAddress, address } from '../../model/address.ts';
import { OPCODE } from '../../packet/roce/opcodes.ts';
import { buildRocePacket } from '../../packet/roce/packet.ts';
import { type Bench, type Figure, bpfObject } from '../support/bench.ts';
import { type Edge, providerEdge } from '../support/network/provider-edge.ts';
import { ethernet } from '../support/packets/packets.ts';
import { type Row, number } from '../support/report.ts';
import { differences, inTurns, summary } from '../support/statistics.ts';

const ROUNDS = 40;
/** Copies in one measurement. */
const COPIES = 32_000;
const PROXY = address('2001:db8:f::1');
/** Octets of data, of the frame, and what is asked of a copy. */
const SIZES = [
  { data: 16, frame: 94, times: 3, ns: 110 },
  { data: 1024, frame: 1102, times: 5, ns: 170 },
] as const;
/** Of the ICRC alone: octets of data and of the frame; how many times as fast it is asked to be. */
const LENGTHS = [
  { data: 16, frame: 94, times: undefined },
  { data: 1024, frame: 1102, times: 100 },
  { data: 2048, frame: 2126, times: undefined },
] as const;

/** In the order of the rows. `isFirst`: nothing is kept from packets before. */
const CASES = [
  { receivers: 1, clones: false, isFirst: true },
  { receivers: 1, clones: false, isFirst: false },
  { receivers: 8, clones: false, isFirst: false },
  { receivers: 64, clones: false, isFirst: false },
  { receivers: 1, clones: true, isFirst: false },
  { receivers: 8, clones: true, isFirst: false },
  { receivers: 64, clones: true, isFirst: false },
] as const;

export const multicastCopies: Figure = {
  name: 'multicast-copies',
  title: "one receiver's copy at an edge of End.MT: the ICRC by its difference against the ICRC over the packet",
  async measure(bench) {
    const edge = await providerEdge(bench);
    const open = (name: string): Object => {
      const object = openBpfObject(bpfObject(name));
      bench.finally(() => object.close());
      return object;
    };
    const [object, empty, inject] = [open('bench_multicast'), open('empty'), open('bench_inject')];
    attachTcx({ program: inject.program('sink'), ifindex: edge.customer, direction: 'egress', netns: edge.netns });
    publish(object);
    const under = { bench, edge, object, empty };
    const rows: Row[] = [];
    for (const size of SIZES) for (const one of CASES) rows.push(await copies(under, size, one));
    for (const length of LENGTHS) rows.push(await icrcs(under, length));
    return rows;
  },
};

type Object = ReturnType<typeof openBpfObject>;

interface Under {
  readonly bench: Bench;
  readonly edge: Edge;
  readonly object: Object;
  readonly empty: Object;
}

function publish(object: Object): void {
  const group = {
    proxy: PROXY,
    source: null,
    edge: null,
    replication: null,
    designatedQpn: 77,
    sourceQpn: null,
    cnpWindowNs: 0,
    copiesPerSecond: 0,
    copiesBurst: 0,
    isRoot: false,
    keepSource: false,
  };
  object.map(MULTICAST_MAPS.groups).update(u32Key(0), encodeMulticastGroup(group));
  for (let slot = 0; slot < MULTICAST_BRANCHES; slot++) {
    const receiver: IpAddress = { family: 6, value: address('2001:db8:2::100').value + BigInt(slot) };
    const branch = { address: receiver, qpn: 100 + slot, psnDelta: slot * 0x1001, write: null, excluded: false };
    object.map(MULTICAST_MAPS.branches).update(u32Key(slot), encodeMulticastBranch(branch));
  }
}

const packetWith = (dataOctets: number): Uint8Array =>
  ethernet(
    buildRocePacket({
      source: address('2001:db8:1::2'),
      destination: PROXY,
      sourcePort: 0xc001,
      trafficClass: 2,
      hopLimit: 60,
      bth: { opcode: OPCODE.sendOnly, destQpn: 77, psn: 1 },
      payload: new Uint8Array(dataOctets).fill(0x5a),
    }),
  );

const contextOf = (mark: number, port = 0, isFirst = false): Uint8Array =>
  structure(192, (view) => {
    view.setUint32(8, mark, true); // __sk_buff.mark
    view.setUint32(48, port, true); // __sk_buff.cb[0]
    view.setUint32(52, isFirst ? 1 : 0, true); // __sk_buff.cb[1]
  });

/** ns for each of `mark` pieces of work of two programs, the empty program subtracted. */
async function compared(
  { bench, edge, object, empty }: Under,
  {
    data,
    ctx,
    mark,
    programs,
  }: { data: Uint8Array; ctx: Uint8Array; mark: number; programs: readonly [string, string] },
) {
  const run = (program: ReturnType<Object['program']>): number =>
    program.testRun({ data, ctx, repeat: COPIES / mark, netns: edge.netns }).durationNs / mark;
  const [ours, theirs] = programs.map((name) => object.program(name)) as [Program, Program];
  const found = await inTurns(ROUNDS, {
    empty: () => run(empty.program('empty')),
    ours: () => run(ours),
    theirs: () => run(theirs),
  });
  bench.signal.throwIfAborted();
  const [measured, reference] = [found.ours, found.theirs].map((samples) =>
    summary(differences(samples, found.empty)),
  ) as [Summary, Summary];
  const note = `the empty program, in both besides: ${number(summary(found.empty).median)} ns`;
  return { measured, reference, ratio: reference.median / measured.median, note };
}

type Program = ReturnType<Object['program']>;
type Summary = ReturnType<typeof summary>;

/** @throws Error when the two programs do not make the same last copy */
function checkCopies({ edge, object }: Under, data: Uint8Array, receivers: number): void {
  const [ours, theirs] = ['copies', 'copies_by_table'].map((name) =>
    Buffer.from(object.program(name).testRun({ data, ctx: contextOf(receivers), netns: edge.netns }).data),
  );
  if (!ours!.equals(theirs!)) throw new Error(`copies differ: ${ours!.toString('hex')}, ${theirs!.toString('hex')}`);
}

async function copies(under: Under, size: (typeof SIZES)[number], one: (typeof CASES)[number]): Promise<Row> {
  const { receivers, clones, isFirst } = one;
  const data = packetWith(size.data);
  checkCopies(under, data, receivers);
  const { measured, reference, ratio, note } = await compared(under, {
    ...{ data, mark: receivers, programs: ['copies', 'copies_by_table'] },
    ctx: contextOf(receivers, clones ? under.edge.customer : 0, isFirst),
  });
  const to = receivers === 1 ? `1 receiver${isFirst ? ', first packet' : ''}` : `${receivers} receivers`;
  return {
    figure: 'multicast-copies',
    what: `a copy of ${size.frame} octets, ${to}: ${clones ? 'rewritten, with its clone' : 'rewritten'}`,
    unit: 'ns a copy',
    measured: measured.median,
    spread: measured,
    reference: `${clones ? 'clone, rewriting' : 'rewriting'} and the ICRC over the packet, by table`,
    referenceValue: reference.median,
    referenceSpread: reference,
    ratio,
    target: `≥ ${size.times}×, ≤ ${size.ns} ns`,
    met: ratio >= size.times && measured.median <= size.ns,
    note,
  };
}

async function icrcs(under: Under, { data, frame, times }: (typeof LENGTHS)[number]): Promise<Row> {
  const { measured, reference, ratio, note } = await compared(under, {
    ...{ data: packetWith(data), ctx: contextOf(MULTICAST_BRANCHES), mark: MULTICAST_BRANCHES },
    programs: ['updates', 'computations'],
  });
  return {
    figure: 'multicast-copies',
    what: `the ICRC of a copy of ${frame} octets`,
    unit: 'ns',
    measured: measured.median,
    spread: measured,
    reference: 'over the packet, by table',
    referenceValue: reference.median,
    referenceSpread: reference,
    ratio,
    target: times === undefined ? '—' : `≥ ${times}×`,
    met: times === undefined ? null : ratio >= times,
    note: `a 64th of the reading of the packet is in both; ${note}`,
  };
}
