// Members of groups that applications declare at run time: the real daemon and the compiled cnpctl in a network
// namespace without FRR.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type RunResult, run } from '../../src/lab/run.ts';
import { type NorthboundClient, type SetOfGroups, connectNorthbound } from '../../src/northbound/client.ts';
import { bytesField, rawCall } from '../support/raw-grpc.ts';
import { is, until } from '../support/until.ts';
import { cnpctlHere } from './support/cnpctl.ts';
import { AS_A_SERVICE, AS_ROOT, program } from './support/network.ts';

type Row = Readonly<Record<string, unknown>>;

const NAMESPACE = `t-groups-api-${process.pid}`;
const GROUP = '2001:db8:aa::1';
const OTHER = '2001:db8:aa::2';
const SIDS = {
  'core-ports': ['eth1'],
  'end-mt': { locator: '2001:db8:e::/48' },
  replication: { locator: '2001:db8:e::/48' },
};
const FILE = {
  router: { name: 'r1', loopback: { ipv6: '2001:db8::1' } },
  srv6: SIDS,
  groups: [
    {
      name: 'weights',
      'proxy-address': GROUP,
      'designated-qpn': 4096,
      receivers: [{ address: '2001:db8:2::1', qpn: 201 }],
    },
  ],
};

const dir = mkdtempSync(join(tmpdir(), 'cnpd-groups-'));
let daemon: ChildProcess | undefined;
let log = '';
const path = (name: string): string => join(dir, name);

beforeAll(() => void execFileSync('ip', ['netns', 'add', NAMESPACE]));
afterAll(() => {
  const [node, ...cnpd] = program('cnpd');
  execFileSync(node!, [...cnpd, '--run-dir', path('run'), 'uninstall']);
  execFileSync('ip', ['netns', 'del', NAMESPACE]);
  rmSync(dir, { recursive: true });
});
beforeEach(() => void (log = ''));
afterEach(async ({ task }) => {
  await stop('SIGKILL');
  if (task.result?.state === 'fail') console.log(log.slice(-3000));
  // Programs and maps stay, as they do when an agent is killed; members and sockets do not.
  execFileSync('sh', ['-c', `umount ${path('state')} 2>/dev/null || true`]);
  rmSync(path('state'), { recursive: true, force: true });
  for (const file of readdirSync(path('run')).filter((name) => /^(members|gnmi)/.test(name)))
    rmSync(path(`run/${file}`));
});

/**
 * @param withState whether there is a state directory
 * @param through a program that becomes cnpd
 */
