import { describe, expect, test } from 'vitest';
import { formatIntentErrors } from './errors.ts';
import { loadIntent } from './load.ts';
import { cnpdSchema } from './schema.ts';
import { hiddenFrom } from './secrets.ts';
import { nearest } from './words.ts';

const render = (text: string): string => {
  const result = loadIntent(text, 'cnpd.yaml');
  return result.ok ? '' : formatIntentErrors(result.error, text);
};

test('an error shows its place, its line and a caret', () => {
  expect(render('router:\n  name: r1\nlog: { level: loud }\n')).toBe(
    'cnpd.yaml:3:15: log.level: found "loud"; allowed: one of debug, info, warn, error\n' +
      '    3 | log: { level: loud }\n' +
      '      |               ^\n',
  );
});

test('the caret is in the right place in a long line', () => {
  const text = `router: { name: r1 } ${' '.repeat(500)}\nlog: {${' '.repeat(400)}level: loud }\n`;
  const [, line, caret] = render(text).split('\n');
  expect(line!.length).toBeLessThan(200);
  expect(line!.slice(caret!.indexOf('^'))).toMatch(/^loud/);
});

test('control characters of the file do not reach the terminal', () => {
  const text = render('router: { name: "a\u001b[31mb", "\u0007bell": 1 }\n').replaceAll('\n', '');
  // oxlint-disable-next-line no-control-regex -- they are the subject
  expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});

describe('keys of authentication are never repeated', () => {
  const head = 'router: { name: r1 }\nisis:\n  system-id: 0000.0000.c001\n  area: 49.0001\n  authentication:\n';
  test.each<readonly [string, string]>([
    ['a bad key', `${head}    domain: { hmac-md5: s\u00e9cret-one }\n`],
    ['a bad key on a line of its own', `${head}    domain:\n      hmac-md5:\n        s\u00e9cret-one\n`],
    ['an error beside the key', `${head}    domain: { hmac-md5: secret-one, secret: x }\n`],
    ['a key given twice', `${head}    domain:\n      hmac-md5: secret-one\n      hmac-md5: secret-two\n`],
    ['broken YAML in the line', `${head}    domain: { hmac-md5: "secret-one }\n`],
    ['a key in place of a mapping', `${head.trimEnd()} { domain: secret-one }\n`],
    ['a key in place of the whole section', `${head.trimEnd()} secret-one\n`],
    ['a key in a list', `${head}    domain: [ secret-one ]\n`],
    ['a misspelled name', `${head}    domain: { hmac_md5: secret-one }\n`],
    ['a misspelled name and a line of its own', `${head}    domian:\n      hmac_md5:\n        secret-one\n`],
    ['a name one level too high', `${head}    hmac-md5: secret-one\n`],
    ['a misspelled section', `${head.replace('authentication', 'authentification')}    domain: secret-one\n`],
    ['a section in one line', 'isis: { level: 7, authentication: { domain: secret-one } }\n'],
    ['a name outside the section', 'isis:\n  hmac-md5: secret-one\n'],
    ['no space before the key', `${head}    domain: { hmac-md5:secret-one }\n`],
    ['no space before the key, in a line of its own', `${head}    domain:\n      hmac-md5:secret-one\n`],
    ['a name without a value, twice', `${head}    domain: { secret-one, secret-one }\n`],
    [
      'a key that YAML reads as a comment',
      `${head}    domain: { hmac-md5:\n      #secret-one\n      }\n    domain: x #secret-one\n`,
    ],
    ['a key that YAML reads as an alias', `${head}    domain: { hmac-md5: *secret-one }\n`],
    ['a key that YAML reads as a tag', `${head}    domain: { hmac-md5: !secret-one }\n`],
    ['a key that YAML reads as an anchor', `${head}    domain: { hmac-md5: &secret-one }\n`],
    ['a key that no YAML scalar may begin with', `${head}    domain: { hmac-md5: @secret-one }\n`],
    ['broken YAML in the line after', `${head}    domain: {\n  hmac-md5:\nsecret-one ] }\n`],
    ['brackets around lines that are not indented', 'isis: {\n   authentication:\n {\n domain: secret-one } }\n'],
    ['brackets that open in the line of the section', `${head.trimEnd()} {\n   domain:\n   secret-one }\n`],
    ...['psk', 'keys', 'pasword', 'token', 'hmk'].flatMap((name) => [
      [
        `a name that was meant to be hmac-key (${name})`,
        `stamp:\n  reflector: on\n  ${name}: secret-one\n`,
      ] as readonly [string, string],
      [`the same in one line (${name})`, `stamp: { reflector: on, ${name}: secret-one, prot: 3 }\n`] as readonly [
        string,
        string,
      ],
      [`the same in a section that was meant to be stamp (${name})`, `stmp: { ${name}: secret-one }\n`] as readonly [
        string,
        string,
      ],
      [`the same in the place of a section (${name})`, `${name}: secret-one\n`] as readonly [string, string],
      [`the same twice (${name})`, `stamp:\n  ${name}: secret-one\n  ${name}: secret-one\n`] as readonly [
        string,
        string,
      ],
      [`the same in an area (${name})`, `ospfv2:\n  areas:\n    - area: 0\n      ${name}: secret-one\n`] as readonly [
        string,
        string,
      ],
      [`no colon before the key (${name})`, `stamp:\n  reflector: on\n  ${name} secret-one\n`] as readonly [
        string,
        string,
      ],
      [`an equals sign before the key (${name})`, `stamp:\n  ${name}= secret-one\n`] as readonly [string, string],
      [`no space before the key (${name})`, `stamp:\n  ${name}:secret-one\n`] as readonly [string, string],
      [`a key behind the name of another (${name})`, `stamp:\n  reflector: ${name}: secret-one\n`] as readonly [
        string,
        string,
      ],
    ]),
    ['no colon before the key', 'stamp:\n  reflector: on\n  hmac-key secret-one\n'],
    ['a key in the place of its section', 'stamp: secret-one\n'],
    ['a key that YAML reads as a tag, under an unknown name', 'stamp:\n  psk:\n    - !tag secret-one\n'],
    ['a block scalar with a bad header', `${head}    domain:\n      hmac-md5: |secret-one\n`],
  ])('%s', (_claim, text) => {
    const shown = render(text);
    expect(shown).toContain('cnpd.yaml:');
    expect(shown).not.toMatch(/cret-/);
  });
});

