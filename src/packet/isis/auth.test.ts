import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { concat } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { AUTHENTICATION_LENGTH, signPdu, verifyPdu } from './auth.ts';
import { setRemainingLifetime } from './lsp.ts';
import { parseSystemId } from './lsp-id.ts';
import { decodePdu, encodePdu } from './pdu.ts';
import type { Psnp } from './types.ts';
import { PROXY_LSP } from './vectors.fixture.ts';

const KEY = new TextEncoder().encode('s3cret');
const PSNP: Psnp = {
  kind: 'psnp',
  level: 2,
  systemId: parseSystemId('0000.0000.c001')!,
  tlvs: [{ kind: 'hostname', name: 'a' }],
};
const psnp = encodePdu(PSNP);

test('signing puts TLV 10 first and its digest covers the whole PDU', () => {
  const signed = signPdu(psnp, KEY);
  expect(signed).toHaveLength(psnp.length + AUTHENTICATION_LENGTH);
  expect(toHex(signed.subarray(17, 20))).toBe('0a1136');
  const zeroed = concat(signed.subarray(0, 20), new Uint8Array(16), signed.subarray(36));
  expect(toHex(signed.subarray(20, 36))).toBe(createHmac('md5', 's3cret').update(zeroed).digest('hex'));
  expect(verifyPdu(signed, KEY)).toBe('ok');
  const decoded = decodePdu(signed);
  expect(decoded.ok && decoded.value).toMatchObject({
    kind: 'psnp',
    tlvs: [{ kind: 'authentication', authType: 54 }, PSNP.tlvs[0]],
  });
});

test('the digest of an LSP leaves out lifetime and checksum, and the checksum covers the digest', () => {
  const signed = signPdu(PROXY_LSP, KEY);
  expect(decodePdu(signed).ok).toBe(true);
  setRemainingLifetime(signed, 17);
  expect(verifyPdu(signed, KEY)).toBe('ok');
  expect(decodePdu(signed).ok).toBe(true);
  const zeroed = new Uint8Array(signed);
  for (const [from, to] of [
    [10, 12],
    [24, 26],
    [30, 46],
  ] as const)
    zeroed.fill(0, from, to);
  expect(toHex(signed.subarray(30, 46))).toBe(createHmac('md5', 's3cret').update(zeroed).digest('hex'));
});

test('a wrong key, and any byte changed, is wrong', () => {
  const signed = signPdu(psnp, KEY);
  expect(verifyPdu(signed, new TextEncoder().encode('other'))).toBe('wrong');
  for (let i = 20; i < signed.length; i++) {
    const changed = new Uint8Array(signed);
    changed[i] = changed[i]! ^ 1;
    expect(verifyPdu(changed, KEY), `byte ${i}`).not.toBe('ok');
  }
});

test('missing, unsupported and malformed authentication are distinguished', () => {
  const withAuth = (hex: string): Uint8Array =>
    encodePdu({ ...PSNP, tlvs: [{ kind: 'unknown', type: 10, value: fromHex(hex) }] });
  expect(verifyPdu(psnp, KEY)).toBe('missing');
  expect(verifyPdu(withAuth('01736563726574'), KEY)).toBe('unsupported');
  expect(verifyPdu(withAuth('030001' + '00'.repeat(20)), KEY)).toBe('unsupported');
  expect(verifyPdu(withAuth(''), KEY)).toBe('wrong');
  expect(verifyPdu(withAuth('36' + '00'.repeat(15)), KEY)).toBe('wrong');
  expect(verifyPdu(new Uint8Array(3), KEY)).toBe('wrong');
});

test('Ethernet padding after the PDU does not matter', () => {
  expect(verifyPdu(concat(signPdu(psnp, KEY), new Uint8Array(9)), KEY)).toBe('ok');
});

test('a PDU is signed once', () => {
  expect(() => signPdu(signPdu(psnp, KEY), KEY)).toThrow(/already has a TLV 10/);
  expect(() => signPdu(new Uint8Array(40), KEY)).toThrow(/only an encoded PDU/);
});

test('no PDU harms verification', () =>
  fuzzDecoder((b) => verifyPdu(b, KEY), [signPdu(psnp, KEY), signPdu(PROXY_LSP, KEY)]));
