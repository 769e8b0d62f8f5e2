import { describe, expect, test } from 'vitest';
import type { NorthboundClient, SetOfGroups } from '../northbound/client.ts';
import { exampleState } from '../northbound/state.fixture.ts';
import { fakeCnpd, run } from './fake-cnpd.fixture.ts';
import { treeLines } from './group-views.ts';

const GROUP = '2001:db8:aa::1';

/** Runs a line, and keeps what it has set, and on which socket. */
async function setBy(line: string) {
  const sets: SetOfGroups[] = [];
  const sockets: string[] = [];
  const client: NorthboundClient = { ...fakeCnpd(exampleState()), set: async (request) => void sets.push(request) };
  const result = await run(line, client, { connect: ({ socket }) => (sockets.push(socket), client) });
  return { ...result, sets, sockets };
}

describe('cnpctl show groups', () => {
  test('a line for each group', async () => {
    expect((await run('show groups')).out.split('\n')).toEqual([
      'NAME     PROXY ADDRESS   ROLE HERE  SOURCE          RECEIVERS  EDGES  TREE            EPOCH  STATE',
      'weights  2001:db8:aa::1  root       2001:db8:1::10          1      1  shortest-paths      3  in use',
      '',
    ]);
  });

  test('one by its name or its Proxy Address in any form, with members, tree and branches', async () => {
    const { code, out } = await run('--wide show groups weights');
    expect(code).toBe(0);
    for (const part of ['Designated QPN  4096', 'ROLE', '└─ edge 2001:db8:e::2', 'NEXT PSN'])
      expect(out).toContain(part);
    expect((await run('--wide show groups 2001:DB8:AA:0::1')).out).toBe(out);
    expect(out).toContain('4096 (designated)');
  });

  test('an unknown name or part: what was found, and what there is', async () => {
    expect(await run('show groups nothing')).toMatchObject({
      code: 1,
      err: 'cnpctl: no group has the name or the Proxy Address nothing\n',
    });
    expect(await run('show groups weights leaves')).toMatchObject({
      code: 2,
      err: 'cnpctl: show groups weights: found "leaves"; allowed: members, tree, branches, receivers\n',
    });
    const state = exampleState();
    const nameless = {
      ...state,
      groups: { ...state.groups, group: state.groups.group.map((one) => ({ ...one, name: null })) },
    };
    expect((await run('show groups weights tree', fakeCnpd(nameless))).err).toBe(
      'cnpctl: no group has the name or the Proxy Address weights; groups that only other routers declare have no ' +
        `name here, use the Proxy Address: ${GROUP}\n`,
    );
  });

  test('receivers without the source; branches with lag, NAK, CNPs and when they were heard', async () => {
    const receivers = JSON.parse((await run('show groups weights receivers -o json')).out) as { role: string }[];
    expect(receivers.map(({ role }) => role)).toEqual(['receiver']);
    expect((await run('--wide show groups weights branches')).out).toMatch(
      /branching +child +2001:db8:e::2 +- +1000 +24 +1000 +2 +5000 +1s +- +up/,
    );
  });
});

test('a tree is drawn with its routers and receivers; names of the network move no cursor', () => {
  const node = (name: string, parent: string | undefined, more: object = {}) => ({
    node: name,
    ...(parent !== undefined && { parent }),
    kind: parent === undefined ? 'root' : 'edge',
    router: name.toUpperCase(),
    ...more,
  });
  expect(
    treeLines(
      [
        node('a', undefined),
        node('b', 'a', { kind: 'branching', hostname: 'n2\u001b-cnpd' }),
        node('c', 'b', { receivers: ['r1', 'r2'] }),
        node('d', 'b', { receivers: ['r3'], router: '\u001b[2J' }),
        node('e', 'a', { router: undefined }),
      ],
      100,
    ),
  ).toEqual([
    'root a (A)',
    '├─ branching b (n2\u{fffd}-cnpd, B)',
    '│  ├─ edge c (C)',
    '│  │  └─ receivers: r1, r2',
    '│  └─ edge d (\u{fffd}[2J)',
    '│     └─ receivers: r3',
    '└─ edge e (advertised by no router)',
  ]);
  expect(treeLines([], 100)).toEqual(['the group has no tree: a source and receivers are needed']);
  const circle = [node('a', undefined), node('b', 'a'), { ...node('a2', 'b'), node: 'b' }];
  expect(treeLines(circle, 100).length).toBeLessThan(5);
});

describe('cnpctl group', () => {
  test('join replaces a member, over the socket of Set', async () => {
    const line = `group join ${GROUP} --receiver 2001:db8:2::2 --qpn 9 --r-key 7 --persistent --designated-qpn 5 --name g`;
    expect(await setBy(line)).toMatchObject({
      code: 0,
      sockets: ['/run/cnpd/gnmi-set.sock'],
      sets: [
        {
          replace: [
            {
              group: GROUP,
              member: { role: 'receiver', address: '2001:db8:2::2' },
              value: { qpn: '9', 'r-key': '7', persistent: true },
            },
          ],
          update: [{ group: GROUP, value: { 'designated-qpn': '5', name: 'g' } }],
        },
      ],
    });
  });

  test('leave asks for the member first: one that is not there is exit code 1, and nothing is set', async () => {
    expect(await setBy(`group leave ${GROUP} --source`)).toMatchObject({
      code: 0,
      sets: [{ delete: [{ group: GROUP, member: { role: 'source', address: '2001:db8:1::10' } }] }],
    });
    expect(await setBy(`group leave ${GROUP} --receiver 2001:db8:9::9`)).toMatchObject({ code: 1, sets: [] });
  });

  test('restart asks the root, over the socket of Set', async () => {
    const asked: string[] = [];
    const client: NorthboundClient = {
      ...fakeCnpd(exampleState()),
      restartGroup: async (group) => void asked.push(group),
    };
    const connect = ({ socket }: { socket: string }) => (asked.push(socket), client);
    expect((await run(`group restart ${GROUP}`, client, { connect })).code).toBe(0);
    expect(asked).toEqual(['/run/cnpd/gnmi-set.sock', GROUP]);
    expect((await run('group restart weights', client, { connect })).code).toBe(0);
    expect(asked.at(-1)).toBe(GROUP);
  });

  test('a group may be named by its name; of a name that is not known nothing is set', async () => {
    const member = { role: 'receiver', address: '2001:db8:2::2' };
    expect(await setBy('group join weights --receiver 2001:db8:2::2 --qpn 9')).toMatchObject({
      code: 0,
      sets: [{ replace: [{ group: GROUP, member }] }],
    });
    expect(await setBy('group leave weights --source')).toMatchObject({
      code: 0,
      sets: [{ delete: [{ group: GROUP }] }],
    });
    for (const line of ['join other --receiver 2001:db8:2::2 --qpn 9', 'leave other --source', 'restart other'])
      expect(await setBy(`group ${line}`), line).toMatchObject({
        code: 1,
        err: expect.stringContaining('no group has the name other; use the Proxy Address for a new one'),
        sets: [],
      });
  });

  test.each([
    `group join ${GROUP} --qpn 9`,
    `group join ${GROUP} --receiver 2001:db8::2 --source 2001:db8::3`,
    'group join 192.0.2.1 --source 2001:db8::3',
    'group restart 2001:db8:::1',
    `group join ${GROUP} --receiver 2001:db8::2 --qpn 0x12`,
    `group leave ${GROUP}`,
  ])('%s is wrong usage', async (line) => expect(await setBy(line)).toMatchObject({ code: 2, sets: [] }));
});
