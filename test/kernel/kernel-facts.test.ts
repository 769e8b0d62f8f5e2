// What plan learns of this machine's ports, against real qdiscs: the rate that LHCNP §5.3.2 calls R_port.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FactsNeeded, readKernelFacts } from '../../src/coordinator/kernel-facts.edge.ts';
import { ROUTER, load } from '../../src/intent/files.fixture.ts';
import type { PortIntent, Srv6Intent } from '../../src/intent/intent.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { readTunnelSource } from '../../src/kernel/netlink/seg6-tunnel-source.ts';
import { Rtnetlink } from '../../src/kernel/netlink/rtnetlink.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { address } from '../../src/model/address.ts';
import { eventLoopWork } from '../../src/model/work.ts';
import type { Facts, QdiscFact } from '../../src/plan/facts.ts';
import { inNetns, ip } from '../support/netns.ts';

let poller: Poller;
let netns: Netns;
let route: Rtnetlink;
let errors: unknown[];

const readFacts = (needed: FactsNeeded, sysfs?: string): Promise<Facts> =>
  readKernelFacts({ rtnetlink: route, work: eventLoopWork(), features: [], ...(sysfs && { sysfs }) }, needed);

beforeEach(async () => {
  errors = [];
  poller = Poller.open({ onError: (error) => errors.push(error) });
  netns = Netns.create();
  route = Rtnetlink.open({ netns }, { poller });
  await route.createVeth({ name: 't-f-a', peer: { name: 't-f-b' } });
});

afterEach(() => {
  route.close();
  poller.close();
  netns.close();
  expect(errors).toEqual([]);
});

describe('FCN-4.2.2-c: the source of SRv6 tunnels', () => {
  test('is what `ip sr tunsrc` says, and undefined while it says nothing', () => {
    expect(readTunnelSource({ netns })).toBeUndefined();
    inNetns(netns, 'ip', 'sr', 'tunsrc', 'set', '2001:db8:c1::5');
    expect(readTunnelSource({ netns })).toEqual(address('2001:db8:c1::5'));
    inNetns(netns, 'ip', 'sr', 'tunsrc', 'set', '::');
    expect(readTunnelSource({ netns })).toBeUndefined();
  });
});

const [PORT] = load(`${ROUTER}ports: [{ interface: t-f-a, k-max: 1MB }]\n`).ports as [PortIntent];

const tc = (...lines: string[]): void => lines.forEach((line) => inNetns(netns, 'tc', ...line.split(' ')));

async function rootQdisc(): Promise<QdiscFact | undefined> {
  const facts = await readFacts({ ports: [PORT] });
  const link = facts.links.find((l) => l.name === 't-f-a')!;
  return facts.qdiscs.find((q) => q.ifindex === link.ifindex);
}

describe('LHCNP-5.3.2-a: the rate of a port', () => {
  test('is that of its TBF, beside the depth at which it drops', async () => {
    tc('qdisc add dev t-f-a root tbf rate 100gbit burst 200kb limit 3000000');
    expect(await rootQdisc()).toMatchObject({ rootKind: 'tbf', rateBitPerS: 100e9, limitBytes: 3_000_000 });
  });

  test('is the sum over the top-level classes of its HTB: their ceil, and the classes below, do not count', async () => {
    tc(
      'qdisc add dev t-f-a root handle 1: htb default 20',
      'class add dev t-f-a parent 1: classid 1:1 htb rate 60mbit ceil 500mbit',
      'class add dev t-f-a parent 1:1 classid 1:10 htb rate 10mbit ceil 60mbit',
      'class add dev t-f-a parent 1: classid 1:2 htb rate 40mbit',
    );
    const qdisc = await rootQdisc();
    expect(qdisc).toMatchObject({ rootKind: 'htb', rateBitPerS: 100e6 });
    expect(qdisc).not.toHaveProperty('limitBytes');
  });

  test('is not known of an HTB without classes', async () => {
    tc('qdisc add dev t-f-a root handle 1: htb');
    expect(await rootQdisc()).not.toHaveProperty('rateBitPerS');
  });

  test('is not taken from the sysfs of another network namespace', async () => {
    const facts = await readFacts({ ports: [PORT, { ...PORT, interface: 'lo' }] });
    expect(facts.links.map((l) => l.name).sort()).toEqual(['lo', 't-f-a', 't-f-b']);
    for (const link of facts.links) expect(link).not.toHaveProperty('speedBitPerS');
  });
});

