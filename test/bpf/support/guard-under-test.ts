// The border guard's program as the tests drive it, and notifications that were forged outside.
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import {
  GUARD_MAPS,
  GUARD_PROGRAMS,
  type GuardPort,
  encodeGuardPort,
  guardPortKey,
} from '../../../src/kernel/dataplane/guard.ts';
import { address } from '../../../src/model/address.ts';
import { DEFAULT_CODE_POINTS } from '../../../src/model/code-points.ts';
import { encodeArn } from '../../../src/packet/arn/arn.ts';
import { buildLongHaulIcmpv6 } from '../../../src/packet/icmpv6/long-haul-cnp.ts';
import { UNDISCLOSED } from '../../../src/packet/long-haul/body.ts';
import { buildNoticePacket } from '../../../src/packet/notice/pnc.ts';
import { ipv4, ipv6, udp } from '../../../src/packet/ip/packets.fixture.ts';
import { type FastCnpFields, buildFastCnp } from '../../../src/packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../../../src/packet/roce/long-haul-cnp.ts';
import { PNC_PORT, PROXY4, PROXY6, object } from './congested-router.ts';
import { clearCounters, countOf } from './counters.ts';
import { H1, H1V4, H2, H2V4, context, data } from './packets.ts';

/** The loopback device acts as the border port in test runs. */
export const BORDER = 1;
/** All kinds of notifications. */
export const ALL_KINDS: GuardPort = {
  udpPort: PNC_PORT,
  fastCnpOption: 0x9e,
  fastCnpIoamOption: 0x9d,
  longHaulIcmpv6Type: 200,
  arnUdpPort: DEFAULT_CODE_POINTS['arn-udp-port'],
};
export type Direction = keyof typeof GUARD_PROGRAMS;

export class GuardUnderTest {
  readonly object: BpfObject = openBpfObject(object('guard'));

  configure(port: GuardPort): void {
    this.object.map(GUARD_MAPS.ports).update(guardPortKey(BORDER), encodeGuardPort(port));
  }

  run(direction: Direction, frame: Uint8Array): { readonly retval: number; readonly data: Uint8Array } {
    return this.object.program(GUARD_PROGRAMS[direction]).testRun({ data: frame, ctx: context({ ifindex: BORDER }) });
  }

  verdict(direction: Direction, frame: Uint8Array): number {
    return this.run(direction, frame).retval;
  }

  count(name: string): number {
    return countOf(this.object, name);
  }

  clearCounters(): void {
    clearCounters(this.object);
  }

  close(): void {
    this.object.close();
  }
}

/** Outside, in the name of a congested node. */
export const NODE = address('2001:db8:bad::1');
export const NODE4 = address('203.0.113.1');

const NOTICE = { sourcePort: 0xc123, destinationPort: PNC_PORT } as const;
export const notice6 = buildNoticePacket({
  ...NOTICE,
  tuple: { source: H1, destination: H2, protocol: 17, sourcePort: 1, destinationPort: 4791 },
  level: 7,
  invoking: data(),
  source: NODE,
  destination: PROXY6,
});
export const notice4 = buildNoticePacket({
  ...NOTICE,
  tuple: { source: H1V4, destination: H2V4, protocol: 17, sourcePort: 1, destinationPort: 4791 },
  level: 0,
  invoking: data({ source: H1V4, destination: H2V4 }),
  source: NODE4,
  destination: PROXY4,
});

const CNP = {
  level: 180,
  action: 'rate-reduce',
  parameter: 30,
  sourceQpn: 0x77,
  metric: UNDISCLOSED,
  objects: [],
} as const;
/** @param trace with it in option 2 */
export const fastCnp = (trace?: FastCnpFields['trace']): Uint8Array =>
  buildFastCnp({
    source: NODE,
    destination: H1,
    destQpn: 0x77,
    sourcePort: 0xc001,
    originalDestination: H2,
    trace,
    codes: { option: 0x9e, ioamOption: 0x9d, icrc: 'cover' },
  });
export const longHaulIcmpv6 = buildLongHaulIcmpv6({
  source: NODE,
  destination: H1,
  cnp: CNP,
  codes: { type: 200, objectClass: 247 },
});
const ROCE = { sourcePort: 0xc001, cnp: CNP, objectClass: 247 };
export const longHaulRoce = buildLongHaulRoce({ ...ROCE, source: NODE, destination: H1 });
export const longHaulRoce4 = buildLongHaulRoce({ ...ROCE, source: NODE4, destination: H1V4 });

const ARN = encodeArn({ type: 'congestion', metric: 0, priority: 3, pauseUs: 10_000 });
export const arnDatagram = udp(0xc123, DEFAULT_CODE_POINTS['arn-udp-port'], ARN);
export const arn = ipv6([NODE, H1], 17, arnDatagram);
/** Nobody is to send it, or receive it. */
export const arn4 = ipv4([NODE4, H1V4], 17, arnDatagram);

export const protocolOf = (packet: Uint8Array): number => (packet[0]! >> 4 === 6 ? 41 : 4);
