// The scenes in containers, as containerlab deploys them, with no edit: each does what it is there for, and nothing of
// it stays. Link delay is not part of them there.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { run, tryRun } from '../support/run.ts';
import { until } from '../support/until.ts';
import { buildContainerlab } from './containerlab-program.ts';
import { Deployed, type Endpoint, prepareNetns } from './deployed.ts';
import { Docker, needDockerPackages } from './docker.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const FOLDER = join(ROOT, 'out', 'containerlab');
/** On a busy machine all of it takes its time. */
const LIMIT_MS = 120_000;
const NETNS = `cnpd-t-clab-${process.pid}`;

const SCENES = readdirSync(join(ROOT, 'containerlab')).filter((name) =>
  existsSync(join(ROOT, 'containerlab', name, `${name}.clab.yml`)),
);
const tried = new Set<string>();

let docker: Docker | undefined;
let containerlab: string;
let scene: Deployed | undefined;

beforeAll(async () => {
  needDockerPackages();
  containerlab = buildContainerlab();
  // The image is built where the registries are.
  const builder = await Docker.start(FOLDER);
  try {
    builder.needBaseImage(FOLDER);
    run('env', `DOCKER_HOST=${builder.host}`, 'node', join(ROOT, 'dist/containerlab.js'), 'image');
  } finally {
    await builder.stop();
  }
  docker = await Docker.start(FOLDER, prepareNetns(NETNS));
});
afterEach(() => {
  scene?.down();
  scene = undefined;
});
afterAll(async () => {
  await docker?.stop();
  tryRun('ip', 'netns', 'delete', NETNS);
});

function up(name: string): Deployed {
  tried.add(name);
  return (scene = Deployed.up({ docker: docker!, netns: `/run/netns/${NETNS}`, containerlab }, name));
}

const V6 = ['2001:db8:1::2', '2001:db8:2::2'] as const;
const V4 = ['198.51.100.2', '198.51.101.2'] as const;

/** h1 begins to send to h2, twice what the bottleneck passes. The receiver itself sends no CNP. */
function traffic(at: Deployed, [source, destination]: readonly [string, string], ...options: string[]): Endpoint {
  at.start('h2', 'listen', '--interface', 'eth1', '--address', destination, '--cnp-interval', 'off');
  const peer = ['--interface', 'eth1', '--address', source, '--peer', destination];
  const limits = ['--rate', '100mbit', '--duration', '5s', '--timeout', '5s'];
  return at.start('h1', 'send', ...peer, ...limits, ...options);
}

describe('a proxy near the sender is learned, and notifies the sender of a congested port', () => {
  test.each([
    { name: 'proxy', congested: 'p1', hosts: V6, carrier: 'isis' },
    { name: 'ospfv2', congested: 'p1', hosts: V4, carrier: 'ospfv2' },
    { name: 'ospfv3', congested: 'p1', hosts: V6, carrier: 'ospfv3' },
    { name: 'bgp', congested: 'leaf2', hosts: V6, carrier: 'bgp' },
  ])('$name', async ({ name, congested, hosts, carrier }) => {
    const at = up(name);
    expect(await at.row(congested, ['senders'], (row) => row['best'] === true)).toMatchObject({ carrier });
    const sender = await traffic(at, hosts, '--reaction', 'dcqcn').summary();
    expect(sender['reason']).toBe('done');
    expect(sender['cnps']).toBeGreaterThan(0);
  });
});

test('srv6-wan: Fast CNPs come out of the tunnel through END.CON, and the sender obeys them', async () => {
  const at = up('srv6-wan');
  await at.row('p1', ['srv6', 'sids'], ({ sid, status }) => sid === '2001:db8:c1::c' && status === 'reachable');
  const understands = ['--understands', 'fast-cnp', '--known-nodes', '2001:db8:ffff::/48', '--reaction', 'dcqcn'];
  const sender = traffic(at, V6, ...understands);
  expect(await sender.summary()).toMatchObject({ reason: 'done' });
  expect(sender.events().filter(({ event }) => event === 'feedback').length).toBeGreaterThan(0);
});

test('longhaul: a congested node sends Long-haul CNPs, and the sender obeys them', async () => {
  const at = up('longhaul');
  await at.row('n1', ['rtt'], () => true);
  const understands = ['--understands', 'long-haul-icmpv6', '--known-nodes', '2001:db8:ffff::/48', '--rtt', '20ms'];
  const sender = traffic(at, V6, ...understands);
  await at.row('n1', ['notifications'], (row) => row['action'] === 'rate-reduce');
  expect(await sender.summary()).toMatchObject({ reason: 'done' });
  expect(sender.events().filter(({ event }) => event === 'feedback').length).toBeGreaterThan(0);
});

test('source: the leaf holds the flow of a host that obeys nothing', async () => {
  const at = up('source');
  await at.up('leaf1');
  const sender = traffic(at, V6, '--reaction', 'none');
  await at.row('leaf1', ['holds'], () => true);
  expect(await sender.summary()).toMatchObject({ reason: 'done' });
});

test('rdma-multicast: five receivers have every byte of one sender', async () => {
  const at = up('rdma-multicast');
  await at.row('n6', ['groups'], ({ status }) => String(status).startsWith('ready'));
  const group = ['--from', '2001:db8:aa::1/4096', '--bytes', '2MB', '--interface', 'eth1'];
  const receivers = [1, 2, 3, 4, 5].map((n) =>
    at.start(`r${n}`, 'receive', ...group, '--address', `2001:db8:1${n}::2`, '--qpn', String(512 + n)),
  );
  const to = ['--to', '2001:db8:aa::1/4096', '--bytes', '2MB', '--timeout', '2s'];
  const source = ['source', '--interface', 'eth1', '--address', '2001:db8:1::2', '--qpn', '256', ...to];
  const { ok, hash } = await at.start('s1', ...source).summary();
  expect(ok).toBe(true);
  for (const receiver of receivers) {
    receiver.stop();
    expect(await receiver.summary()).toMatchObject({ complete: true, hash });
  }
});

test('precise-flow-control: the router before the congested one pauses what it is asked to pause', async () => {
  const at = up('precise-flow-control');
  await at.up('p');
  const sender = traffic(at, V6, '--reaction', 'none');
  const paused = (): unknown[] => (at.shown('p', 'flow-control') as { paused: unknown[] }).paused;
  await until('p has paused what pe2 asked for', paused, ({ length }) => length > 0, LIMIT_MS);
  await sender.summary();
});

describe('when all scenes are gone', () => {
  test('each was tried', () => {
    expect([...tried].sort()).toEqual(SCENES.sort());
  });

  test('no container, no name of a network namespace and no file is left', () => {
    expect(docker!.run('ps', '--all', '--quiet')).toBe('');
    const ours = SCENES.map((name) => `clab-${name}-`);
    const left = readdirSync('/run/netns').filter((name) => ours.some((start) => name.startsWith(start)));
    expect(left).toEqual([]);
    expect(
      readdirSync(join(ROOT, 'containerlab'), { recursive: true }).filter((path) => /clab-/.test(String(path))),
    ).toEqual([]);
  });
});
