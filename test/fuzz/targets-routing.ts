// What neighbors of the routing protocols send: the decoders of IS-IS and OSPF, and the speakers as wholes. A speaker
// that was given hostile packets must go on: it comes to rest, and a neighbor that behaves gets its adjacency.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { address } from '../../src/model/address.ts';
import { adjacency, csnp, entry, hello, lsp } from '../../src/carriers/isis/hostile.fixture.ts';
import { originate, proxied } from '../../src/carriers/isis/simulation.fixture.ts';
import { AREA, Link, Router, testConfig } from '../../src/carriers/ospf/simulation.fixture.ts';
import { OSPFV2, OSPFV3, type OspfVersion } from '../../src/carriers/ospf/version.ts';
import { concat, put16, u16 } from '../../src/packet/bytes.ts';
import { arbitraryTlv, lspWith } from '../../src/packet/isis/arbitrary.fixture.ts';
import { lspChecksum } from '../../src/packet/isis/checksum.ts';
import { decodeFrame as decodeIsisFrame } from '../../src/packet/isis/frame.ts';
import { FIRST_LSP_ID, LAST_LSP_ID, parseSystemId } from '../../src/packet/isis/lsp-id.ts';
import { decodePdu, encodePdu } from '../../src/packet/isis/pdu.ts';
import { decodeSubTlvs } from '../../src/packet/isis/sub-tlvs.ts';
import { TLV_CODECS, decodeTlv, decodeTlvs } from '../../src/packet/isis/tlvs.ts';
import { PROXY_LSP } from '../../src/packet/isis/vectors.fixture.ts';
import { BODIES, arbitraryPacket, lsaOf } from '../../src/packet/ospf/arbitrary.fixture.ts';
import { decodeFrame as decodeOspfFrame } from '../../src/packet/ospf/frame.ts';
import { decodeBody, decodeLsa } from '../../src/packet/ospf/lsa.ts';
import { decodePrefixList } from '../../src/packet/ospf/lsa/link.ts';
import { LSA_HEADER_LENGTH, lsaChecksum } from '../../src/packet/ospf/lsa-header.ts';
import { decodePacket, encodePacket } from '../../src/packet/ospf/packet.ts';
import { HEADER_LENGTH, type PacketAddresses, setChecksum } from '../../src/packet/ospf/packet-header.ts';
import type { OspfPacket } from '../../src/packet/ospf/types.ts';
import { decodeSafely } from '../../src/packet/safely.fixture.ts';
import type { Target } from './target.ts';

const SYSTEM = parseSystemId('0000.0000.c001')!;
const TLVS = fc.sample(arbitraryTlv, { seed: 1, numRuns: 40 });
const PDUS: readonly Uint8Array[] = [
  PROXY_LSP,
  lspWith(TLVS),
  encodePdu({
    kind: 'p2p-hello',
    circuitType: 3,
    systemId: SYSTEM,
    holdingTime: 30,
    localCircuitId: 0,
    tlvs: TLVS.slice(0, 10),
  }),
  encodePdu({
    kind: 'csnp',
    level: 1,
    systemId: SYSTEM,
    start: FIRST_LSP_ID,
    end: LAST_LSP_ID,
    tlvs: TLVS.slice(10, 20),
  }),
  encodePdu({ kind: 'psnp', level: 2, systemId: SYSTEM, tlvs: TLVS.slice(20, 30) }),
];

/** Length and checksum of an LSP set right. */
function repairedPdu(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 27 || bytes[1] !== 27) return bytes;
  const out = new Uint8Array(bytes);
  put16(out, 8, out.length);
  put16(out, 24, lspChecksum(out));
  return out;
}

function decodeWholePdu(bytes: Uint8Array): unknown {
  const frame = decodeIsisFrame(bytes);
  const pdu = decodePdu(bytes);
  if (!pdu.ok) return [frame, pdu];
  const { value } = pdu;
  if (!('tlvs' in value)) return [frame, value];
  // What is sent on is what came: a PDU without anything unusable means the same when it is written anew.
  if (value.badTlvs.length === 0 && (value.kind === 'csnp' || value.kind === 'psnp')) {
    const again = decodePdu(encodePdu(value));
    if (!again.ok || !('tlvs' in again.value) || !isDeepStrictEqual(again.value.tlvs, value.tlvs))
      throw new Error('written anew it is another');
  }
  return [frame, value.tlvs, value.badTlvs];
}

/** The first byte chooses the TLV. */
const decodeOneTlv = (bytes: Uint8Array): unknown =>
  bytes.length === 0
    ? []
    : [
        decodeTlv(TLV_CODECS[bytes[0]! % TLV_CODECS.length]!.type, bytes.subarray(1)),
        decodeTlvs(bytes, 1),
        decodeSubTlvs(bytes, 1, bytes.length, () => undefined),
      ];

/** Packets one after another: two bytes of length, one that says how long to wait after it, then the packet. */
const packed = (packets: readonly Uint8Array[]): Uint8Array =>
  concat(...packets.map((packet) => concat(Uint8Array.of(packet.length >> 8, packet.length & 0xff, 1), packet)));

function* unpacked(input: Uint8Array): Generator<{ packet: Uint8Array; wait: number }> {
  for (let at = 0; at + 3 <= input.length;) {
    const end = Math.min(input.length, at + 3 + u16(input, at));
    yield { packet: input.slice(at + 3, end), wait: input[at + 2]! };
    at = end;
  }
}

const eachRepaired =
  (repair: (bytes: Uint8Array) => Uint8Array) =>
  (input: Uint8Array): Uint8Array =>
    concat(
      ...[...unpacked(input)].map(({ packet, wait }) =>
        concat(Uint8Array.of(packet.length >> 8, packet.length & 0xff, wait), repair(packet)),
      ),
    );

