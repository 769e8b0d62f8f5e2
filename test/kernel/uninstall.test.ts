// `uninstall` beside things that are not cnpd's: it goes on past them, removes the rest, and says what it left. A tc
// that loads a program makes folders in the first BPF file system that it finds, which may be cnpd's.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uninstall } from '../../src/daemon/uninstall.ts';
import { isBpffs, mountBpffs, unmountBpffs } from '../../src/kernel/bpf/bpffs.ts';
import { openBpfObject } from '../../src/kernel/bpf/object.ts';
import { pinObject } from '../../src/kernel/bpf/syscall.ts';
import { attachTcx } from '../../src/kernel/bpf/tcx.ts';
import { interfaceIndex } from '../../src/kernel/ffi/libc.ts';
import { NetlinkQueue, refusalIn } from '../../src/kernel/netlink/request-queue.ts';
import { HoldTrees, placeIn } from '../../src/kernel/netlink/hold-tree.ts';
import { setClassRequest, setQueueRequest } from '../../src/kernel/netlink/htb.ts';
import { TreeDevices } from '../../src/kernel/netlink/tree-device.ts';
import { TREE_DEVICE } from '../../src/model/tree-device.ts';
import { MAIN_TABLE, TREE_TABLE, TreeRoutes } from '../../src/kernel/netlink/tree-routes.ts';
import { lockNetns } from '../../src/kernel/netns-lock.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { address } from '../../src/model/address.ts';
import { compileCounterProgram } from './support/counter-program.ts';
import { bundled } from './support/bundle.ts';
import { inNetns } from '../support/netns.ts';
import { is, until } from '../support/until.ts';

/** Other tests load the same fixture at the same time. The maps get names that cnpd pins. */
const RENAMED = [
  'count_first=gone_first',
  'count_second=gone_second',
  'recent=egress_peaks',
  'prefixes=sender_proxies',
  'events=notifications',
  'scratch=proxy_scratch',
];

let scratch: string, runDir: string, bpf: string, links: string;
let ns: Netns;
let lines: string[];

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 't-uninstall-'));
  [runDir, lines] = [join(scratch, 'run'), []];
  [bpf, links] = [join(runDir, 'bpf'), join(runDir, 'bpf', 'links')];
  ns = Netns.create();
  inNetns(ns, 'ip', 'link', 'add', 't-u-a', 'type', 'veth', 'peer', 'name', 't-u-b');
  mountBpffs(bpf);
  mkdirSync(links);
  const object = openBpfObject(compileCounterProgram(scratch, 'uninstall', RENAMED), { pinDir: bpf });
  const ifindex = ns.run(() => interfaceIndex('t-u-a'));
  for (const name of ['gone_first', 'gone_second'])
    attachTcx({
      program: object.program(name),
      ifindex,
      direction: 'egress',
      pinPath: join(links, name),
      netns: ns,
    }).close();
  object.close();
});
afterEach(() => {
  unmountBpffs(bpf);
  ns.close();
  rmSync(scratch, { recursive: true });
});

