import { expect, test } from 'vitest';
import { frrMounts, frrScript, otherFrr, parseDaemons } from './frr.ts';

const FILE = `# comment
zebra_options="  -A 127.0.0.1 -s 90000000"
isisd=yes
ospfd=no
bgpd=yes   # and this
isisd_options='-A 127.0.0.1'
frr_profile="datacenter"
vtysh_enable=yes
`;

test('the daemons file is honored: zebra first, then what says yes, with its options', () => {
  const { daemons } = parseDaemons(FILE);
  expect(daemons.filter((d) => !d.optional).map((d) => d.name)).toEqual(['zebra', 'staticd', 'bgpd', 'isisd']);
  expect(daemons[0]!.options).toEqual(['-F', 'datacenter', '-A', '127.0.0.1', '-s', '90000000']);
});

test('configuration is loaded by vtysh unless vtysh_enable says no', () => {
  expect(frrScript(parseDaemons(FILE))).toContain('vtysh -b');
  expect(frrScript(parseDaemons('vtysh_enable=no'))).not.toContain('vtysh');
});

test('a daemon that only newer packages have is started where it exists', () => {
  expect(frrScript(parseDaemons(''))).toContain('if [ -x /usr/lib/frr/mgmtd ]; then /usr/lib/frr/mgmtd -d');
});

test('another FRR is for the nodes that are named, or for all', () => {
  expect(otherFrr('leaf1', {})).toBeUndefined();
  expect(otherFrr('leaf1', { CNPD_FRR: '/r' })).toBe('/r');
  expect(['leaf1', 'p'].map((node) => otherFrr(node, { CNPD_FRR: '/r', CNPD_FRR_NODES: '^leaf' }))).toEqual([
    '/r',
    undefined,
  ]);
  expect(frrMounts('/r/a b')).toEqual([
    "mount -n --bind '/r/a b/started' /usr/lib/frr",
    "mount -n --bind '/r/a b/started/vtysh' /usr/bin/vtysh",
    "mount -n --bind '/r/a b/usr/share/yang' /usr/share/yang",
  ]);
});