/** What a speaker may do in one run before it counts as one that never rests; far more than any takes. */
const MOST_STEPS = 20_000;

function isisSpeaker(input: Uint8Array): void {
  const { simulation, a, b, give } = adjacency();
  let steps = 0;
  simulation.join({
    wake: () => undefined,
    wakeAt: () => {
      if (++steps > MOST_STEPS) throw new Error('it never comes to rest');
      return Infinity;
    },
  });
  a.event(originate([proxied('2001:db8:1::/64')]));
  for (const { packet, wait } of unpacked(input)) {
    give(packet);
    simulation.run(wait * 20);
  }
  simulation.run(60_000);
  simulation.until(
    'both ends of a well-behaved adjacency are up again',
    () => a.state === 'up' && b.state === 'up',
    120_000,
  );
}

const [A, B] = [0x01010101, 0x02020202];

function ospfSpeaker(version: OspfVersion, addresses: PacketAddresses, input: Uint8Array): void {
  const a = new Router(testConfig(A, version));
  const link = new Link(a, new Router(testConfig(B, version)));
  let steps = 0;
  link.weather = () => {
    if (++steps > MOST_STEPS) throw new Error('it never comes to rest');
    return [1];
  };
  link.event(0, {
    type: 'originate',
    areaId: AREA,
    lsas: [
      { type: version.version === 2 ? 10 : 0xa07b, lsId: 1, body: { kind: 'unknown', content: new Uint8Array(8) } },
    ],
  });
  link.run(2000);
  for (const { packet, wait } of unpacked(input)) {
    link.event(0, { type: 'received', areaId: AREA, payload: packet, addresses });
    link.run(wait * 20);
  }
  link.restart(1);
  link.until('the adjacency is full again', () => a.state === 'full', 400_000);
}

function repairedLsa(bytes: Uint8Array): Uint8Array {
  if (bytes.length < LSA_HEADER_LENGTH) return bytes;
  const out = new Uint8Array(bytes);
  put16(out, 18, out.length);
  put16(out, 16, lsaChecksum(out));
  return out;
}

function ospfTargets(version: OspfVersion): Target[] {
  const v = version.version;
  const addresses: PacketAddresses = {
    source: address(v === 2 ? '10.0.0.2' : 'fe80::2'),
    destination: version.destination,
  };
  const packets = fc
    .sample(arbitraryPacket(v), { seed: 1, numRuns: 16 })
    .map((packet) => encodePacket(v, { ...packet, routerId: B, areaId: AREA, instanceId: 0 } as OspfPacket, addresses));
  const repair = (bytes: Uint8Array): Uint8Array => {
    if (bytes.length < HEADER_LENGTH[v]) return bytes;
    const out = new Uint8Array(bytes);
    put16(out, 2, out.length);
    setChecksum(v, out, addresses);
    return out;
  };
  const decodeWhole = (bytes: Uint8Array): unknown => {
    const packet = decodePacket(v, bytes, addresses);
    const rest = [decodeOspfFrame(v, bytes), decodePrefixList(bytes, 0, 3)];
    return packet.ok && packet.value.kind === 'link-state-update'
      ? [packet, rest, packet.value.lsas.map((lsa) => decodeBody(v, lsa))]
      : [packet, rest];
  };
  const decodeWholeLsa = (bytes: Uint8Array): unknown => {
    const lsa = decodeLsa(v, bytes);
    return lsa.ok ? [lsa, decodeBody(v, lsa.value)] : lsa;
  };
  const lsas = BODIES[v].flatMap((body) =>
    fc
      .sample(body, { seed: 2, numRuns: 2 })
      .map(
        (typed) =>
          new Uint8Array(lsaOf(v, { type: typed.type, lsId: typed.lsId, advertisingRouter: B }, typed.body).raw),
      ),
  );
  return [
    {
      name: `ospfv${v}-packet`,
      seeds: () => packets,
      run: (input) => void decodeSafely(decodeWhole, input),
      repair,
      mostBytes: 1600,
      runs: 800,
    },
    {
      name: `ospfv${v}-lsa`,
      seeds: () => lsas,
      run: (input) => void decodeSafely(decodeWholeLsa, input),
      repair: repairedLsa,
      mostBytes: 600,
      runs: 800,
    },
    {
      name: `ospfv${v}-speaker`,
      seeds: () => [packed(packets.slice(0, 4)), packed(packets.slice(4, 10))],
      run: (input) => ospfSpeaker(version, addresses, input),
      repair: eachRepaired(repair),
      mostBytes: 4000,
      runs: 80,
    },
  ];
}

export const ROUTING_TARGETS: readonly Target[] = [
  {
    name: 'isis-pdu',
    seeds: () => PDUS,
    run: (input) => void decodeSafely(decodeWholePdu, input),
    repair: repairedPdu,
    mostBytes: 1600,
    runs: 800,
  },
  {
    name: 'isis-tlv',
    seeds: () => TLV_CODECS.map((_, n) => Uint8Array.from({ length: 60 }, (__, i) => (i === 0 ? n : 0))),
    run: (input) => void decodeSafely(decodeOneTlv, input),
    mostBytes: 256,
    runs: 1200,
  },
  {
    name: 'isis-speaker',
    seeds: () => [
      packed([hello(), lsp({ tlvs: TLVS.slice(0, 20) }), csnp({}, [entry()])]),
      packed([PROXY_LSP, lsp({ sequence: 0xffffffff }), ...PDUS]),
    ],
    run: isisSpeaker,
    repair: eachRepaired(repairedPdu),
    mostBytes: 4000,
    runs: 80,
  },
  ...ospfTargets(OSPFV2),
  ...ospfTargets(OSPFV3),
];
