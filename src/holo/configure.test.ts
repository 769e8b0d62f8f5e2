import { beforeEach, describe, expect, test } from 'vitest';
import type { HoloCheck } from './check.ts';
import { configureHolo } from './configure.ts';
import { FakeHolo, RECORDED } from './northbound.fixture.ts';
import { HoloError } from './northbound.ts';
import { type Tree, leavesOf, merged, treeAt, withoutSecrets } from './tree.ts';

const change: Tree = {
  'ietf-routing:routing': {
    'control-plane-protocols': {
      'control-plane-protocol': [
        {
          type: 'ietf-isis:isis',
          name: 'core',
          'ietf-isis:isis': {
            interfaces: {
              interface: [{ name: 'cnpd-isis', passive: true, 'hello-authentication': { key: 's3cret' } }],
            },
          },
        },
      ],
    },
  },
};
const AT =
  "/routing/control-plane-protocols/control-plane-protocol[type='ietf-isis:isis'][name='core']/isis/interfaces/interface[name='cnpd-isis']";

let holo: FakeHolo;
let said: string[];
beforeEach(() => {
  [holo, said] = [new FakeHolo(), []];
});
const say = (line: string): void => void said.push(line);
const isSet = (): boolean => JSON.stringify(holo.running).includes('s3cret');
const examine = (): Promise<HoloCheck[]> =>
  Promise.resolve([
    isSet()
      ? { id: 'a', claim: 'a', state: 'ok' }
      : { id: 'a', claim: 'a', state: 'missing', problem: 'a is missing', change },
    { id: 'b', claim: 'b', state: 'missing', problem: 'for the operator' },
  ]);

describe('configuring Holo', () => {
  test('shows each leaf without its secret, commits once, and says what remains', async () => {
    const { applied, remaining } = await configureHolo(examine, { save: false }, holo, { say });
    expect(said).toEqual([`${AT}/passive = true`, `${AT}/hello-authentication/key = <key>`]);
    expect(holo.committed).toEqual([merged(RECORDED.config, change)]);
    expect(applied).toEqual(change);
    expect(remaining.map(({ id }) => id)).toEqual(['b']);
  });

  test('again: nothing is committed', async () => {
    await configureHolo(examine, { save: false }, holo, { say });
    expect((await configureHolo(examine, { save: false }, holo, { say })).applied).toEqual({});
    expect(holo.committed).toHaveLength(1);
    expect(said.at(-1)).toMatch(/nothing to do/);
  });

  test('a dry run has Holo judge its whole configuration with the change, and commits nothing', async () => {
    await configureHolo(examine, { save: false, dryRun: true }, holo, { say });
    expect(holo.validated).toEqual([merged(RECORDED.config, change)]);
    expect([holo.committed, isSet()]).toEqual([[], false]);
    holo.refusal = 'Invalid value "s3cret"';
    await expect(configureHolo(examine, { save: false, dryRun: true }, holo, { say })).rejects.toMatchObject({
      code: 'refused',
    });
  });

  test('what Holo refuses is not made, and its words do not show a key', async () => {
    holo.refusal = 'Invalid value "s3cret"';
    await expect(configureHolo(examine, { save: false }, holo, { say })).rejects.toMatchObject({
      code: 'refused',
      message: 'Holo refuses these 2 leaves: Invalid value "<key>"; nothing was changed',
    });
  });

  test('when Holo stops answering, what is known of its configuration is said', async () => {
    const gone = () => Promise.reject(new HoloError('unreachable', 'no answer within 10 s'));
    const asked = (part: object) => configureHolo(examine, { save: false }, Object.assign(holo, part), { say });
    await expect(asked({ commit: gone })).rejects.toMatchObject({
      code: 'unreachable',
      message: /^no answer of Holo about these 2 leaves: no answer within 10 s; it may be changed or not/,
    });
    await expect(asked({ validate: gone })).rejects.toMatchObject({ message: /; nothing was changed$/ });
  });

  test('a change without effect is an error', async () => {
    holo.deaf = true;
    await expect(configureHolo(examine, { save: false }, holo, { say })).rejects.toMatchObject({
      code: 'refused',
      message: /a is missing still/,
    });
  });

  test('there is nothing to save in', async () => {
    await expect(configureHolo(examine, { save: true }, holo, { say })).rejects.toMatchObject({ code: 'save' });
    expect(isSet()).toBe(true);
  });

  test('a silent Holo is not configured', async () => {
    const silent = {
      id: 's',
      claim: 's',
      state: 'missing',
      code: 'daemon-silent',
      problem: 'silent',
      remedy: 'r',
    } as const;
    const attempt = configureHolo(
      () => Promise.resolve([silent, { id: 'a', claim: 'a', state: 'missing', change }]),
      { save: false },
      holo,
      { say },
    );
    await expect(attempt).rejects.toMatchObject({
      code: 'unreachable',
      message: 'silent; nothing was changed. To fix it: r',
    });
    expect(said).toEqual([]);
  });
});

describe('a tree with a change', () => {
  test('has entries of lists by their keys, and what was there', () => {
    const names = treeAt(merged(RECORDED.config, change), 'ietf-routing:routing', 'control-plane-protocols')[
      'control-plane-protocol'
    ];
    expect(names).toHaveLength(3);
    expect(JSON.stringify(merged(RECORDED.config, change))).toContain('"level-type":"level-2"');
    expect(merged({ a: ['x'], b: 1 }, { a: ['x', 'y'], b: 2 })).toEqual({ a: ['x', 'y'], b: 2 });
  });

  test('shows an entry without leaves by its keys', () => {
    expect(leavesOf({ 'm:area': [{ 'area-id': '0.0.0.0' }], area: [{ 'area-id': '0.0.0.0' }] }).at(-1)).toBe(
      "/area[area-id='0.0.0.0']",
    );
  });

  test('hides secrets wherever they are quoted', () => {
    expect(withoutSecrets('s3cret and s3cret', change)).toBe('<key> and <key>');
  });
});
