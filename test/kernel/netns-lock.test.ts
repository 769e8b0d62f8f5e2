// One cnpd a network namespace, whoever else is on the router: the lock against other processes, other namespaces and
// people without privileges.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NamespaceBusy, lockNetns } from '../../src/kernel/netns-lock.ts';
import { Netns } from '../../src/kernel/netns.ts';

/** One that anybody may run. */
const PYTHON = '/usr/bin/python3';
/** The name as newer and older versions of Node.js bind it, in Python. */
const OLD_NAMES = [String.raw`'\0cnpd'`, String.raw`'\0cnpd'.ljust(108, '\0')`];

let ns: Netns;
let children: ChildProcess[];
beforeEach(() => {
  ns = Netns.create();
  children = [];
});
afterEach(async () => {
  for (const child of children) {
    const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await gone;
  }
  ns.close();
});

/** A process in the namespace that binds an abstract unix socket, as cnpd 0.3.0 does, and says `ready`. */
async function holds(name: string, uid: number): Promise<void> {
  const script = `import os, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(${name}); s.listen(1); print('ready', flush=True); time.sleep(600)`;
  const child = spawn(
    'nsenter',
    [`--net=${ns.path}`, 'setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', PYTHON, '-c', script],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  children.push(child);
  await once(child.stdout, 'data');
}

const lock = (): (() => void) => ns.run(() => lockNetns());

describe('the lock on a network namespace', () => {
  test('is held by one at a time, and free when it is let go', () => {
    const release = lock();
    expect(lock).toThrow(NamespaceBusy);
    release();
    lock()();
  });

  test('another namespace has another lock', () => {
    const [release, other] = [lock(), Netns.create()];
    other.run(() => lockNetns())();
    other.close();
    release();
  });

  test('another mount namespace, with a /run of its own, has the same lock', () => {
    const release = lock();
    const script = `mount -t tmpfs none /run && exec ${process.execPath} --input-type=module`;
    const attempt = `import koffi from ${JSON.stringify(`${process.cwd()}/node_modules/koffi/index.js`)};
      const c = koffi.load('libc.so.6');
      const fd = c.func('int socket(int, int, int)')(17, 2, 0);
      const address = Buffer.alloc(20); address.writeUInt16LE(17, 0); address.writeUInt16BE(0x88b5, 2);
      c.func('int bind(int, void *, unsigned int)')(fd, address, 20);
      const args = Buffer.alloc(8); args.writeUInt16LE(0xc9d1, 0); args.writeUInt32LE(1, 4);
      console.log(c.func('int setsockopt(int, int, int, void *, unsigned int)')(fd, 263, 18, args, 8), koffi.errno());`;
    const run = spawnSync('nsenter', [`--net=${ns.path}`, 'unshare', '--mount', 'sh', '-c', script], {
      input: attempt,
      encoding: 'utf8',
    });
    expect(run).toMatchObject({ stdout: '-1 28\n', stderr: '' });
    release();
  });

  test.each(OLD_NAMES)('a user who binds the old name (%s) keeps nobody from starting', async (name) => {
    await holds(name, 65534);
    lock()();
  });

  test.each(OLD_NAMES)('an upgrade: a cnpd of 0.3.0 that still runs (%s) is seen, and named', async (name) => {
    await holds(name, 0);
    expect(lock).toThrow(new RegExp(`another cnpd \\(process ${children[0]!.pid}\\)`));
  });

  test('the other way round: an old cnpd finds its name taken', () => {
    const release = lock();
    const bind = "import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\0cnpd')";
    expect(spawnSync('nsenter', [`--net=${ns.path}`, PYTHON, '-c', bind], { encoding: 'utf8' }).stderr).toContain(
      'Address already in use',
    );
    release();
  });

  test('a process without CAP_NET_RAW cannot take it', () => {
    const bind = 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)';
    const run = spawnSync(
      'nsenter',
      [`--net=${ns.path}`, 'setpriv', '--reuid=65534', '--bounding-set=-all', '--inh-caps=-all', PYTHON, '-c', bind],
      { encoding: 'utf8' },
    );
    expect(run.stderr).toContain('Operation not permitted');
  });

  test('takes no packet: frames of its EtherType that arrive are dropped before they are queued', () => {
    ns.run(() => spawnSync('ip', ['link', 'add', 't-l-a', 'type', 'veth', 'peer', 'name', 't-l-b']));
    for (const end of ['t-l-a', 't-l-b']) ns.run(() => spawnSync('ip', ['link', 'set', end, 'up']));
    const release = lock();
    // A second packet socket, without the filter, shows that the frames arrive.
    const script = `import socket
w = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b5)); w.bind(('t-l-b', 0x88b5)); w.settimeout(20)
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('t-l-a', 0))
for _ in range(20): s.send(b'\\xff' * 12 + b'\\x88\\xb5' + bytes(50))
for _ in range(20): w.recv(100)
print(open('/proc/thread-self/net/packet').read())`;
    const run = ns.run(() => spawnSync(PYTHON, ['-c', script], { encoding: 'utf8' }));
    release();
    // Columns: sk, RefCnt, Type, Proto, Iface, R, Rmem, User, Inode. The lock is bound to no interface.
    const sockets = run.stdout
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/));
    const locks = sockets.filter(([, , , protocol, ifindex]) => protocol === '88b5' && ifindex === '0');
    expect({ stderr: run.stderr, locks: locks.map((lock) => lock[6]) }).toEqual({ stderr: '', locks: ['0'] });
  });

  test('does not pass to children: what it started outlives it without the lock', async () => {
    const release = lock();
    const child = spawn('sleep', ['600'], { stdio: 'ignore' });
    children.push(child);
    await once(child, 'spawn');
    release();
    lock()();
  });
});