describe('the speed of a link', () => {
  /** Where the driver of t-f-a reports 25 Gbit/s, and that of t-f-b 40 Gbit/s. */
  async function speeds(sections: string): Promise<Record<string, number>> {
    const sysfs = mkdtempSync(join(tmpdir(), 'cnpd-sysfs-'));
    try {
      for (const link of await route.links()) {
        mkdirSync(join(sysfs, link.name));
        const mac = [...link.mac].map((byte) => byte.toString(16).padStart(2, '0')).join(':');
        writeFileSync(join(sysfs, link.name, 'address'), `${mac}\n`);
        writeFileSync(join(sysfs, link.name, 'speed'), link.name === 't-f-a' ? '25000\n' : '40000\n');
      }
      const { links } = await readFacts(load(ROUTER + sections), sysfs);
      return Object.fromEntries(links.flatMap(({ name, speedBitPerS: s }) => (s === undefined ? [] : [[name, s]])));
    } finally {
      rmSync(sysfs, { recursive: true });
    }
  }

  test.each([
    ['is watched', 'ports: [{ interface: t-f-a, k-max: 1MB }]\n'],
    [
      'holds flows of hosts',
      'source: { senders: [{ prefix: 2001:db8:1::/64, action: enforce }], accept-from: [2001:db8:ffff::/48], ' +
        'enforce: { ports: [t-f-a] } }\n',
    ],
    [
      'holds what neighbors ask for',
      'flow-control: { mode: flow, hold: [t-f-a], accept-from: ["fe80::/10"], watch: [{ interface: t-f-b }] }\n',
    ],
  ])('is read where the port %s: it is the default of bandwidth', async (_, sections) =>
    expect(await speeds(sections)).toEqual({ 't-f-a': 25e9 }),
  );
});

describe('FCN-4.2.1-d: local SIDs that decapsulate', () => {
  const SRV6: Srv6Intent = {
    ...{ endCon: [], corePorts: ['t-f-a'], ecnMode: 'normal', dscpModel: { kind: 'pipe' } },
    multicast: { settleMs: 500, stallMs: 10_000, dropStalled: false, tlvLimit: 512 },
  };

  test('are listed with their table when tunnels are configured, whoever installed them; others are not', async () => {
    ip(netns, 'link set t-f-a up');
    ip(netns, '-6 route add 2001:db8:e::6/128 encap seg6local action End.DT6 table 100 dev t-f-a');
    ip(netns, '-6 route add 2001:db8:e::4/128 encap seg6local action End.DX4 nh4 192.0.2.1 dev t-f-a');
    ip(netns, '-6 route add 2001:db8:e::1/128 encap seg6local action End dev t-f-a');
    ip(netns, '-6 route add 2001:db8:e::7/128 encap seg6local action End.DT6 table 254 count dev t-f-a');
    const { seg6Local } = await readFacts({ srv6: SRV6 });
    expect([...seg6Local!].sort((a, b) => Number(a.sid.value - b.sid.value))).toEqual([
      { sid: address('2001:db8:e::4'), length: 128, behavior: 'end.dx4', table: null },
      { sid: address('2001:db8:e::6'), length: 128, behavior: 'end.dt6', table: 100 },
      { sid: address('2001:db8:e::7'), length: 128, behavior: 'end.dt6', table: null },
    ]);
    expect(await readFacts({})).not.toHaveProperty('seg6Local');
  });
});
