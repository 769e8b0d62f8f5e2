// What one receiver's copy costs at an edge of End.MT: the rewriting with the ICRC from its difference, against the
// same with the ICRC computed over the whole packet by the same tables. Once without and once with the clones that the
// kernel makes of a packet, which cost the same in both. The look-up of the receiver's route is in neither.
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
const COPIES = 64_000;
const PROXY = address('2001:db8:f::1');
const RECEIVERS = [1, 8, 64] as const;
/** Octets of data in a frame of 94 and of 1,102; what is asked of a copy without its clone. */
const SIZES = [
  { data: 16, frame: 94, times: 3, ns: 110 },
  { data: 1024, frame: 1102, times: 5, ns: 170 },
] as const;

export const multicastCopies: Figure = {
  name: 'multicast-copies',
  title: "one receiver's copy at an edge of End.MT: the ICRC by its difference against the ICRC over the packet",
  async measure(bench) {
    const edge = await providerEdge(bench);
    const object = openBpfObject(bpfObject('bench_multicast'));
    bench.finally(() => object.close());
    const empty = openBpfObject(bpfObject('empty'));
    bench.finally(() => empty.close());
    const inject = openBpfObject(bpfObject('bench_inject'));
    bench.finally(() => inject.close());
    attachTcx({ program: inject.program('sink'), ifindex: edge.customer, direction: 'egress', netns: edge.netns });
    publish(object);
    const rows: Row[] = [];
    for (const size of SIZES)
      for (const receivers of RECEIVERS)
        for (const clones of [false, true])
          rows.push(await measured(bench, { edge, object, empty, size, receivers, clones }));
    return rows;
  },
};

type Object = ReturnType<typeof openBpfObject>;

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

interface Case {
  readonly edge: Edge;
  readonly object: Object;
  readonly empty: Object;
  readonly size: (typeof SIZES)[number];
  readonly receivers: number;
  readonly clones: boolean;
}

async function measured(bench: Bench, { edge, object, empty, size, receivers, clones }: Case): Promise<Row> {
  const data = ethernet(
    buildRocePacket({
      source: address('2001:db8:1::2'),
      destination: PROXY,
      sourcePort: 0xc001,
      trafficClass: 2,
      hopLimit: 60,
      bth: { opcode: OPCODE.sendOnly, destQpn: 77, psn: 1 },
      payload: new Uint8Array(size.data).fill(0x5a),
    }),
  );
  const ctx = structure(192, (view) => {
    view.setUint32(8, receivers, true); // __sk_buff.mark
    view.setUint32(48, clones ? edge.customer : 0, true); // __sk_buff.cb[0]
  });
  const run = (program: ReturnType<Object['program']>): number =>
    program.testRun({ data, ctx, repeat: COPIES / receivers, netns: edge.netns }).durationNs / receivers;
  const found = await inTurns(ROUNDS, {
    empty: () => run(empty.program('empty')),
    copies: () => run(object.program('copies')),
    byTable: () => run(object.program('copies_by_table')),
  });
  bench.signal.throwIfAborted();
  const copy = summary(differences(found.copies, found.empty));
  const byTable = summary(differences(found.byTable, found.empty));
  const ratio = byTable.median / copy.median;
  const how = clones ? 'rewritten and cloned' : 'rewritten';
  return {
    figure: 'multicast-copies',
    what: `a copy of ${size.frame} octets, ${receivers === 1 ? '1 receiver' : `${receivers} receivers`}: ${how}`,
    unit: 'ns a copy',
    measured: copy.median,
    spread: copy,
    reference: `the same with the ICRC over the packet, by table`,
    referenceValue: byTable.median,
    referenceSpread: byTable,
    ratio,
    target: clones ? '—' : `≥ ${size.times}×, ≤ ${size.ns} ns`,
    met: clones ? null : ratio >= size.times && copy.median <= size.ns,
    note: `the empty program, in both besides: ${number(summary(found.empty).median)} ns`,
  };
}
