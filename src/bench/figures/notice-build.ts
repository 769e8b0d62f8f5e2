// How long the builder takes to make a notification of a clone of the congesting packet, format by format: single runs
// of the program `notice`, each on a fresh clone (a second run would meet its own output). Beside it user space at the
// same work: from the packet's bytes to the notification's, by the agent's codecs in a warm loop, without the way into
// user space and out again, so that the comparison favors user space. A quantile is that of a round; its spread, of
// the rounds. The kernel's includes about 0.1 µs of measuring.
import { openBpfObject } from '../../kernel/bpf/object.ts';
import type { BpfProgram } from '../../kernel/bpf/program.ts';
import {
  CB_TAG,
  EGRESS_MAPS,
  EGRESS_PROGRAMS,
  MARK_TRIGGER,
  encodeEgressConfig,
} from '../../kernel/dataplane/egress.ts';
import { LITTLE_ENDIAN, structure, u32Key } from '../../kernel/dataplane/layout.ts';
import { NOTICE_CONFIG_KEY, NOTICE_CONFIG_MAP, encodeNoticeConfig } from '../../kernel/dataplane/notice-config.ts';
import { ACTION_NUMBER } from '../../kernel/dataplane/notifications.ts';
import { address } from '../../model/address.ts';
import { buildLongHaulIcmpv6 } from '../../packet/icmpv6/long-haul-cnp.ts';
import { walkHeaders } from '../../packet/ip/walk.ts';
import { buildFastCnp } from '../../packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../../packet/roce/long-haul-cnp.ts';
import { parseRocePacket } from '../../packet/roce/packet.ts';
import { wrapForEndCon } from '../../packet/srv6/end-con.ts';
import { type Bench, type Figure, bpfObject } from '../support/bench.ts';
import { dataIpv6, ethernet, insideSrv6 } from '../support/packets/packets.ts';
import type { Row } from '../support/report.ts';
import { inTurns, quantile, summary } from '../support/statistics.ts';

const ROUNDS = 7;
const RUNS = 2000;
/** Times RUNS in user space before anything is timed, so that all of it has been compiled. */
const WARMING = 2;
const REDIRECT = 7;
const QPN = 0x123456;
const SOURCE_QPN = 0x64;
const LOOPBACK = address('2001:db8:ffff::2');
const CODES = { option: 0x9e, ioamOption: 0x9e, icrc: 'cover' as const };
const OBJECTS = { icmpv6Type: 200, objectClass: 247, timestamp: false, deviceId: null, pathId: null, padToCnp: false };
const INSTRUCTION = {
  level: 180,
  action: 'rate-reduce' as const,
  parameter: 30,
  sourceQpn: SOURCE_QPN,
  metric: { type: 1, value: 130_000 },
  objects: [],
};
/** Where skb->cb is in struct __sk_buff; what is there with the clone is in bpf/lib/builder/order.h. */
const CB = 48;

/** Who sent the packet, to whom, and what its BTH says. @throws Error */
function flowOf(packet: Uint8Array) {
  const { layers } = walkHeaders(packet);
  const inner = layers.at(-1)!;
  const parsed = parseRocePacket(packet.subarray(inner.offset));
  if (!parsed.ok) throw new Error(parsed.error.detail);
  return { outer: layers.length > 1 ? layers[0]!.source : undefined, roce: parsed.value };
}
type Flow = ReturnType<typeof flowOf>['roce'];

const toSender = (flow: Flow) => ({ source: LOOPBACK, destination: flow.source });
const fastCnp = (flow: Flow): Uint8Array =>
  buildFastCnp({
    ...toSender(flow),
    sourcePort: flow.sourcePort,
    destQpn: flow.bth.destQpn,
    originalDestination: flow.destination,
    trace: undefined,
    codes: CODES,
  });
const icmpv6 = (flow: Flow): Uint8Array =>
  buildLongHaulIcmpv6({
    ...toSender(flow),
    cnp: INSTRUCTION,
    codes: { type: OBJECTS.icmpv6Type, objectClass: OBJECTS.objectClass },
  });
const roce = (flow: Flow): Uint8Array =>
  buildLongHaulRoce({
    ...toSender(flow),
    sourcePort: flow.sourcePort,
    cnp: INSTRUCTION,
    objectClass: OBJECTS.objectClass,
  });

const PLAIN = dataIpv6(QPN);
const TUNNELED = insideSrv6(PLAIN, []);
const CASES: readonly {
  readonly what: string;
  readonly format: number;
  readonly packet: Uint8Array;
  readonly inUserSpace: (flow: Flow) => Uint8Array;
}[] = [
  { what: 'Fast CNP', format: 2, packet: PLAIN, inUserSpace: fastCnp },
  { what: 'Fast CNP through END.CON', format: 2, packet: TUNNELED, inUserSpace: fastCnp },
  { what: 'Long-haul CNP, ICMPv6', format: 3, packet: PLAIN, inUserSpace: icmpv6 },
  { what: 'Long-haul CNP, ICMPv6, through END.CON', format: 3, packet: TUNNELED, inUserSpace: icmpv6 },
  { what: 'Long-haul CNP, RoCEv2', format: 4, packet: PLAIN, inUserSpace: roce },
  { what: 'Long-haul CNP, RoCEv2, through END.CON', format: 4, packet: TUNNELED, inUserSpace: roce },
];

