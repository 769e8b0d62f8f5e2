import { expect, test } from 'vitest';
import { BESIDE_RECORDED, FakeHolo } from '../../holo/northbound.fixture.ts';
import { load } from '../../intent/files.fixture.ts';
import { reachedBy } from './frr.ts';
import { holoSuite } from './holo.ts';
import { suiteBeside } from './suite.ts';

const dependencies = { say: () => undefined, log: undefined as never };
const besideNone = BESIDE_RECORDED.replace('suite: holo', 'suite: none');

test.each(['frr', 'holo', 'none'] as const)('the file names the suite: %s', (name) => {
  const suite = suiteBeside(load(BESIDE_RECORDED.replace('holo', name)), {});
  expect([suite.name, suite.configuredAfterStart]).toEqual([name, name === 'holo']);
});

test.each(['frr', 'holo'] as const)('without a carrier that needs it %s is not asked', async (name) => {
  const [only, ...more] = await suiteBeside(load(`router: { name: r, suite: ${name} }`), {}).examine();
  expect([only!.state, more]).toEqual(['ok', []]);
});

test('beside FRR elsewhere, remedies reach that one', async () => {
  const intent = load(BESIDE_RECORDED.replace('holo', 'frr').replace(/ospfv.*\n/g, ''));
  const suite = suiteBeside(intent, { vtyDir: '/nowhere', vtysh: '/opt/frr/bin/vtysh' });
  const checks = await suite.examine();
  expect(checks[0]).toMatchObject({ id: 'frr.isisd', state: 'missing' });
  const remedy = "vtysh -c 'configure terminal' -c 'router ospf'";
  const check = { id: 'a', claim: 'a', state: 'missing', remedy } as const;
  expect(reachedBy({ vtyDir: '/nowhere', vtysh: '/opt/frr/bin/vtysh' }, check).remedy).toBe(
    "/opt/frr/bin/vtysh --vty_socket /nowhere -c 'configure terminal' -c 'router ospf'",
  );
  expect(reachedBy({}, check).remedy).toBe(remedy);
  await expect(suite.configure({ save: false }, dependencies)).rejects.toMatchObject({ code: 'unreachable' });
});

test('beside Holo the connection is closed, whatever becomes of it', async () => {
  let closed = 0;
  const holo = new FakeHolo();
  holo.close = () => void closed++;
  const suite = holoSuite(load(BESIDE_RECORDED), 't', () => holo);
  expect((await suite.examine()).find(({ id }) => id === 'holo.northbound')?.state).toBe('ok');
  holo.silent = true;
  await expect(suite.configure({ save: false }, dependencies)).rejects.toMatchObject({ code: 'unreachable' });
  expect(closed).toBe(2);
});

test('beside another daemon doctor says what it must be configured to, and finds no fault in it', async () => {
  const suite = suiteBeside(load(besideNone), {});
  const checks = await suite.examine();
  expect(checks.map(({ id, state }) => `${id} ${state}`)).toEqual([
    'suite.isis.cnpd-isis warning',
    'suite.ospfv2.cnpd-ospf0 warning',
    'suite.ospfv3.cnpd-ospf6-0 warning',
  ]);
  expect(checks[0]!.remedy).toBe(
    'configure IS-IS for IPv6 on cnpd-isis, point-to-point, three-way handshake, level 2; ' +
      'a system ID other than 0000.0000.c001; LSPs and padded hellos of at most 1500 bytes',
  );
  expect(checks[1]!.remedy).toMatch(
    /OSPFv2 on cnpd-ospf0, area 0.0.0.0.*hello 3 s, dead 12 s, MTU 1500; address 169.254.89.0\/31/,
  );
  await expect(suite.configure({ save: false }, dependencies)).rejects.toMatchObject({ code: 'refused' });
  const [level1] = await suiteBeside(load(besideNone.replace('49.0001', '49.0001, level: 1')), {}).examine();
  expect(level1!.remedy).toContain('level 1; area 49.0001; ');
});