describe('a key in the place of a name is not repeated', () => {
  const area = 'ospfv2:\n  router-id: 1.1.1.1\n  areas:\n    - area: 0\n      authentication:\n';
  const refused = 'router: { name: r1 }\n';
  test.each<readonly [string, string]>([
    ['of a list item', `${area}        - secret-one: 1\n`],
    ['of a list item in brackets', `${area}        - { secret-one: 1 }\n`],
    ['in one line', 'ospfv2: { areas: [{ area: 0, authentication: [{ secret-one: 1 }] }] }\n'],
    ['of a mapping', 'isis:\n  authentication:\n    secret-one: { hmac-md5: x }\n    domain: { secret-two: 1 }\n'],
    ['of an alias', `${area}        - secret-one: *a\n`],
    ['twice', `${area}        - secret-one: 1\n          secret-one: 1\n`],
    ['a complex one', `${area}        - ? [secret-one]\n          : 1\n`],
    ['a complex one of a section', 'stamp:\n  ? [secret-one]\n  : 1\n'],
    ['a complex one in its simple form', 'stamp:\n  [secret-one]: 1\n'],
    ['a complex one in brackets', 'isis: { level: 7, ? { a: secret-one } : 1 }\n'],
    ['a complex one of the file', '? [secret-one]\n: 1\n'],
  ])('%s', (_claim, text) => {
    const shown = render(refused + text);
    expect(shown).toContain('cnpd.yaml:');
    expect(shown).not.toMatch(/cret-/);
  });

  test.each<readonly [string, string]>([
    ['in quotes', 'bgp:\n  gobgp: { target: "user:secret-one@host:50051" }\n'],
    ['beside another mistake', 'bgp:\n  gobgp: { target: user:secret-one@host:50051, foo: 1 }\n'],
    ['with a scheme, and an @ in it', 'bgp:\n  gobgp: { target: "grpc://user:se@cret-one@host:50051" }\n'],
    ['in a line of its own', 'bgp:\n  gobgp:\n    target:\n      user:secret-one@host:50051\n'],
    ['under a misspelled name', 'bgp: { gobgp: { targt: "user:secret-one@host:50051" } }\n'],
    ['in a list', 'bgp: { gobgp: { target: [user:secret-one@host:50051] } }\n'],
  ])('the password in front of a host, %s', (_claim, text) => {
    const shown = render(refused + text);
    expect(shown).toContain('cnpd.yaml:');
    expect(shown).not.toMatch(/cret-/);
  });

  test('the suggested name is still shown, and of a key ID the number', () => {
    expect(render('isis: { authentication: { intreface: { hmac-md5: x } } }\n')).toContain('did you mean "interface"?');
    expect(render(`${area}        - { key-id: 300, md5: secret-one }\n`)).toContain('key-id: found "300"; allowed: a');
    expect(render(`${area}        - { key-id: secret-one, md5: secret-one }\n`)).toContain('key-id: found <hidden>');
    expect(render('bgp: { gobgp: { target: "u:p@host:50051" } }\n')).toContain('found "<hidden>@host:50051"');
  });
});

