// frr-configs/: every file is taken by real FRR as it is, does what its comments say, and has cnpd's interface come and
// go.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Lab, labDown, labUp } from '../../src/lab/lab.ts';
import { packageRoot } from '../../src/lab/program.ts';
import { matches, until } from '../support/until.ts';
import { ownLabName } from './support/network.ts';

const NAME = await ownLabName('t-lab-configs');
/** FRR sends a hello every ten seconds. */
const LIMIT_MS = 60_000;
const CONFIGS = join(packageRoot(), 'frr-configs');
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 't-lab-'));
  writeFileSync(join(directory, 'daemons'), 'isisd=yes\nospfd=yes\nospf6d=yes\n');
});

afterEach(async () => {
  await labDown(NAME);
  rmSync(directory, { recursive: true, force: true });
});

/**
 * What is at the other end of the link, and how FRR names it: by its system ID until its LSP has shown the name,
 * which is the node's until isisd has read the file's.
 */
const neighborOf = (role: string): { config: string; name: string } =>
  role.startsWith('ospf')
    ? { config: 'ospf-transit.conf', name: '192\\.0\\.2\\.3' }
    : role === 'transit.conf'
      ? { config: 'congested-node.conf', name: '(p1|t|0000\\.0000\\.0002)' }
      : { config: 'transit.conf', name: '(p2|t|0000\\.0000\\.0003)' };

/**
 * The role's router `r`, whose eth2 leads to its neighbor `t`; the other interfaces lead to `x`, which does nothing.
 */
function up(role: string): Promise<Lab> {
  const node = (name: string, config: string): string =>
    `    ${name}: {kind: linux, binds: ["daemons:/etc/frr/daemons", "${join(CONFIGS, config)}:/etc/frr/frr.conf"]}`;
  const file = join(directory, 'x.clab.yml');
  const links =
    '  links:\n    - {endpoints: ["r:eth2", "t:eth1"], mtu: 1500}\n' +
    '    - {endpoints: ["r:eth1", "x:eth1"], mtu: 1500}\n    - {endpoints: ["t:eth2", "x:eth2"], mtu: 1500}\n';
  writeFileSync(
    file,
    `name: ${NAME}\nprefix: __lab-name\ntopology:\n  nodes:\n${node('r', role)}\n` +
      `${node('t', neighborOf(role).config)}\n    x: {kind: linux}\n${links}`,
  );
  return labUp(file);
}

const says = (lab: Lab, node: string, command: string, pattern: RegExp): Promise<unknown> =>
  until(
    `${node}: "${command}" shows ${pattern.source}`,
    async () => (await lab.exec(node, ['vtysh', '-c', command])).stdout,
    matches(pattern),
    LIMIT_MS,
  );

/** Lines of a configuration without comments, and without the host's name, for which vtysh shows the node's. */
const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((l) => l.trim())
    .filter((l) => l !== '' && !/^(!|hostname )/.test(l));
/** `lsp-gen-interval` is one of several names of the same. */
const SHOWN: Readonly<Record<string, string | undefined>> = {
  'lsp-gen-interval 1': 'lsp-timers gen-interval 1 refresh-interval 900 max-lifetime 1200',
};
/** Defaults, which FRR does not show. */
const HIDDEN = new Set([
  'metric-style wide',
  'is-type level-1-2',
  'isis circuit-type level-1-2',
  'frr defaults traditional',
]);

test.each(['leaf-proxy.conf', 'congested-node.conf', 'l1l2-border.conf', 'srv6-pe.conf', 'transit.conf'])(
  '%s: FRR takes every line, and is adjacent to a plain FRR',
  async (role) => {
    const lab = await up(role);
    const running = lines(await lab.mustExec('r', ['vtysh', '-c', 'show running-config']));
    const missing = lines(readFileSync(join(CONFIGS, role), 'utf8')).filter(
      (line) => !HIDDEN.has(line) && !running.includes(SHOWN[line] ?? line),
    );
    expect(missing).toEqual([]);
    await says(lab, 'r', 'show isis neighbor', new RegExp(`^ ${neighborOf(role).name} +eth2 +2 +Up`, 'm'));
  },
);

test.each(['leaf-proxy.conf', 'congested-node.conf', 'l1l2-border.conf', 'srv6-pe.conf'])(
  '%s: FRR is ready on cnpd’s interface whenever it comes, and again when it comes back',
  async (role) => {
    const lab = await up(role);
    for (let i = 0; i < 2; i++) {
      await lab.mustExec('r', [
        'sh',
        '-c',
        'ip link add cnpd-isis type veth peer name far && ip link set far up && ip link set cnpd-isis up',
      ]);
      await says(lab, 'r', 'show isis interface', /cnpd-isis +\S+ +Up +p2p/);
      await lab.mustExec('r', ['ip', 'link', 'delete', 'cnpd-isis']);
      await says(lab, 'r', 'show isis interface', /^(?![^]*cnpd-isis)/);
    }
  },
);

