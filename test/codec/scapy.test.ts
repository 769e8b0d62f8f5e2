// Both directions against scapy: it reads what we encode and computes the same checksums, and we read what it encodes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type IpAddress, address, formatAddress } from '../../src/model/address.ts';
import { formatPrefix } from '../../src/model/prefix.ts';
import { fromHex, toHex } from '../../src/packet/hex.ts';
import { hasFlag } from '../../src/packet/bit-string.ts';
import { ipBehindShims } from '../../src/packet/ip/shims.ts';
import { decodeFrame } from '../../src/packet/isis/frame.ts';
import { formatLspId, formatSystemId } from '../../src/packet/isis/lsp-id.ts';
import { decodePdu } from '../../src/packet/isis/pdu.ts';
import { buildCnp, isCnp } from '../../src/packet/roce/cnp.ts';
import { OPCODES } from '../../src/packet/roce/opcodes.ts';
import { buildRocePacket, parseRocePacket } from '../../src/packet/roce/packet.ts';
import { scapy } from '../support/scapy.ts';

const anAddress = (family: 4 | 6): fc.Arbitrary<IpAddress> =>
  fc.bigInt(0n, family === 4 ? 2n ** 32n - 1n : 2n ** 128n - 1n).map((value) => ({ family, value }));

/** Packets of every opcode scapy knows, with payloads of every padding. */
const packets = (family: 4 | 6, numRuns: number): Uint8Array[] =>
  fc.sample(
    fc
      .record({
        source: anAddress(family),
        destination: anAddress(family),
        sourcePort: fc.nat(65535),
        trafficClass: fc.nat(255),
        hopLimit: fc.nat(255),
        identification: fc.nat(65535),
        flowLabel: fc.nat(0xfffff),
        bth: fc.record({
          opcode: fc.constantFrom(...OPCODES.keys()),
          destQpn: fc.nat(0xffffff),
          psn: fc.nat(0xffffff),
          fecn: fc.boolean(),
          becn: fc.boolean(),
          reserved: fc.nat(63),
          solicited: fc.boolean(),
          migration: fc.boolean(),
          ackRequest: fc.boolean(),
        }),
        payload: fc.uint8Array({ maxLength: 64 }),
      })
      .map(buildRocePacket),
    { seed: 20, numRuns },
  );

test('FCNP-3-b: scapy computes our ICRC on IPv4', () => {
  const sent = packets(4, 200).map(toHex);
  const computed = scapy<string[]>(
    `from scapy.all import IP, UDP, Raw
from scapy.contrib.roce import BTH
result = []
for text in data:
    packet = IP(bytes.fromhex(text))
    bth = packet[BTH]
    head = IP(bytes(packet)[:20])
    fields = dict(opcode=bth.opcode, solicited=bth.solicited, migreq=bth.migreq, padcount=bth.padcount, version=bth.version,
                  pkey=bth.pkey, fecn=bth.fecn, becn=bth.becn, resv6=bth.resv6, dqpn=bth.dqpn, ackreq=bth.ackreq, psn=bth.psn)
    payload = bytes.fromhex(text)[40:-4]
    ip = IP(tos=head.tos, id=head.id, ttl=head.ttl, flags=head.flags, src=head.src, dst=head.dst)
    udp = UDP(sport=packet[UDP].sport, dport=4791, chksum=0)
    result.append(bytes(ip / udp / BTH(**fields) / Raw(payload)).hex())`,
    sent,
  );
  expect(computed).toEqual(sent);
});

test("FCNP-3-b: scapy's IPv6 headers with the masks applied and Python's CRC give our ICRC on IPv6", () => {
  const sent = packets(6, 200).map(toHex);
  const computed = scapy<string[]>(
    `import struct, zlib
from scapy.all import IPv6, UDP
result = []
for text in data:
    raw = bytes.fromhex(text)
    packet = IPv6(raw)
    packet.tc, packet.fl, packet.hlim, packet[UDP].chksum = 255, 0xfffff, 255, 0xffff
    transport = bytearray(raw[48:-4])
    transport[4] = 0xff
    masked = b'\\xff' * 8 + bytes(packet)[:48] + bytes(transport)
    result.append(struct.pack('<I', zlib.crc32(masked)).hex())`,
    sent,
  );
  expect(computed).toEqual(sent.map((text) => text.slice(-8)));
});

