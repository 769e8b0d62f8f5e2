import { beforeEach, expect, test } from 'vitest';
import { load } from '../intent/files.fixture.ts';
import { address } from '../model/address.ts';
import type { Check } from '../model/problem.ts';
import { FQ_ROOT, type FqPort } from '../kernel/netlink/fq.ts';
import { HOLD_ROOT } from '../kernel/netlink/hold-tree.ts';
import { type PortOfRouter, checkHeldPorts } from './held-ports.ts';

const port = (name: string, more: Partial<PortOfRouter> = {}): PortOfRouter => ({
  name,
  addresses: [{ address: address('fe80::1'), length: 64 }],
  ...more,
});
const root = (kind: string, handle = 0x10000) => ({ rootQdisc: { kind, handle } });
let makesFq: boolean;
beforeEach(() => void (makesFq = true));
const checks = (sections: string, ...ports: PortOfRouter[]): Check[] =>
  checkHeldPorts(load(`router: { name: r1 }\n${sections}`), ports, makesFq);
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

const fq = (own: boolean, options: Partial<FqPort['options']> = {}, isDefault = false): Partial<PortOfRouter> => ({
  ...root('fq', own ? FQ_ROOT : isDefault ? 0 : 0x10000),
  fq: {
    ...{ ifindex: 2, own, isDefault },
    options: { limit: 10_000, flowLimit: 100, orphanMask: 1023, horizonUs: 1e7, ...options },
  },
});
const by = (queueing: string): string => ENFORCE.replace('[eth1, eth2]', `[eth1], queueing: ${queueing}`);
const claim = (queueing: string, more: Partial<PortOfRouter> = {}): string | undefined => {
  const [check] = checks(by(queueing), port('eth1', more));
  return check!.state === 'ok' ? check!.claim : undefined;
};

test('what holds flows at a port, and why, is said, and what else could', () => {
  expect(claim('auto')).toBe(
    'flows are held at eth1 in classes of an HTB: it has no fq; `queueing: fq` would use departure times',
  );
  expect(claim('auto', root('htb'))).toBe('flows are held at eth1 in classes of an HTB: it has an HTB');
  expect(claim('auto', fq(false, { flowLimit: 4000, orphanMask: 2 ** 20 - 1 }))).toBe(
    'flows are held at eth1 by departure times: it has an fq',
  );
  expect(claim('auto', fq(false, {}, true))).toBe(
    "flows are held at eth1 in classes of an HTB: its fq is the kernel's default, which keeps only 100 packets of a " +
      'flow; `queueing: fq` would use departure times',
  );
  expect(claim('fq', fq(false, {}, true))).toBe('flows are held at eth1 by departure times: cnpd makes an fq its root');
  // Of an earlier run.
  expect(claim('auto', fq(true))).toMatch(/classes of an HTB: it has no fq/);
  expect(claim('htb')).toBe('flows are held at eth1 in classes of an HTB: as source.enforce.queueing says');
  expect(claim('htb', fq(true))).toMatch(/classes of an HTB/);
  expect(claim('fq')).toBe('flows are held at eth1 by departure times: cnpd makes an fq its root');
  expect(claim('fq', root('htb', HOLD_ROOT))).toMatch(/cnpd makes an fq/);
  expect(claim('fq', fq(true))).toBe("flows are held at eth1 by departure times: the fq is cnpd's");
});

test('a kernel without fq holds no flows by departure times', () => {
  makesFq = false;
  expect(claim('auto')).toBe('flows are held at eth1 in classes of an HTB: it has no fq');
  expect(checks(by('fq'), port('eth1'))).toMatchObject([
    {
      state: 'missing',
      problem: 'this kernel has no fq: nothing is held at eth1',
      remedy: expect.stringContaining('modprobe sch_fq'),
    },
  ]);
});

test('a queue that cannot hold flows in this way is a problem with a remedy', () => {
  for (const [queueing, more, wanted] of [
    ['auto', root('pfifo'), 'an HTB or an fq'],
    ['htb', fq(false), 'an HTB'],
    ['fq', root('htb'), 'an fq'],
    ['fq', root('pfifo'), 'an fq'],
  ] as const)
    expect(checks(by(queueing), port('eth1', more))).toMatchObject([
      { id: 'source.queue.eth1', state: 'missing', remedy: expect.stringContaining(`make ${wanted} the root of eth1`) },
    ]);
});

test('an fq that keeps no packet for as long as a held one may wait holds nothing', () => {
  for (const isOwn of [false, true])
    expect(checks(by('fq'), port('eth1', fq(isOwn, { horizonUs: 399_999 })))).toMatchObject([
      {
        state: 'missing',
        problem:
          'the fq of eth1 keeps no packet for more than 399.999 ms (horizon), and held ones may have to wait 400 ms',
        remedy: expect.stringContaining('`tc qdisc change dev eth1 root fq horizon 10s`'),
      },
    ]);
});

test('an fq of others that keeps fewer packets than may wait, or has few queues, is a warning', () => {
  for (const options of [{}, { flowLimit: 4000 }, { orphanMask: 2 ** 20 - 1 }])
    expect(checks(by('auto'), port('eth1', fq(false, options)))).toMatchObject([
      {
        state: 'warning',
        remedy: expect.stringContaining('root fq flow_limit 4000 limit 1000000 orphan_mask 1048575'),
      },
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
