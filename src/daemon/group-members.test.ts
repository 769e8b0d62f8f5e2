// Members declared at run time at a start: what of their files cannot be used is counted, logged and a problem.
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import type { Log } from '../model/log.ts';
import { GroupMembers } from './group-members.ts';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'cnpd-members-'))));
afterEach(() => rmSync(dir, { recursive: true }));

function started() {
  const counts: string[] = [];
  const errors: string[] = [];
  const log = { error: (_: unknown, text: string) => void errors.push(text) } as unknown as Log;
  const file = load(ROUTER);
  const members = new GroupMembers(
    { runDir: dir },
    { file: () => file, onChange: () => {}, onSource: () => {}, count: (name) => void counts.push(name), log },
  );
  members.load();
  return { members, counts, errors, remedies: members.problems().map(({ code, remedy }) => `${code}: ${remedy}`) };
}

test('a damaged file is counted and set aside', () => {
  writeFileSync(join(dir, 'members.json'), '{');
  expect(started()).toMatchObject({
    counts: ['groups.members.unreadable'],
    errors: ['members that were declared at run time are lost: their file is damaged'],
    remedies: [
      'groups.members-unreadable: declare them again (`cnpctl group join`); the damaged file has the suffix .bad',
    ],
  });
  expect(started()).toMatchObject({ counts: [], errors: [], remedies: [] });
});

test('one that cannot be renamed is counted and logged as well, and no remedy names a file that is not there', () => {
  writeFileSync(join(dir, 'members.json'), '{');
  mkdirSync(join(dir, 'members.json.bad'));
  const { counts, errors, remedies } = started();
  expect(counts).toEqual(['groups.members.unreadable', 'groups.members.not-set-aside']);
  expect(errors).toHaveLength(2);
  expect(remedies).toEqual([expect.stringContaining('that replaces the damaged file, which cannot be renamed: E')]);
});

test('a symbolic link in the way of the new file is replaced, and not followed', async () => {
  const { members } = started();
  const victim = join(dir, 'victim');
  writeFileSync(victim, 'as it was');
  symlinkSync(victim, join(dir, 'members.json.new'));
  expect((await members.set([{ operation: 'delete', group: '2001:db8:aa::1' }])).ok).toBe(true);
  expect(readFileSync(victim, 'utf8')).toBe('as it was');
  expect(lstatSync(join(dir, 'members.json')).isFile()).toBe(true);
});

test('a request that cannot be written down is refused with the system’s error, and counted', async () => {
  const { counts, members } = started();
  mkdirSync(join(dir, 'members.json.new', 'in-the-way'), { recursive: true });
  const result = await members.set([{ operation: 'delete', group: '2001:db8:aa::1' }]);
  expect(result).toMatchObject({ error: { code: 'not-stored', systemCode: 'EISDIR' } });
  expect(counts).toEqual(['groups.set.refused.not-stored']);
});