test('FCNP-3-c: a CNP of scapy is a CNP to us, and ours are equal to the byte', () => {
  const [theirs] = scapy<string[]>(
    `from scapy.all import IP, UDP
from scapy.contrib.roce import cnp
result = [bytes(IP(src='10.2.0.1', dst='10.1.0.1', id=0, tos=192, ttl=64) / UDP(sport=49152, dport=4791, chksum=0) / cnp(dqpn=100)).hex()]`,
    null,
  );
  const parsed = parseRocePacket(fromHex(theirs!));
  expect(parsed.ok && isCnp(parsed.value)).toBe(true);
  const ours = buildCnp({
    source: address('10.2.0.1'),
    destination: address('10.1.0.1'),
    destQpn: 100,
    sourcePort: 49152,
  });
  expect(toHex(ours)).toBe(theirs);
});

test('PNC-5.1-a: we read the IS-IS frames that scapy encodes', () => {
  const frames = scapy<string[]>(
    `from scapy.all import Dot3, LLC, load_contrib
from scapy.contrib.isis import *
def frame(pdu):
    return bytes(Dot3(dst='09:00:2b:00:00:05', src='02:00:00:00:00:01') / LLC() / ISIS_CommonHdr() / pdu).hex()
flags = ISIS_GenericSubTlv(type=4, len=1, val=b'\\x01')
source = ISIS_GenericSubTlv(type=11, len=4, val=b'\\xc0\\x00\\x02\\x01')
result = [
    frame(ISIS_P2P_Hello(circuittype='L2', sourceid='0000.0000.0001', holdingtime=30, tlvs=[
        ISIS_AreaTlv(areas=[ISIS_AreaEntry(areaid='49.0001')]),
        ISIS_ProtocolsSupportedTlv(nlpids=['IPv4', 'IPv6']),
        ISIS_P2PAdjacencyStateTlv(len=15, state='Up', extlocalcircuitid=7, neighboursystemid='0000.0000.c001', neighbourextlocalcircuitid=9),
        ISIS_Ipv6InterfaceAddressTlv(addresses=['fe80::1'])])),
    frame(ISIS_L2_LSP(lifetime=900, lspid='0000.0000.0001.00-02', seqnum=77, tlvs=[
        ISIS_DynamicHostnameTlv(hostname='p1'),
        ISIS_ExtendedIsReachabilityTlv(neighbours=[ISIS_ExtendedIsNeighbourEntry(neighbourid='0000.0000.0002.00', metric=10)]),
        ISIS_ExtendedIpReachabilityTlv(pfxs=[
            ISIS_ExtendedIpPrefix(metric=4261412865, pfx='10.1.0.0/24', subtlvindicator=1, subtlvs=[flags, source]),
            ISIS_ExtendedIpPrefix(metric=20, pfx='10.0.0.0/9', updown=1)]),
        ISIS_Ipv6ReachabilityTlv(pfxs=[ISIS_Ipv6Prefix(metric=5, pfx='2001:db8:1::/64', external=1)])])),
    frame(ISIS_L1_CSNP(sourceid='0000.0000.0001.00', tlvs=[ISIS_LspEntryTlv(entries=[
        ISIS_LspEntry(lifetime=3, lspid='0000.0000.0001.00-02', seqnum=77, checksum=0x1234)])])),
    frame(ISIS_L2_PSNP(sourceid='0000.0000.0001.00', tlvs=[]))]`,
    null,
  );
  const [hello, lsp, csnp, psnp] = frames.map((text) => {
    const frame = decodeFrame(fromHex(text));
    if (!frame.ok) throw new Error(frame.error.code);
    const pdu = decodePdu(frame.value.pdu);
    if (!pdu.ok) throw new Error(`${pdu.error.code} in ${text}`);
    expect(pdu.value.badTlvs).toEqual([]);
    return pdu.value;
  });
  expect(hello).toMatchObject({
    kind: 'p2p-hello',
    circuitType: 2,
    holdingTime: 30,
    tlvs: [
      { kind: 'area-addresses', areas: [fromHex('490001')] },
      { kind: 'protocols-supported', nlpids: [0xcc, 0x8e] },
      {
        kind: 'three-way-adjacency',
        state: 'up',
        circuitId: 7,
        neighborSystemId: fromHex('00000000c001'),
        neighborCircuitId: 9,
      },
      { kind: 'ipv6-interface-addresses', addresses: [address('fe80::1')] },
    ],
  });
  if (lsp?.kind !== 'lsp' || csnp?.kind !== 'csnp' || psnp?.kind !== 'psnp') throw new Error('another kind of PDU');
  expect({ ...lsp, lspId: formatLspId(lsp.lspId) }).toMatchObject({
    lspId: '0000.0000.0001.00-02',
    sequence: 77,
    remainingLifetime: 900,
  });
  const prefixes = lsp.tlvs.flatMap((tlv) => ('prefixes' in tlv ? tlv.prefixes : []));
  expect(prefixes.map((p) => [formatPrefix(p.prefix), p.metric, p.down, p.external])).toEqual([
    ['10.1.0.0/24', 0xfe000001, false, false],
    ['10.0.0.0/9', 20, true, false],
    ['2001:db8:1::/64', 5, false, true],
  ]);
  const [flags, source] = prefixes[0]!.subTlvs;
  expect(flags?.kind === 'prefix-attribute-flags' && hasFlag(flags.flags, 7)).toBe(true);
  expect(source?.kind === 'ipv4-source-router-id' && formatAddress(source.address)).toBe('192.0.2.1');
  expect(lsp.tlvs.slice(0, 2)).toMatchObject([
    { kind: 'hostname', name: 'p1' },
    { kind: 'extended-is-reachability', neighbors: [{ systemId: fromHex('000000000002'), pseudonode: 0, metric: 10 }] },
  ]);
  expect(csnp.tlvs).toMatchObject([
    { kind: 'lsp-entries', entries: [{ remainingLifetime: 3, sequence: 77, checksum: 0x1234 }] },
  ]);
  expect({ level: csnp.level, end: formatLspId(csnp.end) }).toEqual({ level: 1, end: 'ffff.ffff.ffff.ff-ff' });
  expect({ level: psnp.level, systemId: formatSystemId(psnp.systemId) }).toEqual({
    level: 2,
    systemId: '0000.0000.0001',
  });
});

