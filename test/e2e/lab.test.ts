// The lab itself: containerlab files in real namespaces, and above all that nothing is left, however it ends.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LabError } from '../../src/lab/error.ts';
import { type Lab, labDown, labUp, openLab } from '../../src/lab/lab.ts';
import { isAlive } from '../../src/lab/processes.ts';
import { packageRoot } from '../../src/lab/program.ts';
import { readState } from '../../src/lab/state.ts';
import { labStatus } from '../../src/lab/status.ts';
import { allowedCpus } from '../support/cpus.ts';
import { contains, matches, until } from '../support/until.ts';
import { ownLabName } from './support/network.ts';

const NAME = await ownLabName('t-lab-e2e');
const CLI = join(packageRoot(), 'dist/lab.js');
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 't-lab-'));
});

afterEach(async () => {
  await labDown(NAME);
  rmSync(directory, { recursive: true, force: true });
});

function topology(text: string): string {
  const file = join(directory, 'x.clab.yml');
  writeFileSync(file, `name: ${NAME}\nprefix: __lab-name\n${text}`);
  return file;
}

const cli = (...argv: string[]): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(process.execPath, [CLI, ...argv], { encoding: 'utf8', timeout: 60_000 });

const residue = (): string[] => [
  ...(existsSync('/run/netns') ? readdirSync('/run/netns').filter((n) => n.startsWith(`${NAME}-`)) : []),
  ...(existsSync(`/run/cnpd-lab/${NAME}`) ? ['state directory'] : []),
  ...readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => new RegExp(`${NAME}(?!\\d)`).test(line)),
  ...readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && environmentOf(pid).includes(`CNPD_LAB=${NAME}\0`)),
];

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

const TWO_NODES = `
topology:
  defaults:
    kind: linux
    sysctls: {net.ipv6.conf.default.accept_dad: 0, net.ipv6.conf.all.accept_dad: 0}
  nodes:
    a: {exec: ["ip address add 2001:db8::1/64 dev eth1"]}
    b: {exec: ["ip address add 2001:db8::2/64 dev eth1"]}
`;
const PLAIN = `${TWO_NODES}
  links:
    - {endpoints: ["a:eth1", "b:eth1"], mtu: 1400}
`;
const DELAYED = `${TWO_NODES}
  links:
    - {endpoints: ["a:eth1", "b:eth1"], mtu: 1500, vars: {delay: 10ms}}
`;

const DELAYED_RTT_MS = 20;

/** Answers each datagram with itself; the client reports how long the fastest of twenty took. */
const ECHO =
  "const s = require('node:dgram').createSocket('udp6'); " +
  "s.on('message', (m, r) => s.send(m, r.port, r.address)); s.bind(7, () => console.log('bound'));";
const PING = `const s = require('node:dgram').createSocket('udp6'); let n = 0, t, min = 1e9;
const go = () => { t = performance.now(); s.send(Buffer.alloc(Number(process.argv[2] ?? 100)), 7, '2001:db8::2'); };
s.on('message', () => { min = Math.min(min, performance.now() - t); if (++n < 20) go(); else { console.log(min); s.close(); } }); s.bind(() => go());`;

async function roundTripMs(lab: Lab): Promise<number> {
  const server = lab.spawn('b', [process.execPath, '-e', ECHO], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout!, 'data');
  const ms = Number(await lab.mustExec('a', ['timeout', '10', process.execPath, '-e', PING]));
  const ended = once(server, 'exit');
  server.kill();
  await ended;
  return ms;
}

test('a node has namespaces of its own: binds, environment, hostname, sysctls, and a file system whose changes stay in it', async () => {
  mkdirSync(join(directory, 'tree'));
  writeFileSync(join(directory, 'conf'), 'from the topology');
  const lab = await labUp(
    topology(`
topology:
  nodes:
    a:
      kind: linux
      binds: ["conf:/etc/t-lab/conf:ro", "tree:/opt/t-lab-tree"]
      env: {COLOR: blue}
      sysctls: {net.ipv6.conf.all.forwarding: 1}
      cmd: sh -c 'echo started; exec sleep 1000'
      exec:
        - touch /etc/t-lab-written /opt/t-lab-tree/shared /var/log/t-lab-written /run/t-lab-written
        - sh -c 'sleep 1001 &'
`),
  );
  const shell = (script: string): Promise<string> => lab.mustExec('a', ['sh', '-c', script]);
  expect(await shell('cat /etc/t-lab/conf; hostname; echo $COLOR $CNPD_LAB_NODE')).toBe('from the topologya\nblue a\n');
  expect(await shell('cat /proc/sys/net/ipv6/conf/all/forwarding; ls /sys/class/net')).toBe('1\nlo\n');
  expect((await lab.exec('a', ['sh', '-c', 'echo x > /etc/t-lab/conf'])).code).not.toBe(0);
  expect(
    ['/etc/t-lab', '/etc/t-lab-written', '/opt/t-lab-tree', '/var/log/t-lab-written', '/run/t-lab-written'].filter(
      existsSync,
    ),
  ).toEqual([]);
  expect(existsSync(join(directory, 'tree/shared'))).toBe(true);
  expect(readFileSync(`/run/cnpd-lab/${NAME}/log/a.log`, 'utf8')).toBe('started\n');
  expect((await labStatus(NAME)).nodes[0]!.processes.map((p) => p.command).sort()).toEqual([
    'sleep 1000',
    'sleep 1001',
  ]);
  await lab.down();
  expect(residue()).toEqual([]);
});

