import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import type { ForwardingEntry } from './forwarding.ts';
import { Senders } from './senders.ts';

const entry = (text: string, proxy = '2001:db8::9'): ForwardingEntry => ({
  id: text,
  prefix: prefix(text),
  proxy: address(proxy),
});
const changes = (upserts: readonly ForwardingEntry[], deletes: readonly string[] = []) => ({
  upserts,
  deletes: deletes.map(prefix),
  more: false,
});

describe('moments of the table of senders', () => {
  const [a, b] = [entry('10.0.0.0/8'), entry('10.1.0.0/16')];

  test('one follows from an earlier one by the changes in between, each by itself and in order', () => {
    const first = new Senders(() => []);
    const second = first.after(changes([a]));
    const third = second.after(changes([], ['10.0.0.0/8']));
    const fourth = third.after(changes([b, a]));
    expect(fourth.since(first)).toEqual([
      { upserts: [a], deletes: [] },
      { upserts: [], deletes: ['10.0.0.0/8'] },
      { upserts: [b, a], deletes: [] },
    ]);
    expect(fourth.since(third)).toEqual([{ upserts: [b, a], deletes: [] }]);
    expect(fourth.since(fourth)).toEqual([]);
  });

  test('nothing that changed is no new moment', () => {
    const first = new Senders(() => []);
    expect(first.after(changes([]))).toBe(first);
  });

  test('one does not follow from a later one, nor from one of another table, nor from anything else', () => {
    const first = new Senders(() => []);
    const second = first.after(changes([a]));
    expect([first.since(second), second.since(new Senders(() => [])), second.since({})]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('all are walked when somebody asks, as often as somebody asks', () => {
    let walks = 0;
    const senders = new Senders(() => (walks++, [a]));
    const later = senders.after(changes([b]));
    expect(walks).toBe(0);
    expect([[...later.all()], [...later.all()], walks]).toEqual([[a], [a], 2]);
  });
});
