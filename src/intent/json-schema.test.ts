import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { intentJsonSchema } from './json-schema.ts';
import { loadIntent } from './load.ts';

// A validator that shares nothing with the code under test; it comes with the linter.
type Validate = ((data: unknown) => boolean) & { errors?: unknown };
const Ajv = createRequire(import.meta.url)('ajv') as new (options: object) => { compile(schema: object): Validate };
const validate = new Ajv({ strict: false, allErrors: true, unknownFormats: 'ignore' }).compile(intentJsonSchema());

const minimal = 'router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\n';
const accepted: readonly (readonly [string, string])[] = [
  ['docs/cnpd.yaml', readFileSync(new URL('../../docs/cnpd.yaml', import.meta.url), 'utf8')],
  ['the least', minimal],
  ['a name that YAML takes for a number', 'router: { name: 7 }'],
  ['a name that YAML takes for a boolean', 'router: { name: true }'],
  ['bare bytes', `${minimal}ports: [{ interface: eth1, k-min: 1000, k-max: 2000, rate: 1.5k/s }]`],
  ['an area that YAML takes for a number', `${minimal}isis: { system-id: 0000.0000.c001, area: 49, level: 1 }`],
  ['switches', `${minimal}isis: { enabled: false, system-id: 0000.0000.c001, area: 49.0001 }\nports: [{ interface: eth1, ecn: off, k-max: 50 kB }]`],
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
    ['a prefix without length', `${minimal}proxy: { address: 2001:db8::1, senders: [{ prefix: "2001:db8::", format: standard-cnp }], accept-from: [2001:db8::/32] }`],
    ['an unknown format', `${minimal}proxy: { address: 2001:db8::1, senders: [{ prefix: 2001:db8::/64, format: x }], accept-from: [2001:db8::/32] }`],
    ['a size with a wrong unit', `${minimal}ports: [{ interface: eth1, k-max: 50kb }]`],
    ['a port number of 17 bits', `${minimal}code-points: { pnc-udp-port: 65536 }`],
  ])('%s', (_name, text) => {
    expect(loadIntent(text, 'cnpd.yaml').ok).toBe(false);
    expect(validate(parse(text))).toBe(false);
  });
});

test('every key is described, for the editor to show', () => {
  const bare: string[] = [];
  JSON.stringify(intentJsonSchema(), (key, value: unknown) => {
    if (key === 'properties') for (const [name, schema] of Object.entries(value as object)) if (!(schema as { description?: string }).description) bare.push(name);
    return value;
  });
  expect(bare).toEqual([]);
});
