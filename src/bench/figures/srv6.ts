// The cost of the ends of an SRv6 tunnel. The exit: packets are received at a core port, decapsulated and forwarded to
// the next port, by the kernel's End.DT6 alone and with cnpd's program in front of it. The whole receive path is
// included, and how many of the sixteen vectors of RFC 6040 come out right. The entry: the program's own instructions,
// over those of the empty program.
import { openBpfObject } from '../../kernel/bpf/object.ts';
import type { BpfProgram } from '../../kernel/bpf/program.ts';
import { attachTcx } from '../../kernel/bpf/tcx.ts';
import { u32Key } from '../../kernel/dataplane/layout.ts';
import {
  FLAG,
  SRV6_MAPS,
  SRV6_PROGRAMS,
  type SidEntry,
  type Srv6Config,
  addressKey,
  encodeSid,
  encodeSrv6Config,
} from '../../kernel/dataplane/srv6.ts';
import { close } from '../../kernel/ffi/libc.ts';
import { address } from '../../model/address.ts';
import { addedCost, contextAt } from '../support/added-cost.ts';
import { type Bench, type Figure, bpfObject } from '../support/bench.ts';
import { type Edge, MAIN_TABLE, SID, providerEdge } from '../support/network/provider-edge.ts';
import { attachXdp } from '../support/packets/live-frames.ts';
import { dataIpv4, dataIpv6, ethernet, insideSrv6 } from '../support/packets/packets.ts';
import { type Row, number } from '../support/report.ts';
import { VECTORS } from '../support/packets/srv6-vectors.ts';
import { type Object, type Tunnel, TunnelExit } from '../support/packets/tunnel-exit.ts';
import { differences, inTurns, summary } from '../support/statistics.ts';

const LOOPBACK = '2001:db8:ffff::2';
const CON = '2001:db8:c0a::1';
const ROUNDS = 60;
const REPEAT = 20_000;

const ENTRY: SidEntry = { families: [6], endCon: false, decapsulate: true, table: MAIN_TABLE, ownRoute: false };

export const srv6: Figure = {
  name: 'srv6',
  title: 'the ends of an SRv6 tunnel: RFC 6040 and decapsulation against the kernel alone, and what the entry costs',
  async measure(bench) {
    const edge = await providerEdge(bench);
    const object = openBpfObject(bpfObject('srv6'));
    bench.finally(() => object.close());
    const inject = openBpfObject(bpfObject('bench_inject'));
    bench.finally(() => inject.close());
    const xdp = attachXdp(inject.program('arrive'), edge.core, edge.netns);
    bench.finally(() => close(xdp));
    attachTcx({ program: inject.program('sink'), ifindex: edge.customer, direction: 'egress', netns: edge.netns });
    configure(object, false);
    object.map(SRV6_MAPS.localSources).update(addressKey(address(LOOPBACK)), FLAG);
    object.map(SRV6_MAPS.localSources).update(addressKey(address(CON)), FLAG); // for a repeated run
    return [...(await exitRows(bench, edge, object, inject)), ...(await entryRows(bench, edge, object))];
  },
};

function configure(object: Object, sharedIngress: boolean): void {
  const config: Srv6Config = {
    defaultSource: address(CON),
    hasRows: false,
    ecnMode: 'normal',
    dscp: { kind: 'pipe', outerDscp: null },
    sharedIngress,
  };
  object.map(SRV6_MAPS.config).update(u32Key(0), encodeSrv6Config(config));
}

const TUNNELS: readonly Tunnel[] = [
  { what: 'no SRH', segments: [], target: 2 },
  { what: 'an SRH of 2', segments: [SID, SID], target: 2 },
  { what: 'no SRH, every packet of another flow', segments: [], manyFlows: 'source', target: 1 },
  { what: 'no SRH, every packet to another address', segments: [], manyFlows: 'destination', target: 1 },
];

