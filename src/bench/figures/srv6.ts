// What the ends of an SRv6 tunnel cost. The exit: packets received at a core port, decapsulated and forwarded to the
// next port, by the kernel's End.DT6 alone and with cnpd's program in front of it, whole receive path included, and how
// many of the sixteen vectors of RFC 6040 each gets right. The entry: the program's own instructions over those of the
// empty one.
import { writeFileSync } from 'node:fs';
import { openBpfObject } from '../../kernel/bpf/object.ts';
import type { BpfProgram } from '../../kernel/bpf/program.ts';
import { attachTcx } from '../../kernel/bpf/tcx.ts';
import { structure, u32Key } from '../../kernel/dataplane/layout.ts';
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
import { Netns } from '../../kernel/netns.ts';
import { Rtnetlink } from '../../kernel/netlink/rtnetlink.ts';
import { SidRoutes } from '../../kernel/netlink/sid-routes.ts';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { concat } from '../../packet/bytes.ts';
import { type Bench, type Figure, bpfObject } from '../support/bench.ts';
import { attachXdp, receiveFrames } from '../support/packets/live-frames.ts';
import { dataIpv4, dataIpv6, ethernet, insideSrv6 } from '../support/packets/packets.ts';
import { type Row, number } from '../support/report.ts';
import { VECTORS, setCongestionField, vectorsMet } from '../support/packets/srv6-vectors.ts';
import { differences, inTurns, summary } from '../support/statistics.ts';

const CORE_MAC = Uint8Array.of(2, 0, 0, 0, 9, 1);
const CORE_PEER_MAC = Uint8Array.of(2, 0, 0, 0, 9, 2);
const SID = '2001:db8:f4::1';
const LOOPBACK = '2001:db8:ffff::2';
const CON = '2001:db8:c0a::1';
const MAIN = 254;
/** Of a frame, that `arrive` writes. */
const HEADERS = 256;
const COUNT = 1_000;
const ROUNDS = 60;
const REPEAT = 20_000;
/** In an IPv6 header: the last 16 bits of an address. */
const LAST_OF = { source: 22, destination: 38 } as const;
/** A prefix behind the customer's neighbour, and where the last byte of it is in an IPv6 header. */
const BEHIND = { prefix: '2001:db8:4::/64', at: 29, byte: 4 } as const;

interface Edge {
  readonly netns: Netns;
  readonly core: number;
  readonly customer: number;
}

/** A router with a core port, a customer port whose neighbour is known, and an End.DT6 SID. */
async function providerEdge(bench: Bench): Promise<Edge> {
  const netns = Netns.create();
  bench.finally(() => netns.close());
  const rtnetlink = Rtnetlink.open({ netns }, bench);
  bench.finally(() => rtnetlink.close());
  netns.run(() => writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1'));
  await rtnetlink.createVeth({
    name: 't-bench-core',
    mac: CORE_MAC,
    mtu: 1500,
    peer: { name: 't-bench-p', mac: CORE_PEER_MAC, mtu: 1500 },
  });
  await rtnetlink.createVeth({ name: 't-bench-host', mtu: 1500, peer: { name: 't-bench-h', mtu: 1500 } });
  for (const name of ['lo', 't-bench-core', 't-bench-p', 't-bench-host', 't-bench-h'])
    await rtnetlink.setLink(name, { up: true });
  await rtnetlink.addAddress('t-bench-host', address('2001:db8:2::1'), 64, { nodad: true });
  await rtnetlink.setNeighbour('t-bench-host', address('2001:db8:2::2'), Uint8Array.of(2, 0, 0, 0, 9, 9));
  await rtnetlink.addRoute({ destination: prefix(BEHIND.prefix), gateway: address('2001:db8:2::2'), protocol: 4 });
  const [core, customer] = [
    (await rtnetlink.link('t-bench-core'))!.ifindex,
    (await rtnetlink.link('t-bench-host'))!.ifindex,
  ];
  const routes = SidRoutes.open({ netns });
  bench.finally(() => routes.close());
  routes.add({ sid: address(SID), action: 'end.dt6', table: MAIN, ifindex: core });
  await rtnetlink.addRoute({ destination: prefix('2001:db8:1::/64'), ifindex: core, protocol: 4 });
  return { netns, core, customer };
}

const ENTRY: SidEntry = { families: [6], endCon: false, decapsulate: true, table: MAIN, ownRoute: false };

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
    object.map(SRV6_MAPS.localSources).update(addressKey(address(CON)), FLAG); // what a repeated run finds
    return [...(await exitRows(bench, edge, object, inject)), ...(await entryRows(bench, edge, object))];
  },
};

type Object = ReturnType<typeof openBpfObject>;

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