async function start(content: object = FILE, withState = true, through = AS_A_SERVICE): Promise<void> {
  configure(content);
  const child = spawn(
    'ip',
    [
      ...['netns', 'exec', NAMESPACE, ...through, ...program('cnpd')],
      ...['-c', path('cnpd.yaml'), '--run-dir', path('run')],
      ...(withState ? ['--state-dir', path('state')] : []),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  daemon = child;
  const before = log.length;
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (log += text));
  await until(
    'cnpd runs',
    () => {
      if (child.exitCode !== null) throw new Error(log.slice(-2000));
      return log.slice(before);
    },
    (text) => text.includes(`"pid":${child.pid}`),
  );
}

const configure = (content: object): void =>
  writeFileSync(path('cnpd.yaml'), stringify({ gnmi: { socket: path('run/gnmi.sock') }, ...content }));

async function stop(signal: NodeJS.Signals): Promise<void> {
  const child = daemon;
  daemon = undefined;
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

const SET = (): string => path('run/gnmi-set.sock');

async function withClient<T>(socket: string, run: (client: NorthboundClient) => Promise<T>): Promise<T> {
  const client = connectNorthbound({ socket, timeoutMs: 30_000 });
  try {
    return await run(client);
  } finally {
    client.close();
  }
}
const set = (request: SetOfGroups): Promise<void> => withClient(SET(), (client) => client.set(request));
const get = (...names: string[]): Promise<Row[]> =>
  withClient(path('run/gnmi.sock'), async (client) => ((await client.get(['cnpd', ...names])) ?? []) as Row[]);

const argumentsOf = (line: string): string[] => ['--socket', path('run/gnmi.sock'), ...line.split(' ')];
/** The program. */
const cnpctl = (line: string): Promise<RunResult> => run([...program('cnpctl'), ...argumentsOf(line)]);
/** The same in this process. */
const ctl = (line: string): Promise<RunResult> => cnpctlHere(argumentsOf(line));

/** Members in the plan and in what is advertised: `role address qpn node`. */
const members = async (): Promise<string[]> =>
  (await get('groups', 'members')).map(({ role, address, qpn, node }) => [role, address, qpn, node].join(' ')).sort();
const OF_FILE = 'receiver 2001:db8:2::1 201 2001:db8:e::c1:0:0';
const JOINED = 'receiver 2001:db8:2::2 202 2001:db8:e::c1:0:0';

describe('cnpctl group', () => {
  test('join, list and leave; what cnpd.yaml declares stays', async () => {
    await start();
    expect(await cnpctl(`group join ${GROUP} --receiver 2001:db8:2::2 --qpn 202 --psn-delta 7`)).toMatchObject({
      code: 0,
      stdout: `receiver 2001:db8:2::2 joined ${GROUP}\n`,
    });
    expect(await cnpctl(`group join ${GROUP} --source 2001:db8:1::1 --qpn 9 --start-psn 100`)).toMatchObject({
      code: 0,
    });
    expect(await members()).toEqual([OF_FILE, JOINED, 'source 2001:db8:1::1 4096 2001:db8:e::c2:0:0']);
    const listed = JSON.parse((await cnpctl('-o json group list')).stdout) as Row[];
    expect(listed.map(({ address, origin, persistent }) => [address, origin, persistent].join())).toEqual([
      '2001:db8:2::1,file,true',
      '2001:db8:2::2,run-time,false',
      '2001:db8:1::1,run-time,false',
    ]);
    expect(await cnpctl(`group leave ${GROUP} --receiver 2001:db8:2::2`)).toMatchObject({ code: 0 });
    expect(await cnpctl(`group leave ${GROUP} --source`)).toMatchObject({ code: 0 });
    expect(await members()).toEqual([OF_FILE]);
    expect(await cnpctl(`group leave ${GROUP} --receiver 2001:db8:2::2`)).toMatchObject({ code: 1 });
    expect(await cnpctl(`group leave ${GROUP} --receiver 2001:db8:2::1`)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('cnpd.yaml declares it'),
    });
  });

  test('a group that cnpd.yaml does not have needs its Designated Queue Pair, and then works without it', async () => {
    await start({ ...FILE, groups: undefined });
    expect(await ctl(`group join ${OTHER} --receiver 2001:db8:2::2 --qpn 202`)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('designated-qpn: missing'),
    });
    const first = `group join ${OTHER} --receiver 2001:db8:2::2 --qpn 202 --designated-qpn 77 --name kv`;
    expect(await ctl(first)).toMatchObject({ code: 0 });
    expect(await ctl(`group join ${OTHER} --receiver 2001:db8:2::3 --qpn 203`)).toMatchObject({ code: 0 });
    expect(await get('groups', 'group')).toMatchObject([
      { 'proxy-address': OTHER, name: 'kv', 'designated-qpn': 77, receivers: 2, edges: 1, roles: ['edge'] },
    ]);
    const shown = await ctl('show groups');
    expect(shown.stdout).toMatch(/^NAME +PROXY ADDRESS/);
    expect((await ctl('show groups kv')).stdout).toContain('Designated QPN  77');
  });

  test('refuses what the file would, and changes nothing', async () => {
    await start();
    const refused: readonly (readonly [what: string, line: string, complaint: string])[] = [
      ['a Queue Pair of 25 bits', `join ${GROUP} --receiver 2001:db8:2::2 --qpn 16777216`, 'a whole number from 2 to'],
      ['no Queue Pair', `join ${GROUP} --receiver 2001:db8:2::2`, 'qpn: missing'],
      ['a VA delta without R_Key', `join ${GROUP} --receiver 2001:db8:2::2 --qpn 2 --va-delta 1`, 'r-key: missing'],
      ['a receiver that is a Proxy Address', `join ${GROUP} --receiver ${GROUP} --qpn 2`, 'belongs to no host'],
      [
        'another Designated Queue Pair',
        `join ${GROUP} --receiver 2001:db8:2::2 --qpn 2 --designated-qpn 5`,
        '4096 in cnpd.yaml',
      ],
      ['a receiver of the file', `join ${GROUP} --receiver 2001:db8:2::1 --qpn 5`, 'cnpd.yaml declares it'],
      ['a multicast address', `join ${GROUP} --receiver ff02::1 --qpn 5`, 'multicast'],
    ];
    for (const [what, line, complaint] of refused) {
      const { code, stderr } = await ctl(`group ${line}`);
      expect({ code, stderr }, what).toMatchObject({ code: 4, stderr: expect.stringContaining(complaint) });
      expect(await members(), what).toEqual([OF_FILE]);
    }
  });
});

