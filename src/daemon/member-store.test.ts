import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NO_GROUPS, type RunTimeGroups, changedGroups } from '../intent/run-time-groups.ts';
import { MemberStore, document, keptMembers } from './member-store.ts';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'cnpd-members-'))));
afterEach(() => rmSync(dir, { recursive: true }));
const run = (): string => join(dir, 'run/members.json');
const state = (): string => join(dir, 'state/members.json');
const store = () => new MemberStore({ runDir: join(dir, 'run'), stateDir: join(dir, 'state') });

function groups(...qpns: readonly number[]): RunTimeGroups {
  const changes = qpns.map((qpn) => ({
    ...{ operation: 'replace' as const, group: '2001:db8:aa::1' },
    ...{ member: { role: 'receiver', address: `2001:db8:2::${qpn}` }, value: { qpn, persistent: qpn < 500 } },
  }));
  const changed = changedGroups(NO_GROUPS, changes);
  if (!changed.ok) throw new Error(changed.error.errors.join());
  return changed.value;
}
const all = (...qpns: readonly number[]): string => document(groups(...qpns), () => true);

test('a restart finds all members, a reboot those that are persistent', async () => {
  await store().write(groups(201, 501));
  expect(document(store().load().groups, () => true)).toBe(all(201, 501));
  rmSync(join(dir, 'run'), { recursive: true });
  expect(document(store().load().groups, () => true)).toBe(all(201));
});

test('a refused request leaves nothing changed, with a first file or without', async () => {
  const one = store();
  mkdirSync(state(), { recursive: true });
  await expect(one.write(groups(201))).rejects.toThrow(/EISDIR/);
  expect(existsSync(run())).toBe(false);
  rmSync(state(), { recursive: true });
  await one.write(groups(201));
  rmSync(state());
  mkdirSync(state());
  await expect(one.write(groups(201, 202))).rejects.toThrow(/EISDIR/);
  expect(readFileSync(run(), 'utf8')).toBe(all(201));
});

test('if the run directory refuses, the state directory has what it had', async () => {
  const one = store();
  await one.write(groups(201));
  rmSync(run());
  mkdirSync(join(run(), 'in-the-way'), { recursive: true });
  await expect(one.write(groups(201, 202))).rejects.toThrow();
  expect(readFileSync(state(), 'utf8')).toBe(all(201));
});

test('after a crash between the renames the run directory decides, and the next request writes both', async () => {
  await store().write(groups(201));
  writeFileSync(run(), all(201, 202));
  const next = store();
  expect(document(next.load().groups, () => true)).toBe(all(201, 202));
  await next.write(groups(201, 202, 501));
  expect(readFileSync(state(), 'utf8')).toBe(all(201, 202));
});

test('a damaged file is set aside, and named', () => {
  mkdirSync(join(dir, 'run'));
  writeFileSync(run(), '{"version":2}');
  expect(store().load()).toMatchObject({
    groups: NO_GROUPS,
    unreadable: [{ reason: `${run()}: its version is not 1` }],
  });
  expect(existsSync(`${run()}.bad`)).toBe(true);
});

test('a damaged file that cannot be set aside stays, and why is reported; the next request replaces it', async () => {
  mkdirSync(join(dir, 'run'));
  writeFileSync(run(), '{');
  mkdirSync(`${run()}.bad`);
  const one = store();
  expect(one.load().unreadable).toEqual([
    { reason: expect.stringContaining(run()), notSetAside: expect.stringMatching(/EISDIR|ENOTEMPTY|EEXIST/) },
  ]);
  expect(readFileSync(run(), 'utf8')).toBe('{');
  await one.write(groups(201));
  expect(readFileSync(run(), 'utf8')).toBe(all(201));
});

test('whoever removes cnpd learns which members the next one would declare again; an empty file goes', async () => {
  const stateDir = join(dir, 'state');
  expect(keptMembers(stateDir)).toBeUndefined();
  const one = store();
  await one.write(groups(201, 202, 501));
  expect(keptMembers(stateDir)).toMatch(/^.*state\/members\.json: 2 persistent members of groups, which the next cnpd/);
  await one.write(groups(501));
  expect([keptMembers(stateDir), existsSync(state())]).toEqual([undefined, false]);
  writeFileSync(state(), '{"version":2}');
  expect(() => keptMembers(stateDir)).toThrow('its version is not 1');
});
