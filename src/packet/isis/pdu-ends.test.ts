// Where frames, PDUs and their authentication end: exactly as long as they may be, and a byte longer or shorter.
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { concat, put16 } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { AUTHENTICATION_LENGTH, signPdu, verifyPdu } from './auth.ts';
import { lspChecksum } from './checksum.ts';
import { ALL_ISS, decodeFrame, encodeFrame } from './frame.ts';
import { LAST_LSP_ID, parseSystemId } from './lsp-id.ts';
import { decodePdu, encodePdu } from './pdu.ts';
import type { IsisTlv } from './tlv/types.ts';
import type { Lsp, P2pHello, Psnp } from './types.ts';
import { PROXY_LSP } from './vectors.fixture.ts';

const SYSTEM = parseSystemId('0000.0000.c001')!;
const tlv = (type: number, hex: string): IsisTlv => ({ kind: 'unknown', type, value: fromHex(hex) });

describe('frames', () => {
  const MACS = '09002b000005' + '020000000001';
  const outcome = (hex: string): string => {
    const decoded = decodeFrame(fromHex(hex));
    return decoded.ok ? `PDU ${toHex(decoded.value.pdu)}` : decoded.error.code;
  };

  test.each([
    ['nothing behind LLC', `${MACS} 0003 fefe03`, 'PDU '],
    ['a byte less than LLC', `${MACS} 0003 fefe`, 'not-isis'],
    ['a length that ends within LLC', `${MACS} 0002 fefe03 00`, 'bad-length'],
    ['a length that is what arrived', `${MACS} 0004 fefe03 83`, 'PDU 83'],
    ['a length that is more', `${MACS} 0005 fefe03 83`, 'truncated'],
    ['a length that is less', `${MACS} 0004 fefe03 8300`, 'PDU 83'],
    ['another first byte of LLC', `${MACS} 0004 fdfe03 83`, 'not-isis'],
    ['another second byte of LLC', `${MACS} 0004 fefd03 83`, 'not-isis'],
    ['another third byte of LLC', `${MACS} 0004 fefe04 83`, 'not-isis'],
    ['the longest length', `${MACS} 05ff fefe03 83`, 'truncated'],
    ['the lowest EtherType', `${MACS} 0600 fefe03 83`, 'not-isis'],
    ['the EtherType of long PDUs', `${MACS} 8870 fefe03 8300`, 'PDU 8300'],
  ])('%s', (_what, hex, expected) => expect(outcome(hex)).toBe(expected));

  test('name who sent them to whom', () => {
    expect(decodeFrame(encodeFrame(SYSTEM, ALL_ISS, PROXY_LSP))).toMatchObject({
      value: { source: SYSTEM, destination: fromHex('09002b000005') },
    });
  });
});

describe('PDUs', () => {
  const padding = (total: number): IsisTlv[] =>
    Array.from({ length: Math.ceil(total / 257) }, (_, i) => ({
      kind: 'padding',
      length: Math.min(257, total - 257 * i) - 2,
    }));
  const psnp = (length: number): Psnp => ({ kind: 'psnp', level: 2, systemId: SYSTEM, tlvs: padding(length - 17) });
  const hello: P2pHello = {
    ...{ kind: 'p2p-hello', circuitType: 3, systemId: SYSTEM, holdingTime: 1, localCircuitId: 255 },
    tlvs: [],
  };
  const code = (bytes: Uint8Array): string => {
    const decoded = decodePdu(bytes);
    return decoded.ok ? 'ok' : `${decoded.error.code} at ${decoded.error.offset}`;
  };
  const patched = (bytes: Uint8Array, at: number, value: number): Uint8Array => {
    const out = new Uint8Array(bytes);
    out[at] = value;
    return out;
  };

  test('are no longer than PDU Length can say', () => {
    const longest = encodePdu(psnp(0xffff));
    expect({ longestLength: longest.length, code: code(longest) }).toEqual({ longestLength: 0xffff, code: 'ok' });
    expect(() => encodePdu(psnp(0x10000))).toThrow(/65536 bytes/);
  });

  test('with authentication neither', () => {
    const key = Uint8Array.of(1);
    const signed = signPdu(encodePdu(psnp(0xffff - AUTHENTICATION_LENGTH)), key);
    expect({ signedLength: signed.length, verifyPdu: verifyPdu(signed, key) }).toEqual({
      signedLength: 0xffff,
      verifyPdu: 'ok',
    });
    expect(() => signPdu(encodePdu(psnp(0x10000 - AUTHENTICATION_LENGTH)), key)).toThrow(/65536 bytes/);
  });

  test('may be nothing but a header', () => {
    const bytes = encodePdu(hello);
    expect({ length: bytes.length, whole: code(bytes), truncated: code(bytes.subarray(0, 19)) }).toEqual({
      length: 20,
      whole: 'ok',
      truncated: 'truncated at 19',
    });
    expect({ eightBytes: code(bytes.subarray(0, 8)), sevenBytes: code(bytes.subarray(0, 7)) }).toEqual({
      eightBytes: 'truncated at 8',
      sevenBytes: 'truncated at 7',
    });
    expect(code(patched(bytes, 18, 19))).toBe('bad-pdu-length at 17');
    expect(code(patched(bytes, 18, 21))).toBe('truncated at 17');
    expect(code(concat(bytes, new Uint8Array(30)))).toBe('ok');
  });

  test.each([
    [3, 6, 'ok'],
    [3, 5, 'bad-id-length at 3'],
    [7, 3, 'ok'],
    [7, 1, 'bad-max-areas at 7'],
    [2, 0, 'bad-version at 2'],
    [5, 2, 'bad-version at 5'],
    // The three highest bits of the type, and the six highest of the circuit type, are reserved.
    [4, 0xf1, 'ok'],
    [8, 0xfd, 'ok'],
    [8, 0xfc, 'bad-circuit-type at 8'],
    [16, 0, 'bad-holding-time at 15'],
    [15, 1, 'ok'],
  ])('byte %i may be %i or not: %s (ISO/IEC 10589 §9.7)', (at, value, expected) =>
    expect(code(patched(encodePdu(hello), at, value))).toBe(expected),
  );

  test('the flags of an LSP come back as they were, and its IS type has two bits', () => {
    const decoded = decodePdu(PROXY_LSP);
    if (!decoded.ok || decoded.value.kind !== 'lsp') throw new Error('not an LSP');
    const lsp: Lsp = decoded.value;
    for (const flag of ['partitionRepair', 'attached', 'overload'] as const) {
      const off = { partitionRepair: false, attached: false, overload: false };
      expect(decodePdu(encodePdu({ ...lsp, ...off, [flag]: true }))).toMatchObject({ value: { ...off, [flag]: true } });
    }
    expect(() => encodePdu({ ...lsp, isType: 4 })).toThrow(/2 bits/);
  });

  test('whose checksum is wrong: one that is alive is none, a purge is one', () => {
    const wrong = patched(PROXY_LSP, 25, PROXY_LSP[25]! ^ 1);
    const purge = new Uint8Array(wrong);
    put16(purge, 10, 0);
    expect({ wrong: code(wrong), purge: code(purge) }).toEqual({ wrong: 'bad-checksum at 24', purge: 'ok' });
    const half = new Uint8Array(PROXY_LSP);
    put16(half, 24, lspChecksum(half) & 0xff00);
    expect(code(half)).toBe('bad-checksum at 24');
  });
});

