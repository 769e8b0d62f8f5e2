import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { ConnectionSources } from './connection-sources.ts';

const from = (remoteAddress?: string) => Object.assign(new EventEmitter(), { remoteAddress }) as never;

test('a source has so many connections; a /64 of IPv6 is one, and a unix socket none', () => {
  const sources = new ConnectionSources(2);
  const enter = (address?: string): boolean => sources.enter(from(address));
  expect(['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'].map(enter)).toEqual([true, true, false, true]);
  expect(['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1'].map(enter)).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect(['::ffff:192.0.2.7', '::ffff:192.0.2.8', '::ffff:192.0.2.9'].map(enter)).toEqual([true, true, true]);
  expect([undefined, undefined, undefined].map(enter)).toEqual([true, true, true]);
});

test('one that is closed makes room', () => {
  const sources = new ConnectionSources(1);
  const first = from('192.0.2.1') as EventEmitter;
  expect(sources.enter(first as never)).toBe(true);
  expect(sources.enter(from('192.0.2.1'))).toBe(false);
  first.emit('close');
  expect(sources.enter(from('192.0.2.1'))).toBe(true);
});
