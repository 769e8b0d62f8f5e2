// What an answer costs at each level of the tree, and what a router keeps of it. A branching node gets ACKs of a child,
// each of which moves the minimum on, so that one goes up for each: checked, recorded, minimum over all branches, ICRC
// anew, new tunnel. Single runs of the program, less those of the empty program. The state is counted octet by octet in
// the maps, before and after many packets and their answers (bpf/bench/multicast-model.bpf.c).
import { openBpfObject } from '../../kernel/bpf/object.ts';
import { structure, u32Key } from '../../kernel/dataplane/layout.ts';
import {
  encodeMulticastBranch,
  encodeMulticastList,
  multicastMemberKey,
} from '../../kernel/dataplane/multicast-lists.ts';
import { MULTICAST_RECORD_SIZE, MULTICAST_STATE_SIZE } from '../../kernel/dataplane/multicast-state.ts';
import {
  MULTICAST_MAPS,
  MULTICAST_PROGRAMS,
  encodeMulticastConfig,
  encodeMulticastDestination,
  encodeMulticastGroup,
  encodeMulticastPort,
} from '../../kernel/dataplane/multicast.ts';
import { addressKey } from '../../kernel/dataplane/srv6.ts';
import { type IpAddress, address, addressFromBytes, formatAddress } from '../../model/address.ts';
import { concat } from '../../packet/bytes.ts';
import { encodeIpv6 } from '../../packet/ip/ipv6.ts';
import { buildRocePacket } from '../../packet/roce/packet.ts';
import { addedCost, contextAt } from '../support/added-cost.ts';
import { type Bench, type Figure, bpfObject } from '../support/bench.ts';
import { AT, BEGINS, EDGE, EVENT, ModelDriver } from '../support/multicast-model/driver.ts';
import { CORE_MAC, CORE_PEER_MAC, type Edge, providerEdge } from '../support/network/provider-edge.ts';
import { ethernet } from '../support/packets/packets.ts';
import type { Row } from '../support/report.ts';
import { quantile } from '../support/statistics.ts';

const BRANCHES = [1, 8, 64] as const;
const [ROUNDS, RUNS] = [7, 2000] as const;
const TC_NEXT = 0xffff_ffff;
const OUTER_DESTINATION = 14 + 24;
const [GROUP, LIST, PARENT, EPOCH, QPN] = [5, 12, 2, 1, 0x123456] as const;
const PROXY = address('2001:db8:f::1');
const SELF = address('2001:db8:e1::2');
const UP = address('2001:db8:c80::2');
const childSid = (n: number): IpAddress => ({
  family: 6,
  value: address('2001:db8:c90::2').value + (BigInt(n) << 64n),
});
/** A word of this epoch (bpf/lib/multicast/layout.h). */
const word = (content: number): bigint => (BigInt(EPOCH) << 54n) | (1n << 53n) | BigInt(content);
/** Further than all PSNs of a run. */
const FAR = 0x400000;

type Object = ReturnType<typeof openBpfObject>;

