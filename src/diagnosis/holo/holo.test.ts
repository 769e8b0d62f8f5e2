import { describe, expect, test } from 'vitest';
import { type HoloFacts, gatherHoloFacts } from '../../holo/facts.ts';
import { BESIDE_RECORDED, FakeHolo, RECORDED } from '../../holo/northbound.fixture.ts';
import { isTree, merged, type Tree, type Value } from '../../holo/tree.ts';
import { load } from '../../intent/files.fixture.ts';
import { askedOf, checkHolo } from './examine.ts';

const TARGET = '127.0.0.1:50051';
const WARNED = ['holo.isis.database'];

/** What is not right, by ID. */
async function found(yaml = BESIDE_RECORDED, change: Tree = {}, more: Partial<HoloFacts> = {}) {
  const intent = load(yaml);
  const holo = new FakeHolo();
  holo.running = merged(RECORDED.config, change);
  const facts = await gatherHoloFacts(holo, askedOf(intent), () => Promise.resolve({ mtu: 1500 }));
  const checks = checkHolo(intent, TARGET, { ...facts, ...more });
  return Object.fromEntries(
    checks.filter(({ state, id }) => state !== 'ok' && !WARNED.includes(id)).map((c) => [c.id, c]),
  );
}

const isis = (config: Tree): Tree => protocol('ietf-isis:isis', 'ietf-isis:isis', config);
const ospf = (version: 2 | 3, config: Tree): Tree => protocol(`ietf-ospf:ospfv${version}`, 'ietf-ospf:ospf', config);
const protocol = (type: string, container: string, config: Tree): Tree => ({
  'ietf-routing:routing': {
    'control-plane-protocols': { 'control-plane-protocol': [{ type, name: 'core', [container]: config }] },
  },
});
const circuit = (config: Tree): Tree => isis({ interfaces: { interface: [{ name: 'cnpd-isis', ...config }] } });
const area = (version: 2 | 3, config: Tree): Tree =>
  ospf(version, { areas: { area: [{ 'area-id': '0.0.0.0', ...config }] } });
const port = (version: 2 | 3, config: Tree): Tree =>
  area(version, { interfaces: { interface: [{ name: version === 2 ? 'cnpd-ospf0' : 'cnpd-ospf6-0', ...config }] } });

test('what Holo 0.9 reports of a router that is configured lacks nothing, in all three protocols', async () => {
  expect(await found()).toEqual({});
});

test('operators are told what stops IS-IS in Holo', async () => {
  const intent = load(BESIDE_RECORDED);
  const facts = await gatherHoloFacts(new FakeHolo(), askedOf(intent));
  expect(checkHolo(intent, TARGET, facts).find(({ id }) => id === 'holo.isis.database')).toMatchObject({
    state: 'warning',
    remedy: expect.stringContaining('cnpctl show isis database'),
  });
});

/** The same tree with another value in the place of one, for each of its values. */
function* spoiled(value: Value, by: Value): Generator<Value> {
  yield by;
  if (typeof value !== 'object') return;
  for (const [name, inner] of Object.entries(value))
    for (const other of spoiled(inner, by))
      yield Array.isArray(value)
        ? (value as readonly Value[]).map((one, i) => (String(i) === name ? other : one))
        : { ...value, [name]: other };
}

test.each([null, 5, 'text', [null], {}, [[]]])(
  '%j in place of anything that Holo says: checks, and no error',
  async (by) => {
    const intent = load(BESIDE_RECORDED);
    const link = (): Promise<{ mtu: number }> => Promise.resolve({ mtu: 1500 });
    let trees = 0;
    for (const tree of spoiled(RECORDED.config, by as Value)) {
      if (!isTree(tree)) continue;
      const holo = new FakeHolo();
      holo.running = tree;
      const checks = checkHolo(intent, TARGET, await gatherHoloFacts(holo, askedOf(intent), link));
      expect(checks.length).toBeGreaterThan(10);
      trees++;
    }
    expect(trees).toBeGreaterThan(100);
  },
);

/** With other areas in OSPFv2. */
const inOspfv2 = (area: string): string => BESIDE_RECORDED.replace(/(ospfv2.*)area: 0/, `$1${area}`);