/** In its namespace: in that of the tests another cnpd may run. */
const lock = (): (() => void) => ns.run(() => lockNetns());
const run = (): Promise<number> => uninstall(runDir, (line) => lines.push(line), lock);
const createMap = (path: string): void => {
  const words = ['map', 'create', path, ...'type array key 4 value 4 entries 1 name theirs'.split(' ')];
  const { status, stderr } = spawnSync('bpftool', words, { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
};
/** Programs of the fixture that the kernel holds: a link that is off frees its own a moment later. */
const programs = (): string[] =>
  (JSON.parse(spawnSync('bpftool', ['-j', 'prog'], { encoding: 'utf8' }).stdout) as { name?: string }[])
    .flatMap((p) => p.name ?? [])
    .filter((name) => name.startsWith('gone_'));
const allOff = (): Promise<unknown> => until('no program is attached any more', () => programs().length, is(0));

/** In a process of its own: a filter on clsact is found in the network namespace of its process only. */
const runInNamespace = async (): Promise<string> => {
  const program = await bundled(`
    import { uninstall } from './src/daemon/uninstall.ts';
    process.exitCode = await uninstall(${JSON.stringify(runDir)}, console.log);`);
  const { status, stdout, stderr } = ns.run(() =>
    spawnSync(process.execPath, ['--input-type=module'], { input: program, encoding: 'utf8', timeout: 30_000 }),
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
};
/** Without a pin it is another program's. */
const attachByClsact = (direction: 'ingress' | 'egress', pin?: string): void => {
  const object = openBpfObject(compileCounterProgram(scratch, 'filter', RENAMED));
  attachTcx({
    program: object.program('gone_first'),
    ifindex: ns.run(() => interfaceIndex('t-u-a')),
    direction,
    pinPath: pin && join(links, pin),
    netns: ns,
    mechanism: 'clsact',
  }).close();
  object.close();
};
const qdiscs = (port: string): string => inNetns(ns, 'tc', 'qdisc', 'show', 'dev', port);

describe('uninstall without TCX', () => {
  test('removes the clsact qdisc with its last filter, and leaves one at a port without a program of cnpd', async () => {
    attachByClsact('ingress', 'guard@t-u-a:ingress');
    attachByClsact('egress', 'guard@t-u-a:egress');
    inNetns(ns, 'tc', 'qdisc', 'add', 'dev', 't-u-b', 'clsact');
    const printed = await runInNamespace();
    expect(qdiscs('t-u-a')).not.toContain('clsact');
    expect(qdiscs('t-u-b')).toContain('clsact');
    expect(printed.match(/removed the empty clsact qdisc of guard@t-u-a:(in|e)gress/g)).toHaveLength(1);
    expect(existsSync(runDir)).toBe(false);
  });

  test('leaves a clsact qdisc that holds another program’s filter', async () => {
    attachByClsact('egress', 'guard@t-u-a:egress');
    attachByClsact('ingress');
    await runInNamespace();
    expect(qdiscs('t-u-a')).toContain('clsact');
    expect(inNetns(ns, 'tc', 'filter', 'show', 'dev', 't-u-a', 'ingress')).toContain('gone_first');
    expect(inNetns(ns, 'tc', 'filter', 'show', 'dev', 't-u-a', 'egress')).toBe('');
  });

  test.each(['a filter that another program has removed', 'TCX'])(
    'leaves an empty clsact qdisc where cnpd had %s',
    async (had) => {
      if (had === 'TCX') inNetns(ns, 'tc', 'qdisc', 'add', 'dev', 't-u-a', 'clsact');
      else {
        attachByClsact('egress', 'guard@t-u-a:egress');
        inNetns(ns, 'tc', 'filter', 'delete', 'dev', 't-u-a', 'egress');
      }
      await runInNamespace();
      expect(qdiscs('t-u-a')).toContain('clsact');
      expect(existsSync(runDir)).toBe(false);
    },
  );
});

describe('uninstall', () => {
  test('routes, rule and device of groups go; a route of somebody else stays', async () => {
    const [devices, routes] = [TreeDevices.open({ netns: ns }), TreeRoutes.open({ netns: ns })];
    const { outer, inner } = devices.ensure();
    routes.addRule(TREE_DEVICE);
    const plain = { mtu: undefined, srh: undefined };
    const [proxy, sid] = [address('2001:db8:99::1'), address('fc00:1::100')];
    routes.add({ ...plain, destination: sid, table: MAIN_TABLE, ifindex: undefined });
    routes.add({ ...plain, destination: proxy, table: TREE_TABLE, ifindex: outer });
    routes.add({ ...plain, destination: proxy, table: MAIN_TABLE, ifindex: inner, mtu: 1400 });
    for (const one of [devices, routes]) one.close();
    inNetns(ns, 'ip', '-6', 'route', 'add', 'blackhole', '2001:db8:77::1');
    const printed = await runInNamespace();
    expect(inNetns(ns, 'ip', '-6', 'route', 'show', 'table', 'all', 'proto', '111')).toBe('');
    expect(inNetns(ns, 'ip', '-6', 'rule', 'show')).not.toContain(TREE_DEVICE);
    expect(inNetns(ns, 'ip', 'link', 'show')).not.toContain(TREE_DEVICE);
    expect(inNetns(ns, 'ip', '-6', 'route', 'show', 'type', 'blackhole')).toContain('2001:db8:77::1');
    for (const what of ['the routes of 2001:db8:99::1, fc00:1::100', `the interface ${TREE_DEVICE}`])
      expect(printed).toContain(`removed ${what}`);
  });

  test("the classes of held flows go, with the HTB they were in; an operator's HTB stays", async () => {
    inNetns(ns, 'tc', ...'qdisc add dev t-u-b root handle 1: htb default 0'.split(' '));
    inNetns(ns, 'tc', ...'class add dev t-u-b parent 1: classid 1:20 htb rate 8mbit quantum 2000'.split(' '));
    const before = [qdiscs('t-u-a'), inNetns(ns, 'tc', 'class', 'show', 'dev', 't-u-b')];
    const trees = HoldTrees.open({ netns: ns });
    const queue = NetlinkQueue.open({ netns: ns });
    for (const ifindex of ['t-u-a', 't-u-b'].map((name) => ns.run(() => interfaceIndex(name)))) {
      const place = placeIn(trees.prepare(ifindex), 0x1000);
      const rate = { rate: 1_000_000n, burst: 2000 };
      const answers = await queue.requests([setClassRequest(place, rate), setQueueRequest(place, 10_000)]);
      expect(refusalIn(answers)).toBeUndefined();
    }
    for (const one of [trees, queue]) one.close();
    expect(inNetns(ns, 'tc', 'class', 'show', 'dev', 't-u-b')).toContain('1:1000');
    const printed = await runInNamespace();
    expect([qdiscs('t-u-a'), inNetns(ns, 'tc', 'class', 'show', 'dev', 't-u-b')]).toEqual(before);
    expect(printed.match(/removed the queues of held flows at \S+/g)?.sort()).toEqual(
      ['t-u-a', 't-u-b'].map((name) => `removed the queues of held flows at ${name}`),
    );
  });

  test('empty folders that tc has made are no obstacle, and go', async () => {
    mkdirSync(join(bpf, 'tc', 'globals'), { recursive: true });
    symlinkSync('tc', join(bpf, 'ip'));
    expect(programs()).not.toEqual([]);
    expect(await run()).toBe(0);
    await allOff();
    expect(existsSync(runDir)).toBe(false);
  });

  test('what others have pinned stays, with the mount that holds it; programs, links, maps and files of cnpd go', async () => {
    const foreign = join(bpf, 'tc', 'globals');
    mkdirSync(foreign, { recursive: true });
    createMap(join(foreign, 'theirs'));
    writeFileSync(join(runDir, 'gnmi.sock'), '');
    expect(await run()).toBe(1);
    await allOff();
    expect(isBpffs(bpf)).toBe(true);
    expect(readdirSync(bpf).filter((name) => !name.endsWith('.debug'))).toEqual(['tc']);
    expect(readdirSync(foreign)).toEqual(['theirs']);
    expect(readdirSync(runDir)).toEqual(['bpf']);
    expect(lines.join('\n')).toContain(`left ${join(bpf, 'tc')}: not cnpd's`);
    // With that gone the next one removes the rest.
    rmSync(join(foreign, 'theirs'));
    expect(await run()).toBe(0);
    expect(existsSync(runDir)).toBe(false);
  });

  test('another program’s map beside those of cnpd stays and is named; maps that an earlier version had set aside are removed', async () => {
    for (const name of ['zz_foreign', 'counters_replaced']) createMap(join(bpf, name));
    expect(await run()).toBe(1);
    await allOff();
    expect(readdirSync(bpf).filter((name) => !name.endsWith('.debug'))).toEqual(['zz_foreign']);
    expect(lines.join('\n')).toContain(`left ${join(bpf, 'zz_foreign')}: not cnpd's`);
    rmSync(join(bpf, 'zz_foreign'));
    expect(await run()).toBe(0);
    expect(existsSync(runDir)).toBe(false);
  });

  test('programs that are kept for the next start go, also half of them; what others have pinned beside them stays', async () => {
    const kept = join(bpf, 'programs');
    const digest = '0123456789abcdef'.repeat(2);
    const folders = [`guard_${digest}_1`, `hold_${digest}_2_new`, 'theirs'].map((name) => join(kept, name));
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      createMap(join(folder, 'map'));
    }
    expect(await run()).toBe(1);
    await allOff();
    expect(readdirSync(kept)).toEqual(['theirs']);
    expect(lines).toContain('removed the programs of 2 objects');
    expect(lines.join('\n')).toContain(`left ${kept}: not cnpd's`);
    rmSync(join(kept, 'theirs'), { recursive: true });
    // Nor is their folder left where something else is.
    createMap(join(bpf, 'zz_foreign'));
    expect(await run()).toBe(1);
    expect(readdirSync(bpf).filter((name) => !name.endsWith('.debug'))).toEqual(['zz_foreign']);
  });

  test('a run directory that is a mount of its own is left, and named', async () => {
    unmountBpffs(bpf);
    rmSync(runDir, { recursive: true });
    mkdirSync(runDir);
    expect(spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', runDir]).status).toBe(0);
    try {
      expect(await run()).toBe(1);
      expect(lines.at(-1)).toMatch(`left ${runDir}: EBUSY`);
    } finally {
      spawnSync('umount', [runDir]);
    }
  });

  test('is refused while a cnpd has the network namespace, and removes nothing; then the namespace is free again', async () => {
    const release = lock();
    expect(await run()).toBe(1);
    expect(lines).toEqual([expect.stringContaining('runs in this network namespace: stop it first')]);
    expect(programs()).not.toEqual([]);
    release();
    expect(await run()).toBe(0);
    await allOff();
    lock()();
  });

  test('something that is no link in the place of links stays, and the links behind it go', async () => {
    const object = openBpfObject(compileCounterProgram(scratch, 'other', RENAMED), { pinDir: bpf });
    pinObject(object.map('sender_proxies').fd, join(links, 'a_map'));
    object.close();
    mkdirSync(join(links, 'a_folder'));
    expect(await run()).toBe(1);
    await allOff();
    expect(readdirSync(links).sort()).toEqual(['a_map']);
    expect(lines.join('\n')).toContain(`left ${join(links, 'a_map')}`);
  });
});
