// Packets of a group, and a model of its copies that shares no code with the programs: the fields are written by
// offset, and every checksum is computed anew.
import type { MulticastBranch } from '../../../src/kernel/dataplane/multicast-lists.ts';
import type { MulticastGroup } from '../../../src/kernel/dataplane/multicast.ts';
import { type IpAddress, address, addressBytes } from '../../../src/model/address.ts';
import { concat, put16, put24, put32, u16, u32 } from '../../../src/packet/bytes.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { icrc, writeIcrc } from '../../../src/packet/roce/icrc.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { buildRocePacket } from '../../../src/packet/roce/packet.ts';

export const PROXY = address('2001:db8:f::1');
export const SOURCE = address('2001:db8:5::10');
/** This router's SIDs. */
export const EDGE = address('2001:db8:e1::1');
export const REPLICATION = address('2001:db8:e1::2');
/** The replication SIDs of the parent and of the root. */
export const PARENT = address('2001:db8:c80::2');
export const ROOT = address('2001:db8:c81::2');
export const OTHER_EDGE = address('2001:db8:c82::1');
export const DESIGNATED = 0x123456;
export const MEMBERS = Uint8Array.of(0xa1, 2, 3, 4, 5, 6, 7, 0xa8);
export const TREE = Uint8Array.of(0xb1, 2, 3, 4, 5, 6, 7, 0xb8);

export const GROUP: MulticastGroup = {
  proxy: PROXY,
  source: null,
  edge: EDGE,
  replication: REPLICATION,
  designatedQpn: DESIGNATED,
  sourceQpn: null,
  cnpWindowNs: 50_000,
  copiesPerSecond: 0,
  copiesBurst: 0,
  isRoot: false,
  keepSource: false,
};

export interface Inner {
  readonly source?: IpAddress;
  readonly destination?: IpAddress;
  readonly opcode?: number;
  readonly qpn?: number;
  readonly psn?: number;
  readonly trafficClass?: number;
  readonly hopLimit?: number;
  readonly size?: number;
  readonly checksum?: boolean;
  readonly va?: bigint;
}

/** What the source sends: a RoCEv2 packet to the Proxy Address. */
export function inner(of: Inner = {}): Uint8Array {
  const { size = 100, checksum = false } = of;
  const packet = buildRocePacket({
    source: of.source ?? SOURCE,
    destination: of.destination ?? PROXY,
    sourcePort: 0xc001,
    trafficClass: of.trafficClass ?? 2,
    flowLabel: 0x12345,
    hopLimit: of.hopLimit ?? 62,
    bth: { opcode: of.opcode ?? OPCODE.sendOnly, destQpn: of.qpn ?? DESIGNATED, psn: of.psn ?? 1, ackRequest: true },
    ext: { reth: { virtualAddress: of.va ?? 0xffff_fff0_ffff_fff0n, rkey: 0x01020304, length: size }, immediate: 7 },
    payload: new Uint8Array(size).map((_, i) => (i * 7 + size) & 255),
  });
  if (checksum) putUdpChecksum(packet);
  return packet;
}

const AT = {
  source: 8,
  destination: 24,
  hopLimit: 7,
  udp: 40,
  checksum: 46,
  qpn: 53,
  psn: 57,
  va: 60,
  rKey: 68,
} as const;

/** RFC 8200 §8.1, RFC 768: over the pseudo-header and the whole datagram. */
function putUdpChecksum(packet: Uint8Array): void {
  put16(packet, AT.checksum, 0);
  let sum = packet.length - AT.udp + 17;
  for (let at = AT.source; at < packet.length; at += 2) sum += u16(packet, at);
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x10000);
  put16(packet, AT.checksum, sum === 0xffff ? 0xffff : ~sum & 0xffff);
}

/** The same packet with the ICRC and, if it has one, the UDP checksum that are right for it. */
function finished(packet: Uint8Array): Uint8Array {
  writeIcrc(packet, packet.length - 4, icrc(packet, AT.udp, packet.length - 4));
  if (u16(packet, AT.checksum) !== 0) putUdpChecksum(packet);
  return packet;
}

