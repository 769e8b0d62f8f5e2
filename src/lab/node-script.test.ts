import { expect, test } from 'vitest';
import { type Paths, bindProblem, nodeScript, overlaysFor } from './node-script.ts';
import type { NodeSpec } from './topology.ts';

const EXISTING = new Set([
  '/etc',
  '/var',
  '/opt',
  '/root',
  '/usr',
  '/usr/local',
  '/tmp',
  '/dev',
  '/proc',
  '/labs/conf',
  '/labs/tree',
  '/etc/hosts',
  '/usr/bin/env',
  '/run',
]);
const paths: Paths = { exists: (p) => EXISTING.has(p), isDirectory: (p) => p === '/labs/tree' };
const bind = (target: string, source = '/labs/conf'): { source: string; target: string; readOnly: boolean } => ({
  source,
  target,
  readOnly: false,
});

test('directories in which a node may write are overlays; a bind that must be created makes one more', () => {
  expect(overlaysFor([], paths)).toEqual(['/etc', '/var', '/opt', '/usr/local', '/root']);
  expect(overlaysFor([bind('/etc/cnpd/cnpd.yaml'), bind('/usr/bin/env'), bind('/run/x')], paths)).toEqual([
    '/etc',
    '/var',
    '/opt',
    '/usr/local',
    '/root',
  ]);
  expect(overlaysFor([bind('/tmp/x'), bind('/usr/share/new')], paths)).toEqual([
    '/etc',
    '/var',
    '/opt',
    '/root',
    '/tmp',
    '/usr',
  ]);
});

test('a bind that would touch the machine is refused, with the reason', () => {
  expect(bindProblem(bind('/etc/x'), paths)).toBeUndefined();
  expect(bindProblem(bind('/etc/x', '/labs/absent'), paths)).toContain('does not exist');
  expect(bindProblem(bind('/config/x'), paths)).toContain('/config does not exist on this machine');
  expect(bindProblem(bind('/dev/new'), paths)).toContain('cannot be created');
  expect(bindProblem(bind('/'), paths)).toContain('root directory');
});

test('sources are held before /run and the overlays can hide them, and what a file says cannot break out of the script', () => {
  const node: NodeSpec = {
    name: 'a',
    container: 'clab-x-a',
    binds: [bind(`/etc/it's; reboot`), bind('/opt/tree', '/labs/tree')],
    exec: [],
    env: {},
    sysctls: { 'net.x': '1; reboot' },
  };
  const script = nodeScript(node, '/run/cnpd-lab/x', paths);
  const order = ['mount -n --bind /labs/conf', 'overlay', '--move', 'mount -n --bind /run/.stage/0'].map((text) =>
    script.indexOf(text),
  );
  expect(order).toEqual([...order].sort((x, y) => x - y));
  expect(Math.min(...order)).toBeGreaterThan(0);
  expect(script).toContain(`'/etc/it'\\''s; reboot'`);
  expect(script).toContain(`sysctl -q -w 'net.x=1; reboot'`);
  expect(script).toContain('mkdir -p /opt/tree');
});
