// frr-configs/: every file is taken by real FRR as it is, does what its comments say, and has cnpd's interface come and go.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Lab, labDown, labUp } from '../../src/lab/lab.ts';
import { packageRoot } from '../../src/lab/program.ts';

const NAME = 't-lab-configs';
const LIMIT_MS = 30_000;
const CONFIGS = join(packageRoot(), 'frr-configs');
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 't-lab-'));
  writeFileSync(join(directory, 'daemons'), 'isisd=yes\n');
});

afterEach(async () => {
  await labDown(NAME);
  rmSync(directory, { recursive: true, force: true });
});

/** What stands at the other end of the link, and how FRR names it: by its system ID until its LSP has told the name, which is the node's until isisd has read the file's. */
const neighborOf = (role: string): { config: string; name: string } =>
  role === 'transit.conf' ? { config: 'congested-node.conf', name: '(p1|t|0000\\.0000\\.0002)' } : { config: 'transit.conf', name: '(p2|t|0000\\.0000\\.0003)' };

/** The role's router `r`, whose eth2 leads to its neighbour `t`; the other interfaces lead to `x`, which does nothing. */
function up(role: string): Promise<Lab> {
  const node = (name: string, config: string): string => `    ${name}: {kind: linux, binds: ["daemons:/etc/frr/daemons", "${join(CONFIGS, config)}:/etc/frr/frr.conf"]}`;
  const file = join(directory, 'x.clab.yml');
  const links = '  links:\n    - {endpoints: ["r:eth2", "t:eth1"], mtu: 1500}\n    - {endpoints: ["r:eth1", "x:eth1"], mtu: 1500}\n    - {endpoints: ["t:eth2", "x:eth2"], mtu: 1500}\n';
  writeFileSync(file, `name: ${NAME}\nprefix: __lab-name\ntopology:\n  nodes:\n${node('r', role)}\n${node('t', neighborOf(role).config)}\n    x: {kind: linux}\n${links}`);
  return labUp(file);
}

async function until(lab: Lab, node: string, command: string, pattern: RegExp): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  for (;;) {
    const { stdout } = await lab.exec(node, ['vtysh', '-c', command]);
    if (pattern.test(stdout)) return;
    if (performance.now() > end) throw new Error(`${node}: "${command}" does not come to say ${pattern.source}:\n${stdout}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Lines of a configuration without comments, and without the host's name, for which vtysh shows the node's. */
const lines = (text: string): string[] => text.split('\n').map((l) => l.trim()).filter((l) => l !== '' && !/^(!|hostname )/.test(l));
/** `lsp-gen-interval` is one of several names of the same. */
const SHOWN: Readonly<Record<string, string | undefined>> = { 'lsp-gen-interval 1': 'lsp-timers gen-interval 1 refresh-interval 900 max-lifetime 1200' };
/** Defaults, which FRR does not show. */
const HIDDEN = new Set(['metric-style wide', 'is-type level-1-2', 'isis circuit-type level-1-2', 'frr defaults traditional']);

test.each(['leaf-proxy.conf', 'congested-node.conf', 'l1l2-border.conf', 'transit.conf'])('%s: FRR takes every line, and is adjacent to a plain FRR', async (role) => {
  const lab = await up(role);
  const running = lines(await lab.mustExec('r', ['vtysh', '-c', 'show running-config']));
  const missing = lines(readFileSync(join(CONFIGS, role), 'utf8')).filter((line) => !HIDDEN.has(line) && !running.includes(SHOWN[line] ?? line));
  expect(missing).toEqual([]);
  await until(lab, 'r', 'show isis neighbor', new RegExp(`^ ${neighborOf(role).name} +eth2 +2 +Up`, 'm'));
});

test.each(['leaf-proxy.conf', 'congested-node.conf', 'l1l2-border.conf'])('%s: FRR is ready on cnpd’s interface whenever it comes, and again when it comes back', async (role) => {
  const lab = await up(role);
  for (let i = 0; i < 2; i++) {
    await lab.mustExec('r', ['sh', '-c', 'ip link add cnpd-isis type veth peer name far && ip link set far up && ip link set cnpd-isis up']);
    await until(lab, 'r', 'show isis interface', /cnpd-isis +\S+ +Up +p2p/);
    await lab.mustExec('r', ['ip', 'link', 'delete', 'cnpd-isis']);
    await until(lab, 'r', 'show isis interface', /^(?![^]*cnpd-isis)/);
  }
});