/** A branching node whose other children have confirmed everything. */
function publish(object: Object, { core }: Edge, branches: number): void {
  const put = (name: keyof typeof MULTICAST_MAPS, key: Uint8Array, value: Uint8Array): void =>
    object.map(MULTICAST_MAPS[name]).update(key, value);
  put(
    'config',
    u32Key(0),
    encodeMulticastConfig({ endMtTlv: 124, treeTlv: 125, fastCnpOption: 0x9e, fastCnpIoamOption: 0x9f }),
  );
  put('ports', u32Key(core), encodeMulticastPort({ isCore: true }));
  put('destinations', addressKey(SELF), encodeMulticastDestination({ kind: 'replication' }));
  put('destinations', addressKey(PROXY), encodeMulticastDestination({ kind: 'proxy', group: GROUP }));
  put('routers', addressKey(UP), u32Key(PARENT));
  put('routerSids', u32Key(PARENT), addressKey(UP));
  const group = {
    ...{ proxy: PROXY, source: null, edge: null, replication: SELF, designatedQpn: QPN, sourceQpn: null },
    ...{ cnpWindowNs: 50_000, copiesPerSecond: 0, copiesBurst: 0, isRoot: false, keepSource: false },
  };
  put('groups', u32Key(GROUP), encodeMulticastGroup(group));
  for (let slot = 0; slot < branches; slot++) {
    const sid = childSid(slot);
    const branch = { address: sid, qpn: 0, psnDelta: 0, write: null, excluded: false };
    put('branches', u32Key(slot), encodeMulticastBranch(branch));
    put('members', multicastMemberKey({ address: sid, list: LIST }), u32Key(slot));
    const record = structure(MULTICAST_RECORD_SIZE, (view) => view.setBigUint64(0, slot === 0 ? 0n : word(FAR), true));
    put('records', u32Key(slot), record);
  }
  const list = { group: GROUP, first: 0, count: branches, role: 'branching', hasLocal: false, parent: PARENT } as const;
  put('lists', u32Key(LIST), encodeMulticastList(list));
  const state = structure(MULTICAST_STATE_SIZE, (view) => {
    view.setBigUint64(0, (BigInt(EPOCH) << 44n) | (BigInt(LIST) << 22n) | BigInt(PARENT), true);
    view.setBigUint64(8, word(FAR), true);
  });
  put('states', u32Key(GROUP * 2 + 1), state);
}

/** An ACK of the first child. */
function ackOf(psn: number): Uint8Array {
  const ack = buildRocePacket({
    ...{ source: address('2001:db8:b::2'), destination: PROXY, sourcePort: 0xc123, trafficClass: 0, hopLimit: 64 },
    bth: { opcode: 0x11, destQpn: QPN, psn },
    ext: { aeth: { kind: 'ack', value: 31, msn: psn } },
    payload: new Uint8Array(0),
  });
  const outer = encodeIpv6({
    ...{ trafficClass: 0, flowLabel: EPOCH, payloadLength: ack.length, nextHeader: 41, hopLimit: 60 },
    ...{ source: childSid(0), destination: SELF },
  });
  return ethernet(concat(outer, ack), concat(CORE_MAC, CORE_PEER_MAC));
}

async function level(bench: Bench, edge: Edge, branches: number): Promise<Row> {
  const [object, empty] = ['multicast', 'empty'].map((name) => {
    const opened = openBpfObject(bpfObject(name));
    bench.finally(() => opened.close());
    return opened;
  }) as [Object, Object];
  publish(object, edge, branches);
  const ctx = contextAt(edge.core);
  /** @param to the outer destination of what leaves */
  const round = (program: ReturnType<Object['program']>, first: number, to: IpAddress): number => {
    const ns = Array.from({ length: RUNS }, (_, i) => {
      const run = program.testRun({ data: ackOf(first + i), ctx, netns: edge.netns });
      const left = formatAddress(addressFromBytes(run.data.subarray(OUTER_DESTINATION, OUTER_DESTINATION + 16)));
      if (run.retval !== TC_NEXT || left !== formatAddress(to))
        throw new Error(`an ACK did not go up: verdict ${run.retval}, to ${left}`);
      return run.durationNs;
    });
    return quantile(ns, 0.5);
  };
  let psn = 1;
  bench.signal.throwIfAborted();
  const what = `an ACK of a child goes up, ${branches === 1 ? '1 branch' : `${branches} branches`}, p50`;
  return addedCost({ figure: 'multicast-answers', what, targetNs: 1000 }, ROUNDS, {
    empty: () => round(empty.program('empty'), 0, SELF),
    program: () => round(object.program(MULTICAST_PROGRAMS.ingress), (psn += RUNS), UP),
  });
}

/** Maps that the programs write, in the order of the sizes in `octets`. */
const WRITTEN = ['multicast_states', 'multicast_records'] as const;

/** Octets of the maps' entries that are not as they were. */
class Octets {
  readonly #driver: ModelDriver;
  readonly #before: readonly Map<string, Buffer>[];

