// The OSPF preconditions against real ospfd and ospf6d: what they say is what is read, what configureFrr gives them
// they keep.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConfigureOptions, type RunCommand, configureFrr, runCommand } from '../../src/frr/configure.ts';
import { type FrrExpectations, examineFrr, frrExpectations } from '../../src/diagnosis/frr/examine.ts';
import { loadIntent } from '../../src/intent/load.ts';
import type { Intent } from '../../src/intent/intent.ts';
import { silentLog } from '../../src/model/log.ts';
import { FrrNamespace } from '../support/frr-namespace.ts';
import { contains, is, until } from '../support/until.ts';

const ROUTER = 'router: { name: leaf1 }\n';
const V2 = 'ospfv2: { router-id: 192.0.2.201, areas: [{ area: 0 }] }\n';
const V3 = 'ospfv3: { router-id: 192.0.2.201, areas: [{ area: 0 }] }\n';

function intent(yaml: string): Intent {
  const loaded = loadIntent(ROUTER + yaml, 'cnpd.yaml');
  if (!loaded.ok) throw new Error(loaded.error.map((e) => e.message).join('\n'));
  return loaded.value;
}
const expectationsOf = (yaml: string): FrrExpectations => frrExpectations(intent(yaml));

let frr: FrrNamespace;
let options: ConfigureOptions;
const run: RunCommand = (command, args, input) => runCommand(...frr.inside(command, args), input);
const modules = { run, say: () => undefined, log: silentLog };
const checks = async (yaml: string) =>
  (await examineFrr(options, expectationsOf(yaml))).filter((check) => check.state === 'missing');
const missing = async (yaml: string): Promise<string[]> =>
  (await checks(yaml)).map(({ id }) => id.replace(/^frr\./, ''));
const configure = async (yaml: string) => {
  const { applied, remaining } = await configureFrr(() => examineFrr(options, expectationsOf(yaml)), options, modules);
  return { applied: applied.map(({ line }) => line), remaining: remaining.map(({ id }) => id.replace(/^frr\./, '')) };
};
const typeInto = (...lines: string[]): void =>
  expect(frr.vtysh('configure terminal', ...lines)).toMatchObject({ status: 0 });

beforeAll(() => {
  frr = new FrrNamespace(`t-frr-ospf-${process.pid}`, ['zebra', 'staticd', 'ospfd', 'ospf6d']);
  options = { vtyDir: frr.vtyDir, save: false };
  for (const [name, peer] of [
    ['cnpd-ospf0', 'peer0'],
    ['cnpd-ospf6-0', 'peer6'],
    ['eth2', 'core'],
  ] as const) {
    frr.ip('link', 'add', name, 'type', 'veth', 'peer', 'name', peer);
    for (const end of [name, peer]) frr.ip('link', 'set', end, 'up');
  }
  frr.ip('addr', 'add', '169.254.89.0/31', 'dev', 'cnpd-ospf0');
  frr.ip('addr', 'add', '198.51.100.1/24', 'dev', 'eth2');
});
afterAll(async () => frr?.remove());