test('E2: what scapy puts between two packets, we look through to the one inside', () => {
  const built = scapy<readonly (readonly [protocol: number, behindOuter: string, family: number, offset: number])[]>(
    `from scapy.all import IP, IPv6, UDP, GRE, Ether, Dot1Q, Raw
from scapy.layers.vxlan import VXLAN
from scapy.contrib.mpls import MPLS
result = []
for family in (4, 6):
    inner = (IP(src="192.0.2.1", dst="192.0.2.2") if family == 4 else IPv6(src="2001:db8::1", dst="2001:db8::2")) / UDP(sport=49152, dport=4791) / Raw(bytes(40))
    size = len(bytes(inner))
    stack = lambda n: MPLS(label=16, s=1, ttl=64) if n == 1 else MPLS(label=100 + n, cos=n % 8, s=0, ttl=64) / stack(n - 1)
    ethernet = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    for protocol, shims in (
        [(137, stack(n)) for n in (1, 2, 5, 16)] + [(17, UDP(sport=1, dport=6635) / stack(n)) for n in (1, 3)] +
        [(47, GRE(chksum_present=c, key_present=k, seqnum_present=s)) for c in (0, 1) for k in (0, 1) for s in (0, 1)] +
        [(47, GRE(key_present=1, key=7) / ethernet), (47, GRE(key_present=1) / ethernet / Dot1Q(vlan=5)), (47, GRE(proto=0x8847) / stack(2))] +
        [(17, UDP(sport=1, dport=4789) / VXLAN(vni=7) / ethernet), (17, UDP(sport=1, dport=4789) / VXLAN(vni=7) / ethernet / Dot1Q(vlan=1) / Dot1Q(vlan=2))]
    ):
        packet = bytes(shims / inner)
        result.append([protocol, packet.hex(), family, len(packet) - size])`,
    null,
  );
  expect(built).toHaveLength(38);
  for (const [protocol, text, family, offset] of built) {
    const bytes = fromHex(text);
    expect(ipBehindShims(bytes, protocol, 0, bytes.length), text).toEqual({ family, offset });
  }
});