describe('what is not there', () => {
  test('a receiver that no edge is near to is no member, which is a problem; a group that is gone has no view', async () => {
    await start({ ...FILE, srv6: { ...SIDS, 'end-mt': undefined }, groups: undefined });
    const join = `group join ${OTHER} --receiver 2001:db8:2::2 --qpn 202 --designated-qpn 77 --name kv`;
    expect(await ctl(join)).toMatchObject({ code: 0 });
    expect(await members()).toEqual([]);
    expect((await ctl('show status')).stdout).toContain('no edge is known for the receiver 2001:db8:2::2');
    expect(await ctl(`${join} --edge 2001:db8:f::1`)).toMatchObject({ code: 0 });
    expect((await ctl('show groups kv members')).stdout).toContain('2001:db8:f::1');
    expect((await ctl('show status')).stdout).not.toContain('no edge is known');
    expect(await ctl(`group leave ${OTHER} --receiver 2001:db8:2::2`)).toMatchObject({ code: 0 });
    for (const line of ['kv members', `${OTHER} members`, '-o json kv members', 'kv tree'])
      expect(await ctl(`show groups ${line}`), line).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^cnpctl: no group has the name or the Proxy Address (kv|2001:db8:aa::2)\n$/),
      });
    expect(await get('groups', 'members')).toEqual([]);
  });

  test('a stream begins anew only at the root, only by the socket for changes, and only of a group', async () => {
    await start();
    const restart = (group: string, socket = SET()): Promise<void> =>
      withClient(socket, (client) => client.restartGroup(group));
    expect(await ctl(`group restart ${GROUP}`)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`group ${GROUP}: this router is not its root, or has no tree of it yet`),
    });
    await expect(restart(OTHER)).rejects.toMatchObject({ status: 'FAILED_PRECONDITION' });
    for (const text of ['', '192.0.2.1', 'x'.repeat(100_000), '2001:db8:aa::1/128'])
      await expect(restart(text), text.slice(0, 20)).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' });
    await expect(restart(GROUP, path('run/gnmi.sock'))).rejects.toMatchObject({ status: 'PERMISSION_DENIED' });
    const counters = new Map((await get('counters')).map(({ name, value }) => [name, Number(value)]));
    expect([counters.get('groups.restart.refused.conflict'), counters.get('groups.restart.refused.invalid')]).toEqual([
      2, 4,
    ]);
  });
});

describe('what survives', () => {
  test('an agent that is killed, and one that is stopped, has its members again', async () => {
    await start();
    await ctl(`group join ${GROUP} --receiver 2001:db8:2::2 --qpn 202`);
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await stop(signal);
      await start();
      expect(await members()).toEqual([OF_FILE, JOINED]);
    }
  });

  test('a reboot leaves only persistent members', async () => {
    await start();
    await ctl(`group join ${GROUP} --receiver 2001:db8:2::2 --qpn 202 --persistent`);
    await ctl(`group join ${GROUP} --receiver 2001:db8:2::3 --qpn 203`);
    await stop('SIGTERM');
    // What a reboot does to /run.
    rmSync(path('run/members.json'));
    await start();
    expect(await members()).toEqual([OF_FILE, JOINED]);
    expect(statSync(path('state/members.json')).mode & 0o777).toBe(0o600);
  });

  test('without a state directory nothing can be persistent, and the caller gets the reason', async () => {
    await start(FILE, false);
    expect(await ctl(`group join ${GROUP} --receiver 2001:db8:2::2 --qpn 202 --persistent`)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('--state-dir'),
    });
  });

  test('a reload keeps members; the file wins where it now declares the same, until it declares it no more', async () => {
    await start();
    await ctl(`group join ${GROUP} --receiver 2001:db8:2::2 --qpn 202`);
    const [group] = FILE.groups;
    configure({ ...FILE, groups: [{ ...group, receivers: [{ address: '2001:db8:2::2', qpn: 9 }] }] });
    expect(await ctl('reload')).toMatchObject({ code: 1, stderr: expect.stringContaining('cnpd.yaml declares it') });
    expect(await members()).toEqual(['receiver 2001:db8:2::2 9 2001:db8:e::c1:0:0']);
    configure(FILE);
    expect(await ctl('reload')).toMatchObject({ code: 0 });
    expect(await members()).toEqual([OF_FILE, JOINED]);
  });

  test('a damaged file is set aside and reported; cnpd starts', async () => {
    await start();
    await stop('SIGTERM');
    writeFileSync(path('run/members.json'), '{"version":1,"groups":[{"proxy-address":7}]}');
    await start();
    expect((await ctl('show status')).stdout).toContain('members that were declared at run time are lost');
    expect(existsSync(path('run/members.json.bad'))).toBe(true);
    expect(await members()).toEqual([OF_FILE]);
  });

  test('a full disk is an error to the caller; nothing is half applied, and it works again with space', async () => {
    execFileSync('sh', ['-c', `mkdir ${path('state')} && mount -t tmpfs -o size=8k t ${path('state')}`]);
    await start();
    const many = Array.from({ length: 200 }, (_, i) => ({
      role: 'receiver',
      address: `2001:db8:3::${(i + 1).toString(16)}`,
      qpn: 300 + i,
      edge: `2001:db8:f::${(i + 1).toString(16)}`,
      persistent: true,
    }));
    await expect(set({ update: [{ group: GROUP, value: { member: many } }] })).rejects.toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      message: expect.stringContaining('ENOSPC'),
    });
    expect(await members()).toEqual([OF_FILE]);
    expect(await ctl(`group join ${GROUP} --receiver 2001:db8:2::2 --qpn 202 --persistent`)).toMatchObject({ code: 0 });
    expect(await members()).toEqual([OF_FILE, JOINED]);
  });
});

