import { expect, test } from 'vitest';
import { frrScript, parseDaemons } from './frr.ts';

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