describe('each finding', () => {
  const cases: readonly (readonly [
    string,
    { yaml?: string; change?: Tree; more?: Partial<HoloFacts> },
    string,
    object,
  ])[] = [
    ['an old Holo', { more: { version: '0.8.1' } }, 'holo.version', { code: 'version-old' }],
    [
      'broadcast',
      { change: circuit({ 'interface-type': 'broadcast' }) },
      'holo.isis.point-to-point',
      { code: 'broadcast' },
    ],
    ['passive', { change: circuit({ passive: true }) }, 'holo.isis.active', { code: 'passive' }],
    ['another level', { change: isis({ 'level-type': 'level-1' }) }, 'holo.isis.level', { code: 'level-differs' }],
    [
      'another circuit level',
      { change: circuit({ 'level-type': 'level-1' }) },
      'holo.isis.level',
      { change: circuit({ 'level-type': 'level-2' }) },
    ],
    [
      'narrow metrics',
      { change: isis({ 'metric-type': { value: 'old-only' } }) },
      'holo.isis.metrics',
      { code: 'narrow-metrics' },
    ],
    ['an LSP too large', { change: isis({ 'lsp-mtu': 1498 }) }, 'holo.isis.mtu', { code: 'mtu-small' }],
    [
      'padding above 1500 bytes',
      { more: { links: new Map([['cnpd-isis', { mtu: 9000 }]]) } },
      'holo.isis.hello-padding',
      { change: circuit({ 'hello-padding': { enabled: false } }) },
    ],
    [
      "Holo's system ID",
      { yaml: BESIDE_RECORDED.replace('0000.0000.c001', '0000.0000.0001') },
      'holo.isis.system-id',
      { code: 'system-id-taken' },
    ],
    [
      'another area',
      { yaml: BESIDE_RECORDED.replace('49.0001', '49.0002, level: 1-2'), change: isis({ 'level-type': 'level-all' }) },
      'holo.isis.area',
      { problem: 'cnpd is in area 49.0002, Holo in 49.0001' },
    ],
    [
      'another long area',
      {
        yaml: BESIDE_RECORDED.replace('area: 49.0001', 'area: 49.0001.0002.0003.04, level: 1-2'),
        change: isis({ 'level-type': 'level-all' }),
      },
      'holo.isis.area',
      { problem: 'cnpd is in area 49.0001.0002.0003.04, Holo in 49.0001' },
    ],
    [
      'down to Holo',
      { more: { states: new Map([['cnpd-ospf6-0', 'down']]) } },
      'holo.ospfv3.cnpd-ospf6-0.alive',
      { code: 'interface-dead', remedy: expect.stringContaining('restart holod') },
    ],
    [
      "Holo's router ID",
      { change: ospf(2, { 'explicit-router-id': '192.0.2.201' }) },
      'holo.ospfv2.instance',
      { code: 'router-id-taken' },
    ],
    [
      'other timers',
      { change: port(2, { 'dead-interval': 40 }) },
      'holo.ospfv2.cnpd-ospf0.timers',
      { code: 'timers-differ', problem: 'cnpd-ospf0: dead-interval is 40 s in Holo and 12 s in cnpd.yaml' },
    ],
    [
      'a stub area',
      { change: area(2, { 'area-type': 'stub-area' }) },
      'holo.ospfv2.cnpd-ospf0.area-type',
      { code: 'area-type' },
    ],
    [
      'another MTU',
      { more: { links: new Map([['cnpd-ospf0', { mtu: 1400 }]]) } },
      'holo.ospfv2.cnpd-ospf0.mtu',
      { code: 'mtu-differs' },
    ],
    [
      'another instance ID',
      { change: ospf(3, { 'holo-ospf:instance-id': 1 }) },
      'holo.ospfv3.cnpd-ospf6-0.instance-id',
      { code: 'instance-id-differs' },
    ],
    [
      'an interface in another area',
      { yaml: inOspfv2('area: 1') },
      'holo.ospfv2.cnpd-ospf0.area',
      { code: 'area-differs' },
    ],
    [
      'an area that Holo lacks',
      { yaml: inOspfv2('area: 1, interface: cnpd-new') },
      'holo.ospfv2.cnpd-new.area',
      { code: 'area-unknown', remedy: 'set ospfv2.areas[0].area in cnpd.yaml to one of 0.0.0.0' },
    ],
    [
      'an interface that Holo does not run OSPF on',
      { yaml: inOspfv2('area: 0, interface: cnpd-new') },
      'holo.ospfv2.cnpd-new.area',
      { code: 'not-enabled', problem: 'OSPFv2 is not enabled on cnpd-new', change: expect.anything() },
    ],
  ];
  test.each(cases)('%s', async (_what, { yaml, change, more }, id, expected) => {
    expect((await found(yaml, change, more))[id]).toMatchObject(expected);
  });
});

