// The fuzz target of the PDU decoder: every TLV decoder is reached through it, at once, lazily, and with the LSP
// checksum repaired.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { put16, u16 } from '../bytes.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { arbitraryTlv, lspWith } from './arbitrary.fixture.ts';
import { lspChecksum } from './checksum.ts';
import { FIRST_LSP_ID, LAST_LSP_ID, parseSystemId } from './lsp-id.ts';
import { decodePdu, encodePdu } from './pdu.ts';
import { TLV_CODECS, decodeTlv } from './tlvs.ts';
import { PROXY_LSP } from './vectors.fixture.ts';

const systemId = parseSystemId('0000.0000.c001')!;
const tlvs = fc.sample(arbitraryTlv, { seed: 1, numRuns: 40 });
const VALID = [
  PROXY_LSP,
  lspWith(tlvs),
  encodePdu({
    kind: 'p2p-hello',
    circuitType: 3,
    systemId,
    holdingTime: 30,
    localCircuitId: 0,
    tlvs: tlvs.slice(0, 10),
  }),
  encodePdu({ kind: 'csnp', level: 1, systemId, start: FIRST_LSP_ID, end: LAST_LSP_ID, tlvs: tlvs.slice(10, 20) }),
  encodePdu({ kind: 'psnp', level: 2, systemId, tlvs: tlvs.slice(20, 30) }),
];

/** Everything that decoding can be asked for. */
function decodeAll(bytes: Uint8Array): unknown {
  const decoded = decodePdu(bytes);
  if (!decoded.ok) return decoded;
  return 'tlvs' in decoded.value ? [decoded.value.tlvs, decoded.value.badTlvs] : decoded.value;
}

/** PDU length and checksum set right, so that the mutation reaches the TLVs. */
function repaired(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 27 || bytes[1] !== 27) return bytes;
  const out = new Uint8Array(bytes);
  put16(out, 8, out.length);
  put16(out, 24, lspChecksum(out));
  return out;
}

test('the seeds of the fuzzing decode', () => {
  for (const bytes of VALID) expect(decodePdu(bytes).ok).toBe(true);
});

test('no PDU harms the decoder', () => fuzzDecoder(decodeAll, VALID));

test('no LSP with a right checksum harms the decoder', () =>
  fuzzDecoder(decodeAll, VALID.slice(0, 2), { repair: repaired, runs: 4000 }));

test('no value of a known TLV harms its decoder', () => {
  const seeds = [new Uint8Array(255), new Uint8Array(16)];
  for (const { type } of TLV_CODECS)
    fuzzDecoder((value) => decodeTlv(type, value), seeds, { runs: 300, maxLength: 255 });
});

test('a bad TLV names a place inside the PDU', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...TLV_CODECS), fc.uint8Array({ maxLength: 40 })), { maxLength: 6 }),
      (list) => {
        const bytes = lspWith(list.map(([{ type }, value]) => ({ kind: 'unknown', type, value })));
        const decoded = decodePdu(bytes);
        if (!decoded.ok) throw new Error(decoded.error.code);
        for (const { error } of decoded.value.badTlvs) {
          expect(error.offset).toBeGreaterThanOrEqual(27);
          expect(error.offset).toBeLessThanOrEqual(u16(bytes, 8));
        }
      },
    ),
  );
});
