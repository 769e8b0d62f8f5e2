// Packets for the dataplane's tests: frames around RoCEv2 packets, and the context a program is run with.
import { type IpAddress, address } from '../../../src/model/address.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { buildRocePacket } from '../../../src/packet/roce/packet.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';

export const H1 = address('2001:db8:1::10');
export const H2 = address('2001:db8:2::20');
export const H1V4 = address('10.1.0.10');
export const H2V4 = address('10.2.0.20');
export const QPN = 0x123456;

/** Returned by a program that lets the next one decide: -1, unsigned. */
export const NEXT = 0xffff_ffff;
export const DROP = 2;

const MACS = Uint8Array.of(2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2);

/** An Ethernet frame around an IP packet, `tags` between: TPID and VLAN each. */
export function frame(
  packet: Uint8Array,
  opts: { macs?: Uint8Array; tags?: readonly (readonly [number, number])[] } = {},
): Uint8Array {
  const type = packet[0]! >> 4 === 4 ? [0x08, 0x00] : [0x86, 0xdd];
  const tags = (opts.tags ?? []).flatMap(([tpid, vlan]) => [tpid >> 8, tpid & 255, vlan >> 8, vlan & 255]);
  return concat(opts.macs ?? MACS, Uint8Array.of(...tags, ...type), packet);
}

export interface Data {
  source?: IpAddress;
  destination?: IpAddress;
  qpn?: number;
  psn?: number;
  opcode?: number;
  /** 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE. */
  ecn?: number;
  sourcePort?: number;
  size?: number;
}

/** Filled once: some tests build a hundred thousand packets. */
const PAYLOAD = new Uint8Array(1 << 16).map((_, i) => i & 255);

/** An RC "send only" of 1000 bytes, ECT(0) by default; an IP packet. */
export const data = ({
  source = H1,
  destination = H2,
  qpn = QPN,
  psn = 1,
  opcode = OPCODE.sendOnly,
  ecn = 2,
  sourcePort = 0xc001,
  size = 1000,
}: Data = {}): Uint8Array =>
  buildRocePacket({
    source,
    destination,
    sourcePort,
    trafficClass: ecn,
    hopLimit: 62,
    bth: { opcode, destQpn: qpn, psn },
    payload: PAYLOAD.subarray(0, size),
  });

/** The congestion field of the outermost header of a frame without VLAN tags. */
export const ecnOf = (f: Uint8Array): number => (f[14]! >> 4 === 4 ? f[15]! : f[15]! >> 4) & 3;

const CONTEXT = { mark: 8, ingress: 36, ifindex: 40, cb: 48, dataEnd: 80, size: 192 } as const;

/** struct __sk_buff for a test run. */
export function context(opts: {
  ifindex?: number;
  /** Where it arrived; 0: it is this router's own. */
  ingress?: number;
  mark?: number;
  cb?: readonly number[];
  linear?: number;
}): Uint8Array {
  const bytes = new Uint8Array(CONTEXT.size);
  const view = new DataView(bytes.buffer);
  view.setUint32(CONTEXT.mark, opts.mark ?? 0, true);
  view.setUint32(CONTEXT.ingress, opts.ingress ?? 0, true);
  view.setUint32(CONTEXT.ifindex, opts.ifindex ?? 0, true);
  (opts.cb ?? []).forEach((word, i) => view.setUint32(CONTEXT.cb + 4 * i, word, true));
  view.setUint32(CONTEXT.dataEnd, opts.linear ?? 0, true);
  return bytes;
}

export const markOf = (ctx: Uint8Array): number =>
  new DataView(ctx.buffer, ctx.byteOffset).getUint32(CONTEXT.mark, true);
export const cbOf = (ctx: Uint8Array): number[] =>
  Array.from({ length: 5 }, (_, i) => new DataView(ctx.buffer, ctx.byteOffset).getUint32(CONTEXT.cb + 4 * i, true));