/** What is asked of each version, and how FRR answers when all is well. */
const OSPF = {
  2: {
    neighbors: 'show ip ospf neighbor',
    full: /^192\.0\.2\.[13]\s.*Full\/-.*\beth[12]:/m,
    link: 'show ip ospf interface',
    ready: 'State Point-To-Point',
  },
  3: {
    neighbors: 'show ipv6 ospf6 neighbor',
    full: /^192\.0\.2\.[13]\s.*Full\/PointToPoint.*\beth[12]\[/m,
    link: 'show ipv6 ospf6 interface',
    ready: 'State PointToPoint',
  },
} as const;
/** Each role, its versions, and cnpd's interfaces in it with their addresses. */
const OSPF_ROLES: [string, (2 | 3)[], [2 | 3, string, string?][]][] = [
  ['ospfv2-leaf.conf', [2], [[2, 'cnpd-ospf0', '169.254.89.0/31']]],
  ['ospfv3-leaf.conf', [3], [[3, 'cnpd-ospf6-0']]],
  [
    'ospf-abr.conf',
    [2, 3],
    [
      [2, 'cnpd-ospf0', '169.254.89.0/31'],
      [2, 'cnpd-ospf1', '169.254.89.2/31'],
      [3, 'cnpd-ospf6-0'],
      [3, 'cnpd-ospf6-1'],
    ],
  ],
];

test.each(OSPF_ROLES)('%s: FRR takes every line, and is adjacent to ospf-transit.conf', async (role, versions) => {
  const lab = await up(role);
  for (const [node, file] of [
    ['r', role],
    ['t', 'ospf-transit.conf'],
  ] as const) {
    const running = lines(await lab.mustExec(node, ['vtysh', '-c', 'show running-config']));
    expect(
      lines(readFileSync(join(CONFIGS, file), 'utf8')).filter((line) => !HIDDEN.has(line) && !running.includes(line)),
    ).toEqual([]);
  }
  for (const version of versions) await says(lab, 'r', OSPF[version].neighbors, OSPF[version].full);
});

test.each(OSPF_ROLES)(
  '%s: FRR is ready on cnpd’s interfaces whenever they come, and again when they come back',
  async (role, _versions, links) => {
    const lab = await up(role);
    for (let i = 0; i < 2; i++) {
      for (const [n, [version, name, address]] of links.entries()) {
        await lab.mustExec('r', [
          'sh',
          '-c',
          `ip link add ${name} type veth peer name far${n} && ip link set far${n} up && ` +
            `ip link set ${name} up${address ? ` && ip address add ${address} dev ${name}` : ''}`,
        ]);
        await says(lab, 'r', `${OSPF[version].link} ${name}`, new RegExp(OSPF[version].ready));
      }
      for (const [, name] of links) await lab.mustExec('r', ['ip', 'link', 'delete', name]);
      for (const [version, name] of links)
        await says(lab, 'r', `${OSPF[version].link} ${name}`, new RegExp(`^(?![^]*${OSPF[version].ready})`));
    }
  },
);

/**
 * leaf (gobgpd) – r (route reflector) – t (transit AS) – b (BIRD), each with its file and the addresses that FRR's
 * files put on the links.
 */
function upBgp(): Promise<Lab> {
  writeFileSync(join(directory, 'bgp-daemons'), 'bgpd=yes\n');
  const frr = (name: string, config: string): string =>
    `    ${name}: {kind: linux, binds: ["bgp-daemons:/etc/frr/daemons", ` +
    `"${join(CONFIGS, config)}:/etc/frr/frr.conf"]}\n`;
  const other = (name: string, config: string, target: string, ...exec: string[]): string =>
    `    ${name}: {kind: linux, binds: ["${join(CONFIGS, config)}:${target}"], exec: ${JSON.stringify(exec)}}\n`;
  const nodes =
    other(
      'leaf',
      'bgp-gobgpd.toml',
      '/etc/gobgpd.toml',
      'ip address add 2001:db8:0:1::1/64 dev eth1',
      "sh -c 'gobgpd -f /etc/gobgpd.toml --api-hosts 127.0.0.1:50051 --pprof-disable >/var/log/gobgpd.log 2>&1 &'",
    ) +
    frr('r', 'bgp-route-reflector.conf') +
    frr('t', 'bgp-transit.conf') +
    other(
      'b',
      'bgp-bird.conf',
      '/etc/bird/bird.conf',
      'ip address add 2001:db8:0:3::2/64 dev eth1',
      'bird -c /etc/bird/bird.conf -s /run/bird.ctl',
    );
  const links = ['"leaf:eth1", "r:eth1"', '"r:eth2", "t:eth1"', '"t:eth2", "b:eth1"']
    .map((ends) => `    - {endpoints: [${ends}]}\n`)
    .join('');
  const file = join(directory, 'x.clab.yml');
  const sysctls = '  defaults: {sysctls: {net.ipv6.conf.default.accept_dad: 0, net.ipv6.conf.all.accept_dad: 0}}\n';
  writeFileSync(file, `name: ${NAME}\nprefix: __lab-name\ntopology:\n${sysctls}  nodes:\n${nodes}  links:\n${links}`);
  return labUp(file);
}

test('bgp-*: FRR takes every line, and gobgpd, the route reflector, the transit AS and BIRD bring their sessions up in both families', async () => {
  const lab = await upBgp();
  for (const [node, file] of [
    ['r', 'bgp-route-reflector.conf'],
    ['t', 'bgp-transit.conf'],
  ] as const) {
    const running = lines(await lab.mustExec(node, ['vtysh', '-c', 'show running-config']));
    expect(
      lines(readFileSync(join(CONFIGS, file), 'utf8')).filter((line) => !HIDDEN.has(line) && !running.includes(line)),
    ).toEqual([]);
  }
  // State/PfxRcd is a number once the session is up.
  const up = (...peers: string[]): RegExp =>
    new RegExp(peers.map((peer) => `^${peer} [^\\n]*:\\d\\d +\\d+ +\\d+ N/A[^]*`).join(''), 'm');
  for (const family of ['ipv4', 'ipv6']) {
    await says(lab, 'r', `show bgp ${family} unicast summary wide`, up('2001:db8:0:1::1', '2001:db8:0:2::2'));
    await says(lab, 't', `show bgp ${family} unicast summary wide`, up('2001:db8:0:2::1', '2001:db8:0:3::2'));
  }
});