test('a plain link has the MTU of the file on both ends', async () => {
  const lab = await labUp(topology(PLAIN));
  for (const node of lab.nodes) expect(await lab.mustExec(node, ['cat', '/sys/class/net/eth1/mtu'])).toBe('1400\n');
  expect(await roundTripMs(lab)).toBeLessThan(DELAYED_RTT_MS);
});

test('one CPU takes what all plain links of a lab receive', async () => {
  const lab = await labUp(topology(PLAIN));
  const masks = await Promise.all(
    lab.nodes.map((node) => lab.mustExec(node, ['sh', '-c', 'cat /sys/class/net/eth1/queues/rx-*/rps_cpus'])),
  );
  const sets = new Set(
    masks
      .join('')
      .trim()
      .split('\n')
      .map((mask) => BigInt(`0x${mask.replaceAll(',', '')}`)),
  );
  expect(sets.size).toBe(1);
  const [cpus] = sets;
  expect(cpus!.toString(2)).toMatch(/^10*$/);
});

test('a link with delay takes its time in each direction', async () => {
  const lab = await labUp(topology(DELAYED));
  expect(await lab.mustExec('b', ['cat', '/sys/class/net/eth1/mtu'])).toBe('1500\n');
  const ms = await roundTripMs(lab);
  // How much longer is the machine's business.
  expect(ms).toBeGreaterThanOrEqual(DELAYED_RTT_MS);
});

/** Sends `count` numbered datagrams at a rate; the receiver reports how many came, and whether in order. */
const SOURCE = `const s = require('node:dgram').createSocket('udp6'); const [count, rate] = process.argv.slice(1).map(Number); const b = Buffer.alloc(1000);
let sent = 0; const t0 = performance.now(); s.connect(9, '2001:db8::2', () => { const tick = () => { const due = Math.min(count, (performance.now() - t0) * rate / 1000);
for (let burst = 0; sent < due && burst < 200; burst++) { b.writeUInt32BE(sent++); s.send(b); } if (sent < count) setTimeout(tick, 1); else setTimeout(() => s.close(), 200); }; tick(); });`;
const SINK = `const s = require('node:dgram').createSocket({type: 'udp6', recvBufferSize: 4e6}); const count = Number(process.argv[1]); let n = 0, last = -1, disorder = 0;
const end = () => { console.log(JSON.stringify({n, disorder})); process.exit(); }; let idle;
s.on('message', (m) => { const i = m.readUInt32BE(); if (i < last) disorder++; last = i; n++; clearTimeout(idle); if (n === count) end(); else idle = setTimeout(end, 2000); }); s.bind(9, () => console.log('bound'));`;