function builder(bench: Bench): BpfProgram {
  const object = openBpfObject(bpfObject('egress'), { programs: [EGRESS_PROGRAMS.notice] });
  bench.finally(() => object.close());
  object
    .map(EGRESS_MAPS.config)
    .update(
      u32Key(0),
      encodeEgressConfig({ source4: null, source6: LOOPBACK, udpPort: 1021, flowAgeingNs: 1, flowSeed: 1n }),
    );
  object
    .map(NOTICE_CONFIG_MAP)
    .update(NOTICE_CONFIG_KEY, encodeNoticeConfig({ fastCnp: CODES, longHaul: OBJECTS }, 0n));
  return object.program(EGRESS_PROGRAMS.notice);
}

const orderOf = (format: number): Uint8Array =>
  structure(192, (view) => {
    const order =
      (format | (ACTION_NUMBER[INSTRUCTION.action] << 6) | (INSTRUCTION.level << 8) | (INSTRUCTION.parameter << 16)) >>>
      0;
    view.setUint32(8, MARK_TRIGGER, LITTLE_ENDIAN);
    [CB_TAG, 1, order, (INSTRUCTION.metric.type << 24) | INSTRUCTION.metric.value, SOURCE_QPN].forEach((word, i) =>
      view.setUint32(CB + 4 * i, word, LITTLE_ENDIAN),
    );
  });

/** Nanoseconds of single runs. */
function inKernel(program: BpfProgram, packet: Uint8Array, format: number): number[] {
  const run = { data: ethernet(packet), ctx: orderOf(format) };
  return Array.from({ length: RUNS }, () => {
    const { retval, durationNs } = program.testRun(run);
    if (retval !== REDIRECT) throw new Error(`the builder made no notice: ${retval}`);
    return durationNs;
  });
}

/** The same in user space. */
function inUserSpace(packet: Uint8Array, build: (flow: Flow) => Uint8Array): number[] {
  return Array.from({ length: RUNS }, () => {
    const from = process.hrtime.bigint();
    const { outer, roce: flow } = flowOf(packet);
    const notification = build(flow);
    const bytes = outer ? wrapForEndCon({ source: LOOPBACK, endCon: outer, notification }) : notification;
    const ns = Number(process.hrtime.bigint() - from);
    if (bytes.length === 0) throw new Error('nothing was built');
    return ns;
  });
}

/** Microseconds: the median and the 99th percentile of each round. */
interface Rounds {
  readonly p50: number[];
  readonly p99: number[];
}
const rounds = (): Rounds => ({ p50: [], p99: [] });

function record(into: Rounds, samples: readonly number[]): number {
  const [p50, p99] = [quantile(samples, 0.5) / 1000, quantile(samples, 0.99) / 1000];
  into.p50.push(p50);
  into.p99.push(p99);
  return p50;
}

function row(what: string, q: keyof Rounds, measured: { readonly kernel: Rounds; readonly user: Rounds }): Row {
  const [kernel, user] = [summary(measured.kernel[q]), summary(measured.user[q])];
  const ratio = user.median / kernel.median;
  const isTarget = q === 'p50';
  return {
    figure: noticeBuild.name,
    what: `${what}: built, ${q}`,
    unit: 'µs',
    measured: kernel.median,
    spread: kernel,
    reference: `codec in user space, ${q}`,
    referenceValue: user.median,
    referenceSpread: user,
    ratio,
    target: isTarget ? '≤ 2 µs, ≥ 10×' : '—',
    met: isTarget ? kernel.median <= 2 && ratio >= 10 : null,
  };
}

export const noticeBuild: Figure = {
  name: 'notice-build',
  title: 'a clone of the congesting packet to the finished notification',
  async measure(bench) {
    const program = builder(bench);
    for (const { packet, inUserSpace: build } of CASES)
      for (let warm = 0; warm < WARMING; warm++) inUserSpace(packet, build);
    const rows: Row[] = [];
    for (const { what, format, packet, inUserSpace: build } of CASES) {
      bench.signal.throwIfAborted();
      const measured = { kernel: rounds(), user: rounds() };
      await inTurns(ROUNDS, {
        kernel: () => record(measured.kernel, inKernel(program, packet, format)),
        user: () => record(measured.user, inUserSpace(packet, build)),
      });
      rows.push(row(what, 'p50', measured), row(what, 'p99', measured));
    }
    return rows;
  },
};