describe('ospfd', () => {
  test('without an instance there is nothing that cnpd could give', async () => {
    expect(await missing(V2)).toEqual(['ospfv2.instance']);
    expect((await configure(V2)).applied).toEqual([]);
  });

  test('a router without `capability opaque` and without cnpd’s lines misses exactly these; the lines of the interface are given, the capability is left to the operator', async () => {
    typeInto('router ospf', 'ospf router-id 192.0.2.1', 'exit', 'interface eth2', 'ip ospf area 0');
    expect(await missing(V2)).toEqual([
      'ospfv2.capability-opaque',
      'ospfv2.cnpd-ospf0.area',
      'ospfv2.cnpd-ospf0.point-to-point',
    ]);
    expect(await configure(V2)).toEqual({
      applied: ['ip ospf area 0.0.0.0', 'ip ospf network point-to-point'],
      remaining: ['ospfv2.capability-opaque'],
    });
    typeInto('router ospf', 'capability opaque');
    expect(await missing(V2)).toEqual([]);
  });

  test('an area mismatch is named, and nothing is changed', async () => {
    const other = V2.replace('area: 0', 'area: 0.0.0.1');
    expect(await checks(other)).toMatchObject([
      {
        id: 'frr.ospfv2.cnpd-ospf0.area',
        problem: 'cnpd-ospf0 is in area 0.0.0.0 in FRR and in area 0.0.0.1 in cnpd.yaml',
      },
    ]);
    expect(await configure(other)).toEqual({ applied: [], remaining: ['ospfv2.cnpd-ospf0.area'] });
  });

  test('cnpd’s interface alone in another area is moved to that of the router', async () => {
    typeInto('interface cnpd-ospf0', 'no ip ospf area', 'ip ospf area 7');
    expect(await configure(V2)).toEqual({ applied: ['no ip ospf area', 'ip ospf area 0.0.0.0'], remaining: [] });
    expect(await missing(V2)).toEqual([]);
  });

  test('an MTU that is not that of cnpd.yaml is seen as zebra sees it', async () => {
    frr.ip('link', 'set', 'cnpd-ospf0', 'mtu', '1400');
    await until('the MTU is seen', () => missing(V2), is(['ospfv2.cnpd-ospf0.mtu']));
    frr.ip('link', 'set', 'cnpd-ospf0', 'mtu', '1500');
    await until('nothing is missing', () => missing(V2), is([]));
  });

  test('other intervals are given to FRR, which then has both', async () => {
    const fast = V2.replace('201,', '201, hello-interval: 1s, dead-interval: 3s,');
    expect(await configure(fast)).toEqual({
      applied: ['ip ospf hello-interval 1', 'ip ospf dead-interval 3'],
      remaining: [],
    });
    expect(await configure(V2)).toEqual({
      applied: ['ip ospf hello-interval 10', 'ip ospf dead-interval 40'],
      remaining: [],
    });
  });

  test('a key is given, never shown, and the same on both sides from then on', async () => {
    const keyed = V2.replace('area: 0', 'area: 0, authentication: [{ key-id: 1, md5: hush }]');
    expect(JSON.stringify((await checks(keyed)).map(({ problem, remedy }) => [problem, remedy]))).not.toContain('hush');
    expect(await configure(keyed)).toEqual({
      applied: ['ip ospf message-digest-key 1 md5 hush', 'ip ospf authentication message-digest'],
      remaining: [],
    });
    expect(await missing(V2)).toEqual(['ospfv2.cnpd-ospf0.authentication']);
    typeInto('interface cnpd-ospf0', 'no ip ospf authentication', 'no ip ospf message-digest-key 1');
    expect(await missing(V2)).toEqual([]);
  });

  test('where `network` statements enable OSPF, one more does it for the link', async () => {
    typeInto(
      'interface cnpd-ospf0',
      'no ip ospf area',
      'exit',
      'interface eth2',
      'no ip ospf area',
      'exit',
      'router ospf',
      'network 198.51.100.0/24 area 0',
    );
    expect(await configure(V2)).toEqual({ applied: ['network 169.254.89.0/31 area 0.0.0.0'], remaining: [] });
    expect(frr.vtysh('show ip ospf interface cnpd-ospf0').output).toMatch(/Area 0\.0\.0\.0[^]*State Point-To-Point/);
  });
});