describe('keys', () => {
  const yaml = BESIDE_RECORDED.replace(
    'area: 49.0001',
    'area: 49.0001, authentication: { interface: { hmac-md5: s3cret }, domain: { hmac-md5: d0main } }',
  );
  const hello = { 'hello-authentication': { key: 's3cret', 'crypto-algorithm': 'holo-key-chain:hmac-md5' } };
  const domain = { authentication: { key: 'd0main', 'crypto-algorithm': 'holo-key-chain:hmac-md5' } };

  test('that of the link is given, that of the domain reported; neither is shown', async () => {
    const missing = await found(yaml);
    expect(missing['holo.isis.authentication-interface']).toMatchObject({
      code: 'key-only-in-cnpd',
      change: circuit(hello),
    });
    expect(missing['holo.isis.authentication-domain']).toMatchObject({ code: 'key-only-in-cnpd' });
    expect(missing['holo.isis.authentication-domain']).not.toHaveProperty('change');
    expect(
      Object.values(missing)
        .map(({ problem, remedy }) => `${problem} ${remedy}`)
        .join(),
    ).not.toMatch(/s3cret|d0main/);
  });

  test('the same ones agree; keyed MD5 is another algorithm than HMAC-MD5', async () => {
    expect(await found(yaml, merged(circuit(hello), isis(domain)))).toEqual({});
    const keyed = {
      'hello-authentication': { ...hello['hello-authentication'], 'crypto-algorithm': 'ietf-key-chain:md5' },
    };
    expect(await found(yaml, merged(circuit(keyed), isis(domain)))).toMatchObject({
      'holo.isis.authentication-interface': { code: 'keys-differ' },
    });
  });

  test('a level has its own before those of all; a key chain is left to the operator', async () => {
    const ofLevel = {
      authentication: { 'level-2': domain.authentication, key: 'other', 'crypto-algorithm': 'holo-key-chain:hmac-md5' },
    };
    expect(await found(yaml, merged(circuit(hello), isis(ofLevel)))).toEqual({});
    expect(await found(BESIDE_RECORDED, circuit({ 'hello-authentication': { 'key-chain': 'k' } }))).toMatchObject({
      'holo.isis.authentication-interface': { state: 'warning', code: 'key-chain' },
    });
  });

  test.each([2, 3] as const)('OSPFv%i: the first of cnpd.yaml signs', async (version) => {
    const [algorithm, id] = version === 2 ? ['md5', 'ospfv2-key-id'] : ['hmac-sha-256', 'ospfv3-sa-id'];
    const keys = `authentication: [{ key-id: 7, ${algorithm}: s3cret }]`;
    const both = BESIDE_RECORDED.replaceAll(new RegExp(`(ospfv${version}.*area: 0)`, 'g'), `$1, ${keys}`);
    const [finding] = Object.values(await found(both));
    expect(finding).toMatchObject({ code: 'key-only-in-cnpd' });
    const leaves = {
      [id]: 7,
      [`ospfv${version}-key`]: 's3cret',
      [`ospfv${version}-crypto-algorithm`]: `ietf-key-chain:${algorithm}`,
    };
    expect(finding!.change).toEqual(port(version, { authentication: leaves }));
    expect(await found(both, finding!.change)).toEqual({});
  });
});

describe('an interface that Holo does not run', () => {
  const without: Tree = {
    ...RECORDED.config,
    'ietf-routing:routing': isis({
      'system-id': '0000.0000.0001',
      'area-address': ['49.0001'],
      'level-type': 'level-2',
    })['ietf-routing:routing']!,
  };
  const yaml = BESIDE_RECORDED.replace(/ospfv[23].*\n/g, '');
  const checks = (mtu: number | null) => {
    const links = new Map([['cnpd-isis', mtu === null ? null : { mtu }]]);
    return checkHolo(load(yaml), TARGET, { version: '0.9.0', config: without, states: new Map(), links });
  };

  test('is enabled once it exists, and not before: Holo would not read its addresses', () => {
    const byId = (mtu: number | null) => checks(mtu).find(({ id }) => id === 'holo.isis.enabled');
    expect(byId(null)).toMatchObject({ state: 'missing', remedy: expect.stringContaining('start cnpd first') });
    expect(byId(null)).not.toHaveProperty('change');
    expect(merged(without, byId(1500)!.change!)).toMatchObject(
      circuit({
        'interface-type': 'point-to-point',
        'level-type': 'level-2',
        'address-families': { 'address-family-list': [{ 'address-family': 'ipv6' }] },
      }),
    );
  });
});

test('of a Holo that does not answer everything else is unknown', () => {
  const checks = checkHolo(load(BESIDE_RECORDED), TARGET, {
    error: 'ECONNREFUSED',
    states: new Map(),
    links: new Map(),
  });
  const [first, ...rest] = checks;
  expect(first).toMatchObject({
    state: 'missing',
    code: 'daemon-silent',
    problem: `Holo does not answer at ${TARGET} (ECONNREFUSED)`,
  });
  expect(new Set(rest.map(({ state }) => state))).toEqual(new Set(['unknown', 'warning']));
});
