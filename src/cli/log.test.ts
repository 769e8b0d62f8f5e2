import { expect, test } from 'vitest';
import { run } from './fake-cnpd.fixture.ts';

test('cnpctl log shows the level of each component and where it comes from', async () => {
  const { code, out } = await run('log');
  expect(code).toBe(0);
  expect(out).toMatch(/^COMPONENT +LEVEL +FROM\nbgp +info +cnpd.yaml\n/);
});

test('cnpctl log COMPONENT=LEVEL sets it; as JSON too', async () => {
  expect((await run('log isis=debug bgp=error')).out).toMatch(
    /^bgp +error +cnpctl log\n[^]*^isis +debug +cnpctl log$/m,
  );
  const { out } = await run('-o json log isis=debug');
  expect(JSON.parse(out)).toContainEqual({ component: 'isis', level: 'debug', set: true });
});

test.each([
  ['log isis', 2, 'COMPONENT=LEVEL'],
  ['log isis=', 2, 'COMPONENT=LEVEL'],
  ['log a=b=c', 2, 'COMPONENT=LEVEL'],
  ['log isiss=debug', 4, 'no component isiss: there are all, bgp'],
  ['log isis=loud', 4, 'no level loud: there are debug, info, warn, error, file'],
])('cnpctl %s: exit code %i', async (line, code, text) => {
  expect(await run(line)).toMatchObject({ code, err: expect.stringContaining(text) });
});