describe('ospf6d', () => {
  test('a router with OSPFv3 misses the lines of the interface and takes them', async () => {
    expect(await missing(V3)).toEqual(['ospfv3.instance']);
    typeInto('router ospf6', 'ospf6 router-id 192.0.2.1', 'exit', 'interface eth2', 'ipv6 ospf6 area 0');
    expect(await configure(V3)).toEqual({
      applied: ['ipv6 ospf6 area 0.0.0.0', 'ipv6 ospf6 network point-to-point'],
      remaining: [],
    });
    expect(await missing(V3)).toEqual([]);
  });

  test('cnpd’s interface alone in another area is moved to that of the router', async () => {
    typeInto('interface cnpd-ospf6-0', 'no ipv6 ospf6 area', 'ipv6 ospf6 area 7');
    expect(await configure(V3)).toEqual({ applied: ['no ipv6 ospf6 area', 'ipv6 ospf6 area 0.0.0.0'], remaining: [] });
    expect(await missing(V3)).toEqual([]);
  });

  test.each<[string, string, string, string[]]>([
    ['passive', 'ipv6 ospf6 passive', 'active', ['no ipv6 ospf6 passive']],
    [
      'another hello interval',
      'ipv6 ospf6 hello-interval 2',
      'timers',
      ['ipv6 ospf6 hello-interval 10', 'ipv6 ospf6 dead-interval 40'],
    ],
    ['another instance', 'ipv6 ospf6 instance-id 3', 'instance-id', ['ipv6 ospf6 instance-id 0']],
    ['an MTU of its own', 'ipv6 ospf6 ifmtu 1400', 'mtu', ['no ipv6 ospf6 ifmtu']],
  ])('%s is seen and mended', async (_name, line, id, lines) => {
    typeInto('interface cnpd-ospf6-0', line);
    expect(await missing(V3)).toEqual([`ospfv3.cnpd-ospf6-0.${id}`]);
    expect(await configure(V3)).toEqual({ applied: lines, remaining: [] });
  });

  describe('the way to END.CON', () => {
    const srv6 = V3 + 'srv6: { end-con: [{ sid: "2001:db8:c::1", locator: "2001:db8:c::/48" }], core-ports: [eth2] }\n';
    const hasWay = (ids: readonly string[]): boolean => !ids.includes('ospfv3.end-con');

    test('there is none at first; `redistribute static` alone makes none', async () => {
      expect(await missing(srv6)).toEqual(['ospfv3.end-con']);
      typeInto('router ospf6', 'redistribute static');
      expect(await missing(srv6)).toContain('ospfv3.end-con');
    });

    test('a static route of the locator, once it is advertised', async () => {
      typeInto('ipv6 route 2001:db8:c::/48 blackhole');
      await until('a way', () => missing(srv6), hasWay);
      typeInto('router ospf6', 'no redistribute static', 'exit', 'no ipv6 route 2001:db8:c::/48 blackhole');
      await until('no way any more', () => missing(srv6), contains('ospfv3.end-con'));
    });

    test('a prefix of an interface in an area', async () => {
      frr.ip('addr', 'add', '2001:db8:c::99/64', 'dev', 'eth2', 'nodad');
      await until('a way', () => missing(srv6), hasWay);
      frr.ip('addr', 'del', '2001:db8:c::99/64', 'dev', 'eth2');
      await until('no way any more', () => missing(srv6), contains('ospfv3.end-con'));
    });

    test('the lines that cnpctl doctor gives', async () => {
      const remedy = (await checks(srv6)).find(({ id }) => id === 'frr.ospfv3.end-con')!.remedy!;
      typeInto(...[...remedy.matchAll(/-c '([^']+)'/g)].slice(1).map(([, line]) => line!));
      expect(await missing(srv6)).toEqual([]);
      // And FRR does as they say: it advertises the SID's route as soon as the kernel has it.
      const advertised = () => frr.vtysh('show ipv6 ospf6 database as-external self-originated').output;
      frr.ip('route', 'add', '2001:db8:c::1/128', 'encap', 'seg6local', 'action', 'End', 'dev', 'eth2');
      await until('the route is advertised', advertised, contains('2001:db8:c::1/128'));
      expect(await missing(srv6)).toEqual([]);
      typeInto('router ospf6', 'no redistribute kernel');
    });
  });
});

describe('cnpctl doctor without a running cnpd', () => {
  const doctor = (yaml: string) => {
    const { status, items } = frr.doctor(ROUTER + yaml);
    return { status, frr: items.filter(({ id, state }) => id.startsWith('frr.') && state !== 'ok') };
  };

  test('finds both daemons in order, and names `capability opaque`, the area and the MTU with what mends them', async () => {
    await until('nothing is missing', () => missing(V2 + V3), is([]));
    expect(doctor(V2 + V3).frr).toEqual([]);
    typeInto('router ospf', 'no capability opaque');
    expect(doctor(V2).frr).toMatchObject([
      {
        id: 'frr.ospfv2.capability-opaque',
        remedy: expect.stringContaining("-c 'router ospf' -c 'capability opaque'"),
      },
    ]);
    typeInto('router ospf', 'capability opaque');
    expect(doctor(V3.replace('area: 0', 'area: 7')).frr).toMatchObject([
      { id: 'frr.ospfv3.cnpd-ospf6-0.area', remedy: 'set ospfv3.areas[0].area in cnpd.yaml to 0.0.0.0' },
    ]);
    expect(doctor(V2.replace('area: 0', 'area: 0, mtu: 9000')).frr).toMatchObject([
      { id: 'frr.ospfv2.cnpd-ospf0.mtu', remedy: 'ip link set cnpd-ospf0 mtu 9000' },
    ]);
  });

  test('an ospfd that does not run is reported, and the rest cannot be examined', async () => {
    await frr.stop('ospfd');
    const items = doctor(V2).frr;
    expect(items[0]).toMatchObject({ id: 'frr.ospfv2.ospfd', state: 'missing' });
    expect(new Set(items.slice(1).map(({ state }) => state))).toEqual(new Set(['unknown']));
    await expect(configureFrr(() => examineFrr(options, expectationsOf(V2)), options, modules)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('ospfd does not answer'),
    });
    frr.start('ospfd');
  });
});

// The last, because ospf6d 8.4.4 does not always outlive the removal of a key.
describe('a key of ospf6d', () => {
  test('is reported and not configured; with it, both sides authenticate alike', async () => {
    const keyed = V3.replace('area: 0', 'area: 0, authentication: [{ key-id: 1, hmac-sha-256: hush }]');
    expect(await configure(keyed)).toEqual({ applied: [], remaining: ['ospfv3.cnpd-ospf6-0.authentication'] });
    typeInto('interface cnpd-ospf6-0', 'ipv6 ospf6 authentication key-id 1 hash-algo hmac-sha-256 key hush');
    expect(await missing(keyed)).toEqual([]);
    expect(await missing(V3)).toEqual(['ospfv3.cnpd-ospf6-0.authentication']);
    expect(await missing(keyed.replace('hush', 'other'))).toEqual(['ospfv3.cnpd-ospf6-0.authentication']);
  });
});