test('under authentication the names that other configurations have are shown, and nothing behind them', () => {
  const shown = render(
    'router: { name: r1 }\nisis:\n  authentication: { interface: { type: secret-one, password: secret-two, hunter2: 1 } }\n',
  );
  expect(shown).toContain('isis.authentication.interface.type: unknown key "type"; allowed: hmac-md5');
  expect(shown).toContain('unknown key "password"');
  expect(shown).toContain('| ' + '  authentication: { interface: { type: <hidden>\n');
  expect(shown).not.toMatch(/cret-|hunter2/);
});

test.each(['systemid', 'system_id', 'sytem-id', 'interfaec', 'Level'])('%s hides nothing of its line', (name) => {
  const shown = render(`router: { name: r1 }\nisis: { ${name}: 0000.0000.c001, area: 49.0001, level: two }\n`);
  const [line, caret] = shown.slice(shown.indexOf('isis.level: found')).split('\n').slice(1);
  expect(line!.slice(caret!.indexOf('^'))).toBe('two }');
});

test.each([
  'psk',
  'keys',
  'pasword',
  'token',
  'hmk',
  'passphrase',
  'pwd',
  'community',
  'credential',
  'shared',
  'phrase',
])('behind %s the line is hidden', (name) => {
  expect(render(`router: { name: r1 }\nisis: { level: two, ${name}: secret-one }\n`)).not.toContain('cret-');
});

test('a second document is refused in words of cnpd', () => {
  expect(render('router: { name: a }\n---\nrouter: { name: b }\n')).toMatch(
    /^cnpd\.yaml:2:1: a second YAML document begins here: cnpd\.yaml is one document/,
  );
});

test('what is no key is shown, in the sections that have keys too', () => {
  expect(render('stamp:\n  reflector: maybe\n  accept-from: [2001:db8::1/48]\n')).toMatch(
    /\| {3}reflector: maybe\n[^]*\| {3}accept-from: \[2001:db8::1\/48\]\n/,
  );
});

test('a line with a key shows its names, and the caret is where hiding begins', () => {
  const text =
    'router: { name: r1 }\nisis:\n  system-id: 0000.0000.c001\n  area: 49.0001\n  authentication:\n' +
    '    domain: secret\n  level: 7\n';
  expect(render(text)).toBe(
    'cnpd.yaml:6:13: isis.authentication.domain: found <hidden>; allowed: a mapping with the keys hmac-md5\n' +
      '    6 |     domain: <hidden>\n' +
      '      |             ^\n\n' +
      'cnpd.yaml:7:10: isis.level: found "7"; allowed: one of 1, 2, 1-2\n' +
      '    7 |   level: 7\n' +
      '      |          ^\n',
  );
});

test.each([
  ['port', 'ports'],
  ['prots', 'ports'],
  ['Router', 'router'],
  ['border_ports', 'border-ports'],
  ['boarder-ports', 'border-ports'],
  ['isi', 'isis'],
  ['xyz', undefined],
  ['', undefined],
  ['p'.repeat(1000), undefined],
  // Two neighbors exchanged, one letter more, less or other: one slip each, and one in three letters is forgiven.
  ['oprts', 'ports'],
  ['sports', 'ports'],
  ['orts', 'ports'],
  ['parts', 'ports'],
  ['optrs', undefined],
  ['parks', undefined],
  ['lgo', 'log'],
  ['lgoo', undefined],
  ['bordr-prts', 'border-ports'],
  ['order-port', 'border-ports'],
  ['bodre-potrs', 'border-ports'],
  ['xrder-pxrtx', 'border-ports'],
  ['xxder-pxxtx', undefined],
])('%j is near %j', (word, expected) => {
  expect(nearest(word, ['router', 'isis', 'proxy', 'ports', 'border-ports', 'log'])).toBe(expected);
});

test('whatever section comes after broken keys of authentication is shown again', () => {
  for (const name of Object.keys(cnpdSchema.shape)) {
    const text = `isis:\n  authentication: { domain: secret-one\n${name}:\n`;
    const lines = text.split('\n');
    expect({ name, hidden: hiddenFrom(lines, false)[2] }).toEqual({ name, hidden: Infinity });
  }
});