test('a link with delay carries 20,000 packets of 1 kB a second without loss and in order', async () => {
  const lab = await labUp(topology(DELAYED));
  await roundTripMs(lab); // the neighbor is known: the kernel drops what waits for its answer
  const sink = lab.spawn('b', [process.execPath, '-e', SINK, '60000'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const sinkEnded = once(sink, 'exit');
  let output = '';
  sink.stdout!.setEncoding('utf8').on('data', (text: string) => (output += text));
  await until('the receiver', () => output, contains('bound'));
  await lab.mustExec('a', [process.execPath, '-e', SOURCE, '60000', '20000']);
  await sinkEnded;
  const counter = async (node: string, name: string): Promise<number> =>
    Number(await lab.mustExec(node, ['cat', `/sys/class/net/eth1/statistics/${name}`]));
  // Counted at the interfaces: whether the receiving program keeps up with them is its own affair.
  expect(await counter('a', 'tx_dropped')).toBe(0);
  expect(await counter('b', 'rx_packets')).toBeGreaterThanOrEqual(60_000);
  expect(JSON.parse(output.split('\n')[1]!)).toMatchObject({ disorder: 0 });
});

test('FRR runs as the daemons file says, with sockets of its own, and vtysh speaks to it plainly', async () => {
  writeFileSync(join(directory, 'daemons'), 'isisd=yes\n');
  for (const [i, node] of ['a', 'b'].entries()) {
    writeFileSync(
      join(directory, `${node}.conf`),
      `hostname ${node}\ninterface eth1\n ipv6 router isis x\n isis network point-to-point\nrouter isis x\n` +
        ` lsp-gen-interval 1\n net 49.0001.0000.0000.000${i + 1}.00\n is-type level-2-only\n`,
    );
  }
  const node = (name: string): string =>
    `    ${name}: {kind: linux, binds: ["daemons:/etc/frr/daemons", "${name}.conf:/etc/frr/frr.conf"]}`;
  const lab = await labUp(
    topology(
      `topology:\n  nodes:\n${node('a')}\n${node('b')}\n  links:\n    - {endpoints: ["a:eth1", "b:eth1"], mtu: 1500}\n`,
    ),
  );
  await until(
    'the adjacency',
    async () => (await lab.exec('a', ['vtysh', '-c', 'show isis neighbor'])).stdout,
    matches(/^ b +eth1 +2 +Up/m),
  );
  expect(await lab.mustExec('a', ['vtysh', '-c', 'show running-config'])).toContain('lsp-timers gen-interval 1');
  await lab.down();
  expect(residue()).toEqual([]);
});

test('what the file describes and cannot be done is reported before anything is made', async () => {
  const refused = async (text: string): Promise<string> => {
    const error = await labUp(topology(text)).then(
      () => undefined,
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(LabError);
    return (error as LabError).message;
  };
  expect(await refused('topology: {nodes: {a: {kind: linux, binds: ["absent:/etc/x"]}}}')).toContain('does not exist');
  expect(await refused('topology: {nodes: {a: {kind: linux, startup-delay: 5}}}')).toContain('startup-delay');
  expect(residue()).toEqual([]);
});

test('an exec that fails fails the lab, and nothing is left', async () => {
  await expect(
    labUp(topology(`topology: {nodes: {a: {kind: linux, exec: ["ip link set nonsense up"]}}}`)),
  ).rejects.toThrow(/a: exec ip link set nonsense up failed with status 1:\n.*nonsense/);
  expect(residue()).toEqual([]);
});

test('a lab that is up is not brought up again; down is idempotent', async () => {
  const file = topology(PLAIN);
  await labUp(file);
  await expect(labUp(file)).rejects.toMatchObject({ code: 'already-up' });
  await labDown(NAME);
  await labDown(NAME);
  expect(() => openLab(NAME)).toThrow(/no lab named/);
  expect(residue()).toEqual([]);
});

test('a namespace that the lab has not made is neither used nor removed', async () => {
  spawnSync('ip', ['netns', 'add', `${NAME}-a`]);
  try {
    await expect(labUp(topology(PLAIN))).rejects.toThrow(/exists already/);
    expect(existsSync(`/run/netns/${NAME}-a`)).toBe(true);
  } finally {
    spawnSync('ip', ['netns', 'delete', `${NAME}-a`]);
  }
});

test('the command line: up, status, exec with its exit code, down', () => {
  const file = topology(PLAIN);
  expect(cli('up', file)).toMatchObject({ status: 0 });
  expect(cli('status', file).stdout).toMatch(new RegExp(`^${NAME}: up[^]*eth1 +UP +mtu 1400 +2001:db8::1/64`, 'm'));
  expect(JSON.parse(cli('status', '-o', 'json', NAME).stdout)).toMatchObject([
    { lab: NAME, status: 'up', nodes: [{ name: 'a' }, { name: 'b' }] },
  ]);
  expect(cli('exec', file, 'b', '--', 'sh', '-c', 'hostname; exit 7')).toMatchObject({ status: 7, stdout: 'b\n' });
  expect(cli('exec', NAME, 'z', 'true').stderr).toContain('has no node "z"');
  expect(cli('down', file)).toMatchObject({ status: 0 });
  expect(cli('down', file)).toMatchObject({ status: 0 });
  expect(cli('status', file)).toMatchObject({ status: 3 });
  expect(cli('up', join(directory, 'absent.yml'))).toMatchObject({ status: 1 });
  expect(residue()).toEqual([]);
});

/** Starts `up` of a lab that takes its time, and waits until it is in the middle. */
async function upInTheMiddle(): Promise<{ child: ChildProcess; stderr: () => string }> {
  const file = topology(`${DELAYED.replace('dev eth1"]}', `dev eth1", "sh -c 'sleep 1002 & exec sleep 1003'"]}`)}`);
  const child = spawn(process.execPath, [CLI, 'up', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await until('the long exec', () => stderr, contains('sleep 1003'));
  await until(
    'its process',
    () => labStatus(NAME),
    ({ nodes }) => nodes.some(({ processes }) => processes.some(({ command }) => command === 'sleep 1003')),
  );
  return { child, stderr: () => stderr };
}

// The kernel numbers mount namespaces from ranges of the CPUs, and refuses to pin one to a file below a higher number.
test('a lab runs in a mount namespace of its own, as in a container, whichever CPU has made it', () => {
  const file = topology(PLAIN);
  const script = '"$0" "$1" up "$2" && "$0" "$1" exec "$2" a -- hostname && "$0" "$1" down "$2"';
  const [first, second = first] = allowedCpus().slice(0, 2).map(String);
  for (const [outside, inside] of [
    [first!, second!],
    [second!, first!],
  ] as const) {
    const inner = ['taskset', '-c', inside, 'sh', '-c', script, process.execPath, CLI, file];
    const ran = spawnSync('taskset', ['-c', outside, 'unshare', '--mount', ...inner], { encoding: 'utf8' });
    expect(ran, ran.stderr).toMatchObject({ status: 0, stdout: 'a\n' });
  }
});

test('Ctrl-C in the middle of up takes down what was made', async () => {
  const { child, stderr } = await upInTheMiddle();
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
  expect(stderr()).toContain('interrupted');
  expect(residue()).toEqual([]);
});

test('after kill -9 of up, status shows what it is, and down removes all of it', async () => {
  const { child } = await upInTheMiddle();
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(cli('status', NAME)).toMatchObject({ status: 3, stdout: expect.stringContaining('was killed') as unknown });
  await expect(labUp(join(directory, 'x.clab.yml'))).rejects.toThrow(/half up/);
  expect(cli('down', NAME)).toMatchObject({ status: 0 });
  expect(residue()).toEqual([]);
});

test('after kill -9 of the delay line, status names it, and down removes the rest', async () => {
  await labUp(topology(DELAYED));
  const [line] = readState(NAME)!.helpers;
  process.kill(line!.pid, 'SIGKILL');
  const status = await until(
    'the loss to show',
    () => labStatus(NAME),
    (now) => now.problems.length === 3 && now,
  );
  expect(status.status).toBe('partial');
  expect(status.problems.join('\n')).toMatch(/delay-line .* is gone\na has lost eth1\nb has lost eth1/);
  await labDown(NAME);
  expect(residue()).toEqual([]);
});

test('a pid in the state that belongs to another process by now is spared', async () => {
  await labUp(topology(DELAYED));
  const bystander = spawn('sleep', ['1004']);
  const file = `/run/cnpd-lab/${NAME}/state.json`;
  const state = JSON.parse(readFileSync(file, 'utf8')) as { helpers: { pid: number; startTime: string }[] };
  state.helpers.push({ pid: bystander.pid!, startTime: '1' });
  writeFileSync(file, JSON.stringify(state));
  await labDown(NAME);
  expect(bystander.exitCode).toBeNull();
  bystander.kill();
  expect(residue()).toEqual([]);
});

// The kernel gives the number of a namespace that is gone to the next one that anybody makes.
test('down spares processes in mount namespaces that are made while it waits', async () => {
  const lab = await labUp(topology(PLAIN), { name: NAME });
  const stubborn = ['unshare', '--mount', 'sh', '-c', 'trap "" TERM; echo set; while :; do sleep 1; done'];
  const left = lab.spawn('a', stubborn, { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(left.stdout!, 'data');
  const { holder } = readState(NAME)!.nodes[0]!;
  const down = lab.down();
  await until('the node is told to end', () => !isAlive(holder!));
  const strangers = Array.from({ length: 8 }, () =>
    spawn('unshare', ['--mount', 'sleep', 'infinity'], { stdio: 'ignore' }),
  );
  try {
    await Promise.all(strangers.map((stranger) => once(stranger, 'spawn')));
    const parent = readlinkSync('/proc/self/ns/mnt');
    const hasOwn = ({ pid }: ChildProcess): boolean => readlinkSync(`/proc/${pid}/ns/mnt`) !== parent;
    await until('they have namespaces of their own', () => strangers.every(hasOwn));
    left.kill('SIGKILL');
    await down;
    expect(strangers.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual(strangers.map(() => null));
  } finally {
    for (const stranger of strangers) stranger.kill('SIGKILL');
  }
});
