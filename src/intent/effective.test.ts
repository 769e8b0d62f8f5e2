import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ShownConfig } from '../model/config-change.ts';
import { eventLoopWork, finish } from '../model/work.ts';
import { shownConfig } from './effective.ts';
import { ROUTER } from './files.fixture.ts';
import { loadIntent } from './load.ts';

const work = eventLoopWork();
const shown = (text: string): Promise<ShownConfig> => finish(work, shownConfig(text), 50);

const example = readFileSync(new URL('../../docs/cnpd.yaml', import.meta.url), 'utf8');

test('defaults are there and marked, what is declared is not marked', async () => {
  const { text, tree, defaults } = await shown(
    `${ROUTER}ports: [{ interface: eth2, k-max: 100kB }]\nlog: { level: warn }\n`,
  );
  expect(tree).toMatchObject({
    ports: [{ interface: 'eth2', 'k-max': '100kB', ecn: expect.any(String) }],
    gnmi: { socket: '/run/cnpd/gnmi.sock' },
  });
  expect(defaults).toContain('ports[0].ecn');
  expect(defaults).toContain('gnmi.socket');
  expect(defaults).not.toContain('log.level');
  expect(text).toMatch(/^log: \{ level: warn \}$/m);
  expect(text).toMatch(/^ {2}socket: \/run\/cnpd\/gnmi.sock # default$/m);
  expect(text).toMatch(/^ {2}- interface: eth2$/m);
});

test('each entry of a long list is a step of its own, in each pass', () => {
  const ports = Array.from({ length: 100 }, (_, i) => `  - { interface: eth${i}, k-max: 100kB }\n`);
  const steps = shownConfig(`${ROUTER}ports:\n${ports.join('')}`);
  let taken = 0;
  while (!steps.next().done) taken++;
  expect(taken).toBeGreaterThan(3 * ports.length);
});

test('what is shown means what is in force, when its secrets are put back', async () => {
  const { text } = await shown(example);
  const secrets = /(?:hmac-[a-z0-9-]+|md5): (?!\{)("[^"]*"|[^\s,}#]+)/g;
  expect([...example.matchAll(secrets)].length).toBeGreaterThan(2);
  for (const [, secret] of example.matchAll(secrets)) expect(text).not.toContain(secret);
  expect(text).toContain('<hidden>');
  expect((await shown(ROUTER)).text).not.toContain('<hidden>');
  const plain = `${ROUTER}ports: [{ interface: eth2, k-max: 100kB }]\nstamp: { reflector: on, accept-from: [2001:db8::/32] }\n`;
  expect(loadIntent((await shown(plain)).text, 'f')).toEqual(loadIntent(plain, 'f'));
});

test.each(['<hidden>', '<masked>'])('a file with %s in the place of a key is refused at each of them', async (mask) => {
  const { text } = await shown(example);
  const read = loadIntent(text.replaceAll('<hidden>', mask), 'f');
  const secrets = text.split('\n').flatMap((line, i) => (line.includes('<hidden>') ? [i + 1] : []));
  expect(secrets.length).toBeGreaterThan(2);
  expect(read.ok ? [] : read.error.map(({ line }) => line)).toEqual(secrets);
  expect(read.ok ? [] : read.error.map(({ message }) => message)).toEqual(
    secrets.map(() => `${mask} is what is shown in place of a key: give the key itself`),
  );
});