describe('gNMI Set', () => {
  test('several changes are one: a bad one among them refuses all', async () => {
    await start();
    const receiver = (n: number, value: object) => ({
      group: GROUP,
      member: { role: 'receiver', address: `2001:db8:2::${n}` },
      value,
    });
    await expect(set({ replace: [receiver(2, { qpn: 202 }), receiver(3, { qpn: 0 })] })).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
    });
    expect(await members()).toEqual([OF_FILE]);
    await set({ replace: [receiver(2, { qpn: 202 }), receiver(3, { qpn: 203 })] });
    await set({
      delete: [{ group: GROUP, member: { role: 'receiver', address: '2001:db8:2::3' } }],
      update: [receiver(2, { 'psn-delta': 5 })],
    });
    expect(await members()).toEqual([OF_FILE, JOINED]);
  });

  test('what one router declares is limited to 4,096 members, and 4,096 come in one request', async () => {
    await start({ ...FILE, groups: undefined });
    const member = (i: number) => ({
      role: 'receiver',
      address: `2001:db8:3::${(i + 1).toString(16)}`,
      qpn: 300 + (i % 1000),
      edge: `2001:db8:f::${((i % 100) + 1).toString(16)}`,
    });
    const before = performance.now();
    await set({
      update: [
        { group: OTHER, value: { 'designated-qpn': 7 } },
        ...Array.from({ length: 4096 }, (_, i) => {
          const { role, address, ...value } = member(i);
          return { group: OTHER, member: { role, address }, value };
        }),
      ],
    });
    console.log(`4,096 members in one Set: ${Math.round(performance.now() - before)} ms`);
    expect(await members()).toHaveLength(4096);
    await expect(
      set({ update: [{ group: OTHER, member: { role: 'receiver', address: '2001:db8:4::1' }, value: { qpn: 9 } }] }),
    ).rejects.toMatchObject({ status: 'RESOURCE_EXHAUSTED' });
  });

  test('two hundred joins one by one are all there', async () => {
    await start();
    await withClient(SET(), async (client) => {
      const before = performance.now();
      for (let i = 0; i < 200; i++)
        await client.set({
          replace: [
            {
              group: GROUP,
              member: { role: 'receiver', address: `2001:db8:3::${(i + 1).toString(16)}` },
              value: { qpn: 300 + i, edge: `2001:db8:f::${((i % 100) + 1).toString(16)}` },
            },
          ],
        });
      console.log(`200 joins: ${Math.round(performance.now() - before)} ms`);
    });
    expect(await members()).toHaveLength(201);
  });

  test('anything at all as a request is refused or ignored, and cnpd lives', async () => {
    await start();
    const elem = (name: string, ...keys: [string, string][]): Buffer =>
      bytesField(3, bytesField(1, name), ...keys.map(([k, v]) => bytesField(2, bytesField(1, k), bytesField(2, v))));
    const place = (...elems: Buffer[]) => Buffer.concat(elems);
    const member = place(
      elem('cnpd'),
      elem('groups'),
      elem('group', ['proxy-address', GROUP]),
      elem('member', ['role', 'receiver'], ['address', '2001:db8:2::2']),
    );
    const update = (at: Buffer, json: Buffer | string) =>
      bytesField(4, bytesField(1, at), bytesField(3, bytesField(11, json)));
    const bodies = [
      '',
      '{',
      'null',
      '[]',
      '7',
      '{"qpn":{}}',
      '{"qpn":[1]}',
      '{"__proto__":{"qpn":5}}',
      '{"constructor":1}',
    ];
    const more = [`{"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, '{"qpn":1e400}', '{"qpn":-5}', '{"qpn":5.5}'];
    for (const body of [...bodies, ...more, randomBytes(500)])
      expect([3, 8, 9]).toContain((await rawCall(SET(), '/gnmi.gNMI/Set', update(member, body))).status);
    const places = [
      place(),
      place(elem('cnpd')),
      place(elem('cnpd'), elem('groups')),
      place(elem('cnpd'), elem('groups'), elem('group')),
      place(elem('cnpd'), elem('groups'), elem('group', ['proxy-address', '*'])),
      place(elem('cnpd'), elem('groups'), elem('group', ['proxy-address', 'x'])),
      place(elem('cnpd'), elem('groups'), elem('*', ['proxy-address', GROUP])),
      place(elem('cnpd'), elem('status')),
      place(
        elem('cnpd'),
        elem('groups'),
        elem('group', ['proxy-address', GROUP]),
        elem('member', ['role', 'king'], ['address', '::5']),
      ),
      place(...Array.from({ length: 40 }, () => elem('cnpd'))),
    ];
    for (const at of places)
      for (const field of [2, 3, 4]) {
        const request =
          field === 2 ? bytesField(2, at) : bytesField(field, bytesField(1, at), bytesField(3, bytesField(11, '{}')));
        expect([3, 5]).toContain((await rawCall(SET(), '/gnmi.gNMI/Set', request)).status);
      }
    for (let i = 0; i < 50; i++) expect((await rawCall(SET(), '/gnmi.gNMI/Set', randomBytes(200))).status).not.toBe(0);
    const large = await rawCall(SET(), '/gnmi.gNMI/Set', Buffer.alloc(3 * 1024 * 1024));
    expect(large.status).toBe(8);
    expect(await members()).toEqual([OF_FILE]);
  });
});

describe('who may set', () => {
  test('only root, unless a group is named; never whoever may only read', async () => {
    await start();
    expect(statSync(SET()).mode & 0o777).toBe(0o600);
    await expect(
      withClient(path('run/gnmi.sock'), (client) => client.set({ delete: [{ group: GROUP }] })),
    ).rejects.toMatchObject({ status: 'PERMISSION_DENIED' });
    expect(await members()).toEqual([OF_FILE]);
    await stop('SIGTERM');
    expect(existsSync(SET())).toBe(false);
    await start({ ...FILE, gnmi: { socket: path('run/gnmi.sock'), 'set-group': 'daemon' } }, true, AS_ROOT);
    expect(statSync(SET())).toMatchObject({ gid: 1 });
    expect(statSync(SET()).mode & 0o777).toBe(0o660);
    expect(statSync(path('run/gnmi.sock')).gid).toBe(process.getegid!());
    configure(FILE);
    expect(await ctl('reload')).toMatchObject({ code: 0 });
    expect(statSync(SET()).mode & 0o777).toBe(0o600);
  });

  test('PNC-6-e: a router that takes no part in groups has no such socket, and gets it by a reload', async () => {
    await start({ router: FILE.router });
    expect(existsSync(SET())).toBe(false);
    expect(await ctl(`group join ${GROUP} --receiver 2001:db8:2::2 --qpn 202`)).toMatchObject({ code: 3 });
    configure(FILE);
    expect(await ctl('reload')).toMatchObject({ code: 0 });
    expect(await ctl(`group join ${GROUP} --receiver 2001:db8:2::2 --qpn 202`)).toMatchObject({ code: 0 });
    configure({ router: FILE.router });
    await ctl('reload');
    expect(existsSync(SET())).toBe(false);
  });

  test('the socket that a killed cnpd has left goes, too', async () => {
    await start();
    await stop('SIGKILL');
    expect(existsSync(SET())).toBe(true);
    await start({ router: FILE.router });
    await until('the socket is gone', () => existsSync(SET()), is(false));
  });

  test('files with R_Keys are for root alone', async () => {
    await start();
    await ctl(`group join ${GROUP} --receiver 2001:db8:2::2 --qpn 202 --r-key 99`);
    expect(statSync(path('run/members.json')).mode & 0o777).toBe(0o600);
    expect(readFileSync(path('run/members.json'), 'utf8')).toContain('"r-key":"99"');
  });
});
