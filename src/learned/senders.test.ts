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

  test('a moment is an earlier one plus the changes in between, in order', () => {
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

  test('without changes there is no new moment', () => {
    const first = new Senders(() => []);
    expect(first.after(changes([]))).toBe(first);
  });

  test('a moment does not follow from a later one, from another table’s, or from anything else', () => {
    const first = new Senders(() => []);
    const second = first.after(changes([a]));
    expect({
      olderToNewer: first.since(second),
      toAnother: second.since(new Senders(() => [])),
      toNone: second.since({}),
    }).toEqual({ olderToNewer: undefined, toAnother: undefined, toNone: undefined });
  });

  test('each request walks all entries anew', () => {
    let walks = 0;
    const senders = new Senders(() => (walks++, [a]));
    const later = senders.after(changes([b]));
    expect(walks).toBe(0);
    expect({ first: [...later.all()], again: [...later.all()], walks }).toEqual({ first: [a], again: [a], walks: 2 });
  });
});
