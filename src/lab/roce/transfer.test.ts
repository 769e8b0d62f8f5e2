import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Transfer } from './transfer.ts';

const opts = { bytes: 10_001, payloadSize: 1000, packetsPerMessage: 4 };

test('the packets are the transfer: as many bytes, and its hash', () => {
  const transfer = new Transfer(opts);
  const payloads = Array.from({ length: transfer.packets }, (_, i) => transfer.payload(i));
  expect(payloads.map((p) => p.length)).toEqual([...Array<number>(10).fill(1000), 1]);
  const hash = createHash('sha256');
  for (const payload of payloads) hash.update(payload);
  expect(transfer.hash()).toBe(hash.digest('hex'));
});

test('no two packets are equal, also 64 KiB apart: a wrong place changes the hash', () => {
  const transfer = new Transfer({ ...opts, bytes: 300_000, payloadSize: 1024 });
  const all = Array.from({ length: transfer.packets }, (_, i) => Buffer.from(transfer.payload(i)).toString('hex'));
  expect(new Set(all).size).toBe(transfer.packets);
});

test('the first packet of each WRITE names where it goes and how long it is', () => {
  const transfer = new Transfer({ ...opts, write: { virtualAddress: 0x1_0000_0000n, rkey: 9 } });
  expect([0, 1, 4, 8].map((i) => transfer.reth(i))).toEqual([
    { virtualAddress: 0x1_0000_0000n, rkey: 9, length: 4000 },
    undefined,
    { virtualAddress: 0x1_0000_0fa0n, rkey: 9, length: 4000 },
    { virtualAddress: 0x1_0000_1f40n, rkey: 9, length: 2001 },
  ]);
  expect(new Transfer(opts).reth(0)).toBeUndefined();
});