interface Tunnel {
  readonly what: string;
  readonly segments: readonly string[];
  /**
   * Every packet of another flow, by this address: nothing that is remembered of a flow helps; with the same
   * destination, what the kernel remembers of it does.
   */
  readonly manyFlows?: keyof typeof LAST_OF;
  /** How much faster than the kernel the program is to be when it does it all. */
  readonly target: number;
}
const TUNNELS: readonly Tunnel[] = [
  { what: 'no SRH', segments: [], target: 2 },
  { what: 'an SRH of 2', segments: [SID, SID], target: 2 },
  { what: 'no SRH, every packet of another flow', segments: [], manyFlows: 'source', target: 1 },
  { what: 'no SRH, every packet to another address', segments: [], manyFlows: 'destination', target: 1 },
];

const outerAt = 14;
const innerAt = ({ segments }: Tunnel): number => outerAt + 40 + (segments.length > 0 ? 8 + 16 * segments.length : 0);

/** What lets frames into the core port and sees them leave at the customer's. */
class Exit {
  readonly #tunnel: Tunnel;
  readonly #frame: Uint8Array;
  readonly #edge: Edge;
  readonly #inject: Object;

  constructor(tunnel: Tunnel, modules: { readonly edge: Edge; readonly inject: Object }) {
    const packet = insideSrv6(dataIpv6(), tunnel.segments);
    if (tunnel.segments.length > 0) packet[43] = 0; // segments left
    this.#tunnel = tunnel;
    this.#frame = ethernet(packet, concat(CORE_MAC, CORE_PEER_MAC));
    this.#edge = modules.edge;
    this.#inject = modules.inject;
    if (tunnel.manyFlows === 'destination') this.#frame[innerAt(tunnel) + BEHIND.at] = BEHIND.byte;
    this.#inject
      .map('counted_at')
      .update(u32Key(0), u32Key(tunnel.manyFlows ? innerAt(tunnel) + LAST_OF[tunnel.manyFlows] : 0));
    this.#inject.map('next_port').update(u32Key(0), u32Key(this.#edge.customer));
    this.#show(this.#frame);
  }

  #show(frame: Uint8Array): void {
    this.#inject.map('template').update(u32Key(0), frame.subarray(0, HEADERS));
  }

  /** Packets that have left, by congestion field. */
  #left(): bigint[] {
    return [0, 1, 2, 3].map((field) => this.#inject.map('sunk').sumCounters(u32Key(field))![0]!);
  }

  /** Returns what left, by congestion field, and nanoseconds a packet. */
  #receive(frame: Uint8Array, count: number): { left: number[]; ns: number } {
    const before = this.#left();
    const ns = receiveFrames(this.#inject.program('arrive'), {
      frame,
      ifindex: this.#edge.core,
      count,
      netns: this.#edge.netns,
    });
    return { left: this.#left().map((packets, field) => Number(packets - before[field]!)), ns };
  }

  /** Nanoseconds a packet. */
  time(): number {
    const { left, ns } = this.#receive(this.#frame, COUNT);
    const forwarded = left.reduce((sum, packets) => sum + packets, 0);
    if (forwarded !== COUNT) throw new Error(`${forwarded} of ${COUNT} packets were forwarded`);
    return ns;
  }

  vectors(): number {
    const met = vectorsMet((inner, outer) => {
      const frame = this.#frame.slice();
      setCongestionField(frame, outerAt, outer);
      setCongestionField(frame, innerAt(this.#tunnel), inner);
      this.#show(frame);
      const field = this.#receive(frame, 1).left.indexOf(1);
      return field < 0 ? null : field;
    });
    this.#show(this.#frame);
    return met;
  }

  /** `ask` with a program at the ingress of the core port. */
  behind<T>(program: BpfProgram, ask: () => T): T {
    const link = attachTcx({ program, ifindex: this.#edge.core, direction: 'ingress', netns: this.#edge.netns });
    try {
      return ask();
    } finally {
      link.detach();
    }
  }
}

async function exitRows(bench: Bench, edge: Edge, object: Object, inject: Object): Promise<Row[]> {
  const rows: Row[] = [];
  for (const tunnel of TUNNELS) {
    const exit = new Exit(tunnel, { edge, inject });
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
  // What receiving and sending cost is in all of them; figures are without it.
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
    const ctx = structure(192, (view) => view.setUint32(40, edge.core, true)); // __sk_buff.ifindex
    const run = (program: ReturnType<Object['program']>): number =>
      program.testRun({ data: frame, ctx, repeat: REPEAT, netns: edge.netns }).durationNs;
    const measured = await inTurns(ROUNDS, {
      empty: () => run(emptyObject.program('empty')),
      entry: () => run(object.program(SRV6_PROGRAMS.encap)),
    });
    bench.signal.throwIfAborted();
    const added = summary(differences(measured.entry, measured.empty));
    const empty = summary(measured.empty);
    rows.push({
      figure: 'srv6',
      what: `tunnel entry, ${what}: added`,
      unit: 'ns',
      measured: added.median,
      spread: added,
      reference: 'empty program',
      referenceValue: empty.median,
      referenceSpread: empty,
      ratio: added.median / empty.median,
      target: '—',
      met: null,
    });
  }
  return rows;
}
