// The fuzz target of the OSPF decoders: packets, with the checksum repaired so that mutations reach the bodies, and
// every body's decoder through LSAs whose Fletcher checksum is right.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { put16 } from '../bytes.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { BODIES, arbitraryPacket, lsaOf } from './arbitrary.fixture.ts';
import { decodeBody, decodeLsa } from './lsa.ts';
import { LSA_HEADER_LENGTH, lsaChecksum } from './lsa-header.ts';
import type { Version } from './numbers.ts';
import { decodePacket, encodePacket } from './packet.ts';
import { HEADER_LENGTH, type PacketAddresses, setChecksum } from './packet-header.ts';

const VERSIONS = [2, 3] as const;
const ADDRESSES: PacketAddresses = { source: address('fe80::1'), destination: address('ff02::5') };

/** Everything that decoding can be asked for. */
function decodeAll(version: Version, bytes: Uint8Array): unknown {
  const packet = decodePacket(version, bytes, ADDRESSES);
  if (!packet.ok || packet.value.kind !== 'link-state-update') return packet;
  return [packet, packet.value.lsas.map((lsa) => decodeBody(version, lsa))];
}

/** Packet length and checksum set right. */
function repaired(version: Version, bytes: Uint8Array): Uint8Array {
  if (bytes.length < HEADER_LENGTH[version]) return bytes;
  const out = new Uint8Array(bytes);
  put16(out, 2, out.length);
  setChecksum(version, out, ADDRESSES);
  return out;
}

function decodeWholeLsa(version: Version, bytes: Uint8Array): unknown {
  const lsa = decodeLsa(version, bytes);
  return lsa.ok ? [lsa, decodeBody(version, lsa.value)] : lsa;
}

/** LSA length and checksum set right. */
function repairedLsa(bytes: Uint8Array): Uint8Array {
  if (bytes.length < LSA_HEADER_LENGTH) return bytes;
  const out = new Uint8Array(bytes);
  put16(out, 18, out.length);
  put16(out, 16, lsaChecksum(out));
  return out;
}

test.each(VERSIONS)('OSPFv%d: no packet harms the decoder', (version) => {
  const seeds = fc
    .sample(arbitraryPacket(version), { seed: 1, numRuns: 20 })
    .map((packet) => encodePacket(version, packet, ADDRESSES));
  for (const bytes of seeds) expect(decodePacket(version, bytes, ADDRESSES).ok).toBe(true);
  fuzzDecoder((bytes) => decodeAll(version, bytes), seeds, { runs: 1000 });
  fuzzDecoder((bytes) => decodeAll(version, bytes), seeds, { runs: 2000, repair: (bytes) => repaired(version, bytes) });
});

test.each(VERSIONS)('OSPFv%d: no LSA with a right checksum harms the decoder of its body', (version) => {
  for (const arbitrary of BODIES[version]) {
    const seeds = fc
      .sample(arbitrary, { seed: 2, numRuns: 6 })
      .map(({ type, lsId, body }) => lsaOf(version, { type, lsId, advertisingRouter: 1 }, body).raw);
    fuzzDecoder((bytes) => decodeWholeLsa(version, bytes), seeds, { runs: 400, maxLength: 120, repair: repairedLsa });
  }
});

test.each(VERSIONS)('OSPFv%d: errors name a place inside the LSA', (version) => {
  const places = (lsa: Uint8Array): readonly number[] => {
    const decoded = decodeLsa(version, lsa);
    if (!decoded.ok) throw new Error(decoded.error.code);
    const body = decodeBody(version, decoded.value);
    return body.ok ? body.value.badTlvs.map(({ error }) => error.offset) : [body.error.offset];
  };
  fc.assert(
    fc.property(
      fc.oneof(...BODIES[version]),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
      ({ type, lsId, body }, changes) => {
        const bytes = new Uint8Array(lsaOf(version, { type, lsId, advertisingRouter: 1 }, body).raw);
        const room = bytes.length - LSA_HEADER_LENGTH;
        for (const [at, byte] of room > 0 ? changes : []) bytes[LSA_HEADER_LENGTH + (at % room)] = byte;
        for (const offset of places(repairedLsa(bytes))) {
          expect(offset).toBeGreaterThanOrEqual(LSA_HEADER_LENGTH);
          expect(offset).toBeLessThanOrEqual(bytes.length);
        }
      },
    ),
    { numRuns: 1000 },
  );
});
