import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { intentJsonSchema } from './json-schema.ts';
import { loadIntent } from './load.ts';

// A validator that shares nothing with the code under test; it comes with the linter.
type Validate = ((data: unknown) => boolean) & { errors?: unknown };
const Ajv = createRequire(import.meta.url)('ajv') as new (options: object) => { compile(schema: object): Validate };
const ajv = new Ajv({ strict: false, allErrors: true, unknownFormats: 'ignore' });
const validate = ajv.compile(intentJsonSchema());

const minimal = 'router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\n';
const accepted: readonly (readonly [string, string])[] = [
  ['docs/cnpd.yaml', readFileSync(new URL('../../docs/cnpd.yaml', import.meta.url), 'utf8')],
  ['the least', minimal],
  ['a name that YAML takes for a number', 'router: { name: 7 }'],
  ['a name that YAML takes for a boolean', 'router: { name: true }'],
  ['bare bytes', `${minimal}ports: [{ interface: eth1, k-min: 1000, k-max: 2000, rate: 1.5k/s }]`],
  ['an area that YAML takes for a number', `${minimal}isis: { system-id: 0000.0000.c001, area: 49, level: 1 }`],
  [
    'switches',
    `${minimal}isis: { enabled: false, system-id: 0000.0000.c001, area: 49.0001 }\n` +
      'ports: [{ interface: eth1, ecn: off, k-max: 50 kB }]',
  ],
  [
    'numbers, words and lists where one of them is allowed',
    `${minimal}ports: [{ interface: eth1, k-max: auto, alpha: 1.5, rtt: 10ms }]\n` +
      'notifications: { senders: [{ prefix: 2001:db8:1::/64, supports: [fast-cnp], order: [fast-cnp] }, ' +
      '{ prefix: 2001:db8:2::/64, supports: unknown, order: [proxy] }] }\nsrv6: { core-ports: [eth2], ' +
      'dscp: { pipe: 46 }, end-con: [{ sid: 2001:db8:c::1, locator: 2001:db8:c::/48, table: 10 }] }',
  ],
  ['BGP by its defaults', `${minimal}bgp: {}\n`],
  [
    'BGP with communities, and a number for an AS',
    `${minimal}bgp: { gobgp: { target: "[::1]:50051" }, ` +
      'communities: [65000:100, no-export], large-communities: ["65000:1:2"], domain: [65001, "65002"] }',
  ],
  ['quoted numbers', `${minimal}code-points: { pnc-udp-port: "1021" }\nlog: { level: debug }`],
];

test.each(accepted)('what the loader accepts, the schema accepts: %s', (_name, text) => {
  const loaded = loadIntent(text, 'cnpd.yaml');
  expect(loaded.ok ? [] : loaded.error).toEqual([]);
  expect(validate(parse(text)) ? [] : validate.errors).toEqual([]);
});

describe('the schema refuses, as the loader does', () => {
  test.each([
    ['an unknown key', `${minimal}portz: []`],
    ['a missing name', 'router: {}'],
    [
      'a prefix without length',
      `${minimal}proxy: { address: 2001:db8::1, senders: [{ prefix: "2001:db8::", format: standard-cnp }], ` +
        'accept-from: [2001:db8::/32] }',
    ],
    [
      'an unknown format',
      `${minimal}proxy: { address: 2001:db8::1, senders: [{ prefix: 2001:db8::/64, format: x }], ` +
        'accept-from: [2001:db8::/32] }',
    ],
    ['a size with a wrong unit', `${minimal}ports: [{ interface: eth1, k-max: 50kb }]`],
    ['a word where auto is meant', `${minimal}ports: [{ interface: eth1, k-max: automatic }]`],
    [
      'an unknown capability',
      `${minimal}notifications: { senders: [{ prefix: 2001:db8::/64, supports: [slow-cnp], order: [proxy] }] }`,
    ],
    ['an unknown model', `${minimal}srv6: { core-ports: [eth2], dscp: hose }`],
    ['a DSCP of seven bits', `${minimal}srv6: { core-ports: [eth2], dscp: { pipe: 64 } }`],
    ['a gobgpd without a port', `${minimal}bgp: { gobgp: { target: localhost } }`],
    ['a PEM file without its directory', `${minimal}bgp: { gobgp: { tls: { ca: ca.pem } } }`],
    ['an AS number of 33 bits', `${minimal}bgp: { domain: [4294967296] }`],
    ['a port number of 17 bits', `${minimal}code-points: { pnc-udp-port: 65536 }`],
  ])('%s', (_name, text) => {
    expect(loadIntent(text, 'cnpd.yaml').ok).toBe(false);
    expect(validate(parse(text))).toBe(false);
  });
});

test('every key is described, for the editor to show', () => {
  const bare: string[] = [];
  JSON.stringify(intentJsonSchema(), (key, value: unknown) => {
    if (key === 'properties')
      for (const [name, schema] of Object.entries(value as object))
        if (!(schema as { description?: string }).description) bare.push(name);
    return value;
  });
  expect(bare).toEqual([]);
});

test('every default is one that the schema takes', () => {
  const refused: unknown[] = [];
  let defaults = 0;
  JSON.stringify(intentJsonSchema(), (key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('default' in value) || key === 'properties') return value;
    defaults++;
    if (!ajv.compile(value)(value.default)) refused.push(value);
    return value;
  });
  expect(defaults).toBeGreaterThan(80);
  expect(refused).toEqual([]);
});