  constructor(driver: ModelDriver) {
    this.#driver = driver;
    this.#before = this.#read();
  }

  #read(): Map<string, Buffer>[] {
    return WRITTEN.map(
      (name) =>
        new Map(
          [...this.#driver.object.map(name).entries()].map(([k, v]) => [
            Buffer.from(k).toString('hex'),
            Buffer.from(v),
          ]),
        ),
    );
  }

  get written(): number {
    return this.#read().reduce((sum, now, i) => {
      const before = this.#before[i]!;
      return sum + [...now].reduce((own, [key, value]) => own + (before.get(key)?.equals(value) ? 0 : value.length), 0);
    }, 0);
  }
}

const HOST = 0x4000_0000;
const WINDOW = 32;

/** State octets of an edge with so many receivers, after as many packets. */
function stateOctets(receivers: number, packets: readonly number[]): number[] {
  const driver = new ModelDriver(bpfObject('bench_multicast-model'));
  try {
    driver.node(1, 2);
    for (let i = 0; i < receivers; i++) driver.branch(i, 1, HOST + i);
    driver.list(1, { group: 1, first: 0, count: receivers, role: EDGE, hasLocal: false });
    const octets = new Octets(driver);
    let psn = 0;
    const event = (fill: (words: Int32Array, at: number) => void): void => {
      if (driver.isFull) driver.run();
      const at = driver.add();
      driver.memory[at + AT.state] = 2 + EDGE;
      driver.memory[at + AT.nowMs] = 1000;
      fill(driver.memory, at);
    };
    return packets.map((upTo) => {
      while (psn < upTo) {
        const first = psn;
        for (; psn < Math.min(upTo, first + WINDOW); psn++)
          event((words, at) => {
            [words[at + AT.kind], words[at + AT.list], words[at + AT.epoch]] = [EVENT.data, 1, EPOCH];
            [words[at + AT.parent], words[at + AT.psn]] = [2, psn | BEGINS];
          });
        for (let i = 0; i < receivers; i++)
          event((words, at) => {
            [words[at + AT.kind], words[at + AT.sender], words[at + AT.psn]] = [EVENT.host, HOST + i, psn - 1];
            [words[at + AT.msn], words[at + AT.syndrome]] = [psn, 0x1f];
          });
      }
      driver.run();
      return octets.written;
    });
  } finally {
    driver.close();
  }
}

const [FEW, MANY] = [1000, 50_000] as const;

function state(): Row[] {
  const found = BRANCHES.map((branches) => ({ branches, octets: stateOctets(branches, [FEW, MANY]) }));
  const [one, , most] = found;
  const each = (most!.octets[1]! - one!.octets[1]!) / (most!.branches - one!.branches);
  const figure = 'multicast-answers';
  return [
    ...found.map(({ branches, octets: [few, many] }): Row => ({
      ...{
        figure,
        what: `state of a group, ${branches === 1 ? '1 branch' : `${branches} branches`}, after ${MANY} packets`,
      },
      ...{ unit: 'octets', measured: many!, reference: `after ${FEW} packets`, referenceValue: few! },
      ...{ ratio: many! / few!, target: 'the same', met: many === few && few! > 0 },
    })),
    {
      ...{ figure, what: 'state of a group, for each branch more', unit: 'octets', measured: each },
      ...{ reference: 'a record', referenceValue: MULTICAST_RECORD_SIZE, ratio: each / MULTICAST_RECORD_SIZE },
      ...{ target: 'a record', met: each === MULTICAST_RECORD_SIZE },
    },
  ];
}

export const multicastAnswers: Figure = {
  name: 'multicast-answers',
  title: 'an aggregated ACK at a branching node of End.MT; what a router keeps of a group',
  async measure(bench) {
    const edge = await providerEdge(bench);
    const rows: Row[] = [];
    for (const branches of BRANCHES) rows.push(await level(bench, edge, branches));
    return [...rows, ...state()];
  },
};
