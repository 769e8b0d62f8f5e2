import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { diffIntent } from './diff.ts';
import type { Intent } from './intent.ts';
import { loadIntent } from './load.ts';

const example = readFileSync(new URL('../../docs/cnpd.yaml', import.meta.url), 'utf8');

function load(text: string): Intent {
  const result = loadIntent(text, 'cnpd.yaml');
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

test('a file read twice gives no difference', () => {
  expect(diffIntent(load(example), load(example))).toEqual([]);
});

test.each([
  ['name: leaf1', 'name: leaf2', ['router']],
  ['2001:db8:1::/64', '2001:db8:5::/64', ['proxy']],
  ['key-of-level-2', 'another-key', ['isis']],
  ['0000.0000.c001', '0000.0000.c002', ['isis']],
  ['k-max: 100kB', 'k-max: 101kB', ['ports']],
  ['[eth9]', '[eth8]', ['border-ports']],
  ['1021', '50021', ['code-points']],
  ['msb-first', 'lsb-first', ['code-points']],
  ['mode: service', 'mode: flow', ['flow-control']],
  ['capability-expiry: 10min', 'capability-expiry: 9min', ['notifications']],
  ['level: 205', 'level: 206', ['notifications']],
  ['{ pipe: 46 }', 'uniform', ['srv6']],
  ['interval: 1s ', 'interval: 2s ', ['stamp']],
  ['inbound: [2001:db8:fffe::/48]', 'inbound: [2001:db8:fffd::/48]', ['border-allow']],
  ['rtt: 10ms', 'rtt: 11ms', ['ports']],
  ['cnpd/gnmi.sock', 'cnpd/other.sock', ['gnmi']],
  ['[::1]:9464', '[::]:9464', ['metrics']],
  ['level: info', 'level: warn', ['log']],
  ['via-next-hop: off', 'via-next-hop: on', ['bgp']],
  ['next-hop: [2001:db8:ffff::1, 192.0.2.1] ', 'next-hop: [2001:db8:ffff::2] ', ['bgp']],
  ['enabled: on                     # off', 'enabled: off # off', ['isis']],
  ['k-min: 50kB', 'k-min: 50000', []],
] as const)('%s → %s changes %j', (from, to, sections) => {
  expect(example).toContain(from);
  expect(diffIntent(load(example), load(example.replace(from, to)))).toEqual(sections);
});