async function exitRows(bench: Bench, edge: Edge, object: Object, inject: Object): Promise<Row[]> {
  const rows: Row[] = [];
  for (const tunnel of TUNNELS) {
    const exit = new TunnelExit(tunnel, { edge, inject });
    const ways: Readonly<Record<Way, <T>(ask: () => T) => T>> = {
      nothing: (ask) => exit.behind(inject.program('hand_over'), ask),
      kernel: (ask) => ask(),
      forwarded: (ask) => exit.behind(decapsulating(object, ENTRY), ask),
      handedUp: (ask) => exit.behind(decapsulating(object, { ...ENTRY, endCon: true, table: 0 }, true), ask),
      left: (ask) => exit.behind(decapsulating(object, { ...ENTRY, decapsulate: false }), ask),
    };
    exit.time();
    const measured = await inTurns(
      ROUNDS,
      mapWays((way) => () => ways[way](() => exit.time())),
    );
    bench.signal.throwIfAborted();
    rows.push(
      ...rowsOfExit(
        tunnel,
        measured,
        mapWays((way) => ways[way](() => exit.vectors())),
      ),
    );
  }
  return rows;
}

const WAYS = ['nothing', 'kernel', 'forwarded', 'handedUp', 'left'] as const;
type Way = (typeof WAYS)[number];
const mapWays = <T>(make: (way: Way) => T): Record<Way, T> =>
  Object.fromEntries(WAYS.map((way) => [way, make(way)])) as Record<Way, T>;

function decapsulating(object: Object, entry: SidEntry, sharedIngress = false): BpfProgram {
  configure(object, sharedIngress);
  object.map(SRV6_MAPS.sids).update(addressKey(address(SID)), encodeSid(entry));
  return object.program(SRV6_PROGRAMS.decap);
}

function rowsOfExit(
  tunnel: Tunnel,
  measured: Readonly<Record<Way, number[]>>,
  vectors: Readonly<Record<Way, number>>,
): Row[] {
  // Receiving and sending are in all of them; the figures are without it.
  const over = (way: Way) => summary(differences(measured[way], measured.nothing));
  const kernel = over('kernel');
  const row = (how: string, way: Way, target: number | null): Row => {
    const found = over(way);
    const ratio = kernel.median / found.median;
    return {
      figure: 'srv6',
      what: `tunnel exit, ${tunnel.what}: ${how} (${vectors[way]}/${VECTORS} vectors)`,
      unit: 'ns a packet',
      measured: found.median,
      spread: found,
      reference: `End.DT6 of the kernel alone (${vectors.kernel}/${VECTORS})`,
      referenceValue: kernel.median,
      referenceSpread: kernel,
      ratio,
      target: target === null ? '—' : `≥ ${target}×, ${VECTORS}/${VECTORS}`,
      met: target === null ? null : ratio >= target && vectors[way] === VECTORS,
      note: `receiving and sending, which both have besides: ${number(summary(measured.nothing).median)} ns`,
    };
  };
  return [
    row('ECN, decapsulation and forwarding by the program', 'forwarded', tunnel.target),
    row("ECN and decapsulation by the program, the kernel's routing", 'handedUp', null),
    row("ECN by the program, the kernel's End.DT6", 'left', null),
  ];
}

async function entryRows(bench: Bench, edge: Edge, object: Object): Promise<Row[]> {
  const emptyObject = openBpfObject(bpfObject('empty'));
  bench.finally(() => emptyObject.close());
  const rows: Row[] = [];
  const cases: readonly (readonly [string, Uint8Array])[] = [
    ['IPv6 inside, no SRH', insideSrv6(dataIpv6(), [])],
    ['IPv6 inside, an SRH of 2', insideSrv6(dataIpv6(), [SID, SID])],
    ['plain RoCEv2, no tunnel', dataIpv6()],
    ['plain RoCEv2 over IPv4', dataIpv4()],
  ];
  for (const [what, packet] of cases) {
    const frame = ethernet(packet);
    const ctx = contextAt(edge.core);
    const run = (program: ReturnType<Object['program']>): number =>
      program.testRun({ data: frame, ctx, repeat: REPEAT, netns: edge.netns }).durationNs;
    bench.signal.throwIfAborted();
    rows.push(
      await addedCost({ figure: 'srv6', what: `tunnel entry, ${what}: added` }, ROUNDS, {
        empty: () => run(emptyObject.program('empty')),
        program: () => run(object.program(SRV6_PROGRAMS.encap)),
      }),
    );
  }
  return rows;
}
