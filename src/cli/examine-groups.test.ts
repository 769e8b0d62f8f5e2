import { expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import { KernelError } from '../kernel/errors.ts';
import { examineGroups } from './examine-groups.ts';

const EDGE = load(`${ROUTER}srv6: { core-ports: [eth1], end-mt: { locator: 2001:db8:e::/48 } }\n`);

test('a router without SIDs for groups does not ask the kernel', async () => {
  const readLinks = () => Promise.reject(new Error('asked'));
  expect(await examineGroups(load(ROUTER), undefined, readLinks)).toEqual([]);
  const endCon = load(`${ROUTER}srv6: { core-ports: [eth1], end-con: [{ locator: 2001:db8:c::/48, table: main }] }\n`);
  expect(await examineGroups(endCon, undefined, readLinks)).toEqual([]);
});

test('what the kernel refuses to show is unknown, and the remedy is to be root; another error is no finding', async () => {
  const refused = () => Promise.reject(new KernelError('list links', 1));
  expect(await examineGroups(EDGE, [], refused)).toEqual([
    expect.objectContaining({ id: 'groups.kernel', state: 'unknown', remedy: 'run this as root' }),
  ]);
  await expect(examineGroups(EDGE, [], () => Promise.reject(new Error('a mistake')))).rejects.toThrow('a mistake');
});
