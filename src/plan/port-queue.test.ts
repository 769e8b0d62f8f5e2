import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Facts, LinkFact, QdiscFact } from './facts.ts';
import { MOST_QUEUES, portQueue } from './port-queue.ts';

const link = (ifindex: number, name: string, rest: Partial<LinkFact> = {}): LinkFact => ({
  ...{ ifindex, name, up: true, kind: undefined, etherLike: true },
  ...rest,
});
const queueOf = (port: LinkFact, root?: Omit<QdiscFact, 'ifindex'>, links: readonly LinkFact[] = [port]) => {
  const facts: Pick<Facts, 'links' | 'qdiscs'> = { links, qdiscs: root ? [{ ifindex: port.ifindex, ...root }] : [] };
  return portQueue(port, facts, 'give it a TBF');
};
const queues = (count: number, kind = 'fq_codel'): string[] => Array<string>(count).fill(kind);
const eth0 = link(2, 'eth0');

test.each(['tbf', 'htb', 'fq_codel', 'fq', 'pfifo', 'bfifo'])('a root %s is read as it is', (rootKind) => {
  expect(queueOf(eth0, { rootKind })).toEqual({
    ...{ readable: true, root: { ifindex: 2, rootKind } },
    ...{ multiqueue: false, measured: `its root, ${rootKind}` },
  });
});

test('LHCNP-5.3.1-a: below an mq the queues are summed, and what is summed is said', () => {
  const root = { rootKind: 'mq', queueKinds: [...queues(3), 'fq'] };
  expect(queueOf(eth0, root)).toEqual({
    readable: true,
    root: { ifindex: 2, ...root },
    multiqueue: true,
    measured:
      'the sum over 4 transmit queues (3 fq_codel, 1 fq) below mq, ' +
      'at most a kernel tick and 4 packets of a CPU old',
  });
});

test('one queue below an mq that cannot be read makes the sum wrong', () => {
  expect(queueOf(eth0, { rootKind: 'mq', queueKinds: [...queues(3), 'pfifo_fast'] })).toEqual({
    readable: false,
    problem:
      'the root qdisc of eth0 is mq with pfifo_fast below it, whose queue depth cannot be read; ' +
      'the port is not monitored',
    remedy:
      'give each queue an fq_codel: `sysctl -w net.core.default_qdisc=fq_codel`, then ' +
      '`tc qdisc replace dev eth0 root handle 6d71: mq`; or give it a TBF',
  });
  expect(queueOf(eth0, { rootKind: 'mq' })).toMatchObject({ problem: expect.stringContaining('no qdisc below it') });
});

test('below an mqprio likewise; its traffic classes stay when its queues are replaced', () => {
  const root = { rootKind: 'mqprio', rootHandle: '8001', queueKinds: queues(12) };
  expect(queueOf(eth0, root)).toMatchObject({
    ...{ readable: true, multiqueue: true },
    measured: expect.stringMatching(/^the sum over 12 transmit queues \(12 fq_codel\) below mqprio, /),
  });
  expect(queueOf(eth0, { ...root, queueKinds: queues(12, 'pfifo_fast') })).toMatchObject({
    readable: false,
    problem: expect.stringMatching(/^the root qdisc of eth0 is mqprio with pfifo_fast below it, /),
    remedy:
      'give each queue an fq_codel: `for queue in $(seq 12); do tc qdisc replace dev eth0 ' +
      'parent 8001:$(printf %x $queue) fq_codel; done`; or give it a TBF',
  });
});

test('queues are summed up to the limit of the program', () => {
  const limit = /#define MOST_QUEUES (\d+)/.exec(readFileSync('bpf/lib/detector/port-depth.h', 'utf8'))![1];
  expect(String(MOST_QUEUES)).toBe(limit);
  expect(queueOf(eth0, { rootKind: 'mq', queueKinds: queues(MOST_QUEUES) })).toMatchObject({ readable: true });
  expect(queueOf(eth0, { rootKind: 'mq', queueKinds: queues(MOST_QUEUES + 1) })).toMatchObject({
    problem: expect.stringContaining('eth0 has 257 transmit queues'),
    remedy: expect.stringContaining('`ethtool -L eth0 combined 256`'),
  });
});

test.each([undefined, { rootKind: 'noqueue' }])(
  'a VLAN and a bond name the ports that keep their packets: %o',
  (root) => {
    const vlan = link(5, 'eth0.100', { kind: 'vlan', lower: 2 });
    expect(queueOf(vlan, root, [eth0, vlan])).toEqual({
      readable: false,
      problem: 'eth0.100 (vlan) has no queue of its own: its packets wait at eth0; the port is not monitored',
      remedy: 'declare eth0 under ports in place of eth0.100; or give it a TBF',
    });
    const bond = link(6, 'bond0', { kind: 'bond' });
    const slaves = [link(7, 'eth1', { master: 6 }), link(8, 'eth2', { master: 6 })];
    expect(queueOf(bond, root, [eth0, bond, ...slaves])).toMatchObject({
      problem: expect.stringContaining('bond0 (bond) has no queue of its own: its packets wait at eth1, eth2'),
      remedy: expect.stringContaining('declare eth1, eth2 under ports in place of bond0'),
    });
  },
);

test('a VLAN that is shaped itself is read like any other port', () => {
  const vlan = link(5, 'eth0.100', { kind: 'vlan', lower: 2 });
  expect(queueOf(vlan, { rootKind: 'tbf' }, [eth0, vlan])).toMatchObject({ readable: true });
});

test.each([
  ['noqueue', /^the root qdisc of eth0 is noqueue, /, /^give it a TBF$/],
  ['netem', /is netem/, /other end of the link/],
])('%s has no depth', (rootKind, problem, remedy) => {
  expect(queueOf(eth0, { rootKind })).toMatchObject({
    problem: expect.stringMatching(problem),
    remedy: expect.stringMatching(remedy),
  });
});