/** A receiver's copy (RMC §6.2), with `ecn` as it leaves the tree. */
export function copyFor(
  packet: Uint8Array,
  receiver: MulticastBranch,
  { ecn = packet[1]! >> 4, keepSource = false }: { ecn?: number; keepSource?: boolean } = {},
): Uint8Array {
  const copy = packet.slice();
  if (!keepSource) copy.set(addressBytes(PROXY), AT.source);
  copy.set(addressBytes(receiver.address!), AT.destination);
  copy[1] = (copy[1]! & 0xcf) | ((ecn & 3) << 4);
  copy[AT.hopLimit]!--;
  put24(copy, AT.qpn, receiver.qpn);
  put24(copy, AT.psn, ((copy[AT.psn]! << 16) + u16(copy, AT.psn + 1) + receiver.psnDelta) & 0xffffff);
  const opcode = copy[48]!;
  if (receiver.write && (opcode === OPCODE.writeFirst || opcode === OPCODE.writeOnly || opcode === 0x0b)) {
    const va = (BigInt(u32(copy, AT.va)) << 32n) + BigInt(u32(copy, AT.va + 4)) + receiver.write.vaDelta;
    put32(copy, AT.va, Number((va >> 32n) & 0xffff_ffffn));
    put32(copy, AT.va + 4, Number(va & 0xffff_ffffn));
    put32(copy, AT.rKey, receiver.write.rKey);
  }
  return finished(copy);
}

export const pad = (length: number): Uint8Array =>
  length === 1 ? Uint8Array.of(0) : concat(Uint8Array.of(4, length - 2), new Uint8Array(length - 2));

export interface TreeTlv {
  readonly epoch?: number;
  readonly members?: Uint8Array;
  readonly tree?: Uint8Array;
  readonly type?: number;
}

export const treeTlv = ({ epoch = 1, members = MEMBERS, tree = TREE, type = 125 }: TreeTlv = {}): Uint8Array =>
  concat(Uint8Array.of(type, 22, 0, 0, epoch >>> 24, epoch >>> 16, epoch >>> 8, epoch), members, tree);

/** RMC §7.2. `reserved` fills all reserved fields. */
export function endMtTlv(
  edge: IpAddress,
  receivers: readonly { readonly address: IpAddress | null; readonly qpn: number }[],
  { count = receivers.length, length = 22 + 20 * receivers.length, reserved = 0 } = {},
): Uint8Array {
  const entries = receivers.map(({ address: to, qpn }) => {
    const entry = new Uint8Array(20);
    entry.set(addressBytes(to!));
    put24(entry, 16, qpn);
    entry[19] = reserved;
    return entry;
  });
  const rest = Uint8Array.of(count, reserved, reserved, reserved);
  return concat(Uint8Array.of(124, length, reserved, reserved), addressBytes(edge), rest, ...entries);
}

export interface Tunnel {
  readonly source?: IpAddress;
  readonly destination?: IpAddress;
  readonly trafficClass?: number;
  readonly hopLimit?: number;
  readonly segmentsLeft?: number;
  readonly segments?: readonly IpAddress[];
  readonly tlvs?: readonly Uint8Array[];
  readonly nextHeader?: number;
  readonly routingType?: number;
  readonly lastEntry?: number;
}

/** The packet in a tree, on its way to this router's End.MT SID. `tlvs` begin with the tree TLV. */
export function tunnel(inside: Uint8Array, of: Tunnel = {}): Uint8Array {
  const { segments = [PROXY, ROOT], tlvs = [treeTlv()] } = of;
  const used = 8 + segments.length * 16 + tlvs.reduce((sum, tlv) => sum + tlv.length, 0);
  const rest = -used & 7;
  const srh = concat(
    Uint8Array.of(of.nextHeader ?? 41, (used + rest) / 8 - 1, of.routingType ?? 4),
    Uint8Array.of(of.segmentsLeft ?? 1, of.lastEntry ?? segments.length - 1, 0, 0, 0),
    ...segments.map(addressBytes),
    ...tlvs,
    rest > 0 ? pad(rest) : new Uint8Array(),
  );
  const packet = ipv6([of.source ?? PARENT, of.destination ?? EDGE], 43, concat(srh, inside));
  packet[0] = 0x60 | ((of.trafficClass ?? 2) >> 4);
  packet[1] = ((of.trafficClass ?? 2) & 15) << 4;
  packet[AT.hopLimit] = of.hopLimit ?? 60;
  return packet;
}

/** The copy for a child router: another destination and source, one hop less. */
export function copyToChild(packet: Uint8Array, sid: IpAddress, hops = 1): Uint8Array {
  const copy = packet.slice();
  copy.set(addressBytes(REPLICATION), AT.source);
  copy.set(addressBytes(sid), AT.destination);
  copy[AT.hopLimit]! -= hops;
  return copy;
}

/** Replaces bytes of a packet. */
export const changed = (packet: Uint8Array, at: number, ...bytes: readonly number[]): Uint8Array => {
  const copy = packet.slice();
  copy.set(bytes, at);
  return copy;
};
