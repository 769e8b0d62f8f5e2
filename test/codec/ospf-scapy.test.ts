// Both directions against scapy's OSPF: the checksums of packets and LSAs, and packets that it builds. It is the
// independent judge of Fletcher's checksum: tshark shows it without verifying.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address } from '../../src/model/address.ts';
import { fromHex, toHex } from '../../src/packet/hex.ts';
import { arbitraryLsa } from '../../src/packet/ospf/arbitrary.fixture.ts';
import { decodeBody } from '../../src/packet/ospf/lsa.ts';
import { lsaChecksum, setAge } from '../../src/packet/ospf/lsa-header.ts';
import type { Version } from '../../src/packet/ospf/numbers.ts';
import { decodePacket } from '../../src/packet/ospf/packet.ts';
import {
  EXTENDED_PREFIX_LSA,
  E_INTRA_AREA_PREFIX_LSA,
  SRV6_LOCATOR_LSA,
} from '../../src/packet/ospf/vectors.fixture.ts';
import { scapy } from '../support/scapy.ts';

const VERSIONS = [2, 3] as const;

test('scapy computes the same Fletcher checksum for LSAs of every kind and for the vectors', () => {
  const lsas = VERSIONS.flatMap((version) =>
    fc.sample(arbitraryLsa(version), { seed: 3, numRuns: 120 }).map(({ raw }) => raw),
  );
  const all = [...lsas, EXTENDED_PREFIX_LSA, E_INTRA_AREA_PREFIX_LSA, SRV6_LOCATOR_LSA];
  const theirs = scapy<string[]>(
    `from scapy.contrib.ospf import ospf_lsa_checksum
def recomputed(h):
    b = bytearray.fromhex(h)
    b[16:18] = b"\\0\\0"
    c = ospf_lsa_checksum(bytes(b))
    return c.hex() if isinstance(c, bytes) else "%04x" % c
result = [recomputed(h) for h in data]`,
    all.map(toHex),
  );
  expect(all.map((lsa) => lsaChecksum(lsa).toString(16).padStart(4, '0'))).toEqual(theirs);
  expect(all.map((lsa) => toHex(lsa.subarray(16, 18)))).toEqual(theirs);
});

/** An update with a Router-LSA and a Network-LSA, and a hello: scapy computes lengths and checksums. */
const BUILD = `from scapy.contrib.ospf import *
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
def payload(version, packet):
    whole = (IP(src="10.0.0.1", dst="224.0.0.5", proto=89) if version == 2 else IPv6(src="fe80::1", dst="ff02::5", nh=89)) / packet
    return bytes(whole)[20 if version == 2 else 40:].hex()
h2 = OSPF_Hdr(src="192.0.2.1", area="0.0.0.1")
h3 = OSPFv3_Hdr(src="192.0.2.1", area="0.0.0.1")
result = {
  "2": [
    payload(2, h2 / OSPF_Hello(mask="255.255.255.252", hellointerval=10, deadinterval=40, options=2, prio=1, neighbors=["192.0.2.2"])),
    payload(2, h2 / OSPF_LSUpd(lsalist=[
      OSPF_Router_LSA(id="192.0.2.1", adrouter="192.0.2.1", linklist=[OSPF_Link(id="10.0.0.0", data="255.255.255.252", type=3, metric=7)]),
      OSPF_Network_LSA(id="10.0.0.1", adrouter="192.0.2.1", mask="255.255.255.0", routerlist=["192.0.2.1", "192.0.2.2"])])),
  ],
  "3": [
    payload(3, h3 / OSPFv3_Hello(intid=9, prio=1, options=0x13, hellointerval=10, deadinterval=40, neighbors=["192.0.2.2"])),
    payload(3, h3 / OSPFv3_LSUpd(lsalist=[
      OSPFv3_Router_LSA(id="0.0.0.0", adrouter="192.0.2.1", options=0x13, linklist=[OSPFv3_Link(type=1, metric=7, intid=9, neighintid=4, neighbor="192.0.2.2")])])),
  ],
}`;

test('we read the packets that scapy builds', () => {
  const built = scapy<Record<string, string[]>>(BUILD, null);
  const addresses = {
    2: { source: address('10.0.0.1'), destination: address('224.0.0.5') },
    3: { source: address('fe80::1'), destination: address('ff02::5') },
  };
  const read = (version: Version) =>
    built[version]!.map((hex) => {
      const packet = decodePacket(version, fromHex(hex), addresses[version]);
      if (!packet.ok) throw new Error(`${packet.error.code}: ${packet.error.detail}`);
      expect(packet.value).toMatchObject({ routerId: 0xc0000201, areaId: 1, badLsas: [] });
      return packet.value;
    });
  const [hello2, update2] = read(2);
  const [hello3, update3] = read(3);
  expect(hello2).toMatchObject({
    kind: 'hello',
    networkMask: 0xfffffffc,
    options: 2,
    helloInterval: 10,
    deadInterval: 40,
    neighbors: [0xc0000202],
  });
  expect(hello3).toMatchObject({
    kind: 'hello',
    interfaceId: 9,
    options: 0x13,
    helloInterval: 10,
    deadInterval: 40,
    neighbors: [0xc0000202],
  });
  const bodies = (version: Version, packet: typeof update2) =>
    packet!.kind === 'link-state-update' &&
    packet!.lsas.map((lsa) => decodeBody(version, lsa)).map((body) => body.ok && body.value.body);
  expect(bodies(2, update2)).toMatchObject([
    { kind: 'router-v2', links: [{ type: 3, linkId: 0x0a000000, linkData: 0xfffffffc, metric: 7 }] },
    { kind: 'network-v2', mask: 0xffffff00, attachedRouters: [0xc0000201, 0xc0000202] },
  ]);
  expect(bodies(3, update3)).toMatchObject([
    {
      kind: 'router-v3',
      options: 0x13,
      links: [{ type: 1, metric: 7, interfaceId: 9, neighborInterfaceId: 4, neighborRouterId: 0xc0000202 }],
    },
  ]);
});

test('an LSA that only aged keeps its checksum', () => {
  const aged = new Uint8Array(EXTENDED_PREFIX_LSA);
  setAge(aged, 1799);
  expect(lsaChecksum(aged)).toBe(0x8b15);
});
