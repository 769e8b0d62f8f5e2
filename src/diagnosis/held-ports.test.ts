import { expect, test } from 'vitest';
import { load } from '../intent/files.fixture.ts';
import { address } from '../model/address.ts';
import type { Check } from '../model/problem.ts';
import { type PortOfRouter, checkHeldPorts } from './held-ports.ts';

const port = (name: string, more: Partial<PortOfRouter> = {}): PortOfRouter => ({
  name,
  addresses: [{ address: address('fe80::1'), length: 64 }],
  ...more,
});
const root = (kind: string, handle = 0x10000) => ({ rootQdisc: { kind, handle } });
const checks = (sections: string, ...ports: PortOfRouter[]): Check[] =>
  checkHeldPorts(load(`router: { name: r1 }\n${sections}`), ports);
const states = (...args: Parameters<typeof checks>): unknown => checks(...args).map(({ id, state }) => [id, state]);

const ENFORCE =
  'source: { senders: [{ prefix: 2001:db8:1::/64, action: enforce }], accept-from: [2001:db8::/32], ' +
  'enforce: { ports: [eth1, eth2] } }\n';
const flowControl = (fields: string): string => `flow-control: { mode: flow, ${fields} }\n`;
const HOLD = flowControl('hold: [eth1], accept-from: ["fe80::/10"]');

test('a router that holds nothing has nothing to check', () => expect(checks('', port('eth1'))).toEqual([]));

test('the queue of a port that holds flows is its default one, or an HTB', () => {
  expect(states(ENFORCE, port('eth1'), port('eth2', root('htb')))).toEqual([
    ['source.queue.eth1', 'ok'],
    ['source.queue.eth2', 'ok'],
  ]);
  expect(states(ENFORCE, port('eth1', root('fq_codel', 0)))).toEqual([['source.queue.eth1', 'ok']]);
  expect(checks(ENFORCE, port('eth1', root('tbf')))).toMatchObject([
    { state: 'missing', problem: expect.stringContaining('eth1 is tbf'), remedy: expect.stringContaining('tc qdisc') },
  ]);
});

test('a port that holds for neighbors has a queue, a link-local address, and neighbors that may ask', () => {
  expect(states(HOLD, port('eth1'))).toEqual([
    ['flow-control.queue.eth1', 'ok'],
    ['flow-control.address.eth1', 'ok'],
    ['flow-control.accept-from.eth1', 'ok'],
  ]);
  expect(states(HOLD, port('eth1', { addresses: [], ...root('mq', 0x8001_0000) }))).toEqual([
    ['flow-control.queue.eth1', 'missing'],
    ['flow-control.address.eth1', 'missing'],
    ['flow-control.accept-from.eth1', 'ok'],
  ]);
});

test('who may ask must be somebody who could be there', () => {
  const accept = (from: string, own?: string): unknown =>
    checks(
      flowControl(`hold: [eth1], accept-from: ["${from}"]`),
      port('eth1', own === undefined ? {} : { addresses: [{ address: address(own), length: 64 }] }),
    ).find(({ id }) => id.includes('accept-from'))!.state;
  expect(accept('fe80::2/128')).toBe('ok');
  expect(accept('2001:db8:9::/48')).toBe('missing');
  expect(accept('2001:db8:9::/48', '2001:db8:9::1')).toBe('ok');
  expect(accept('2001:db8:9::2/128', '2001:db8:9::1')).toBe('ok');
  expect(accept('2001:db8:8::/48', '2001:db8:9::1')).toBe('missing');
});

test('a declared neighbor is on its link, and is another router', () => {
  const neighbor = (text: string): Check =>
    checks(
      flowControl(`watch: [{ interface: wan }], neighbors: [{ interface: eth1, address: "${text}" }]`),
      port('eth1', {
        addresses: [
          { address: address('fe80::1'), length: 64 },
          { address: address('2001:db8:9::1'), length: 64 },
        ],
      }),
    ).find(({ id }) => id === 'flow-control.neighbor.eth1')!;
  expect([neighbor('fe80::2').state, neighbor('2001:db8:9::2').state]).toEqual(['ok', 'ok']);
  expect(neighbor('2001:db8:8::2')).toMatchObject({
    ...{ state: 'missing', problem: expect.stringContaining('is not on that link') },
    remedy: expect.stringContaining('ip -6 neigh show dev eth1'),
  });
  expect(neighbor('fe80::1').problem).toMatch(/own address/);
});