describe('the authentication of a PDU', () => {
  const key = Uint8Array.of(1, 2, 3);
  const psnp = (...tlvs: IsisTlv[]): Uint8Array => encodePdu({ kind: 'psnp', level: 2, systemId: SYSTEM, tlvs });
  const signed = signPdu(psnp(tlv(200, '01')), key);

  test('is looked for in all its TLVs, the first counts', () => {
    const digest = signed.subarray(17, 36);
    const [, , ...value] = digest;
    const auth: IsisTlv = { kind: 'unknown', type: 10, value: Uint8Array.from(value) };
    expect(verifyPdu(psnp(tlv(200, '01'), auth), key)).toBe('wrong');
    expect(verifyPdu(psnp(tlv(200, ''), tlv(10, '01')), key)).toBe('unsupported');
    expect(verifyPdu(psnp(tlv(10, '01'), auth), key)).toBe('unsupported');
    expect(verifyPdu(psnp(tlv(200, '0a')), key)).toBe('missing');
  });

  test('that goes beyond the PDU is none; nor is there a PDU that is shorter than it says, or than its header', () => {
    const cut = (length: number): Uint8Array => {
      const out = new Uint8Array(signed.subarray(0, length));
      put16(out, 8, length);
      return out;
    };
    expect([cut(36), cut(35), cut(18), cut(17)].map((each) => verifyPdu(each, key))).toEqual([
      'wrong',
      'missing',
      'missing',
      'missing',
    ]);
    expect([signed.subarray(0, -1), signed.subarray(0, 30)].map((each) => verifyPdu(each, key))).toEqual([
      'wrong',
      'wrong',
    ]);
    const short = new Uint8Array(signed);
    put16(short, 8, 16);
    expect({ short: verifyPdu(short, key), truncated: verifyPdu(signed.subarray(0, 16), key) }).toEqual({
      short: 'wrong',
      truncated: 'wrong',
    });
    expect({ sevenBytes: verifyPdu(signed.subarray(0, 7), key), zeros: verifyPdu(new Uint8Array(40), key) }).toEqual({
      sevenBytes: 'wrong',
      zeros: 'wrong',
    });
  });

  test('of an SNP covers every byte of its header (RFC 5304 §3)', () => {
    const id = { systemId: fromHex('a1a2a3a4a5a6'), pseudonode: 0xa7, fragment: 0xa8 };
    const out = signPdu(
      encodePdu({ kind: 'csnp', level: 2, systemId: id.systemId, start: id, end: LAST_LSP_ID, tlvs: [] }),
      key,
    );
    const zeroed = concat(out.subarray(0, 36), new Uint8Array(16));
    expect(toHex(out.subarray(36))).toBe(createHmac('md5', key).update(zeroed).digest('hex'));
  });

  test('is not given to what is shorter than its header', () => {
    expect(() => signPdu(psnp().subarray(0, 16), key)).toThrow(/only an encoded PDU/);
    expect(() => signPdu(new Uint8Array(7), key)).toThrow(/only an encoded PDU/);
  });

  test('of 17 bytes it must be, a byte more is wrong', () => {
    expect(verifyPdu(psnp(tlv(10, `36 ${'00'.repeat(16)}`)), key)).toBe('wrong');
    expect(verifyPdu(psnp(tlv(10, `36 ${'00'.repeat(17)}`)), key)).toBe('wrong');
    expect(verifyPdu(psnp(tlv(10, '36')), key)).toBe('wrong');
  });
});
