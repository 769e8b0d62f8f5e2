// BPF objects, maps, test runs and attachments on the real kernel.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isBpffs, mountBpffs, unmountBpffs } from '../../src/kernel/bpf/bpffs.ts';
import { filterHandle } from '../../src/kernel/bpf/clsact.ts';
import { BpfMap, possibleCpus } from '../../src/kernel/bpf/map.ts';
import { BpfLoadError, type BpfObject, openBpfObject } from '../../src/kernel/bpf/object.ts';
import { pinObject } from '../../src/kernel/bpf/syscall.ts';
import { attachTcx, detachPinnedLink, pinnedLinkTarget } from '../../src/kernel/bpf/tcx.ts';
import { interfaceIndex } from '../../src/kernel/ffi/libc.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { openPacketSocket } from '../../src/kernel/packet-socket.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { compileCounterProgram } from './support/counter-program.ts';
import { attachedPrograms, inNetns, ip, untilCarried } from '../support/netns.ts';
import { is, until } from '../support/until.ts';

let directory: string;
let pins: string;
let object: BpfObject;
let good: string;
const u32 = (n: number): Uint8Array => new Uint8Array(new Uint32Array([n]).buffer);
const u64 = (n: bigint): Uint8Array => new Uint8Array(new BigUint64Array([n]).buffer);
const packet = new Uint8Array(64);
/** What is pinned; kernels with BPF_PRELOAD put maps.debug and progs.debug into every new mount. */
const pinned = (): string[] =>
  readdirSync(pins)
    .filter((name) => !name.endsWith('.debug'))
    .sort();
const descriptors = (): number => readdirSync('/proc/self/fd').length;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 't-kernel-bpf-'));
  pins = join(directory, 'bpffs');
  mountBpffs(pins);
  good = compileCounterProgram(directory, 'good');
});

afterAll(() => {
  unmountBpffs(pins);
  rmSync(directory, { recursive: true });
});

beforeEach(() => {
  object = openBpfObject(good);
});

afterEach(() => {
  object.close();
  for (const name of pinned()) rmSync(join(pins, name));
});

describe('the BPF file system', () => {
  test('mounting twice mounts once; what is not mounted is not unmounted', () => {
    mountBpffs(pins);
    expect(isBpffs(pins)).toBe(true);
    unmountBpffs(directory);
    expect(spawnSync('grep', ['-c', pins, '/proc/mounts'], { encoding: 'utf8' }).stdout.trim()).toBe('1');
  });
});

describe('BPF objects', () => {
  test('names its programs and maps, and says what there is when asked for another', () => {
    expect(object.programNames).toEqual(['count_first', 'count_second', 'echo', 'report']);
    expect(() => object.map('nothing')).toThrow(/has no map nothing; it has .*counters/);
    expect(() => object.program('nothing')).toThrow(/has no program nothing; it has count_first/);
  });

  test('a program that the verifier refuses is an error with the tail of the verifier log', () => {
    const broken = compileCounterProgram(directory, 'broken', ['BROKEN']);
    const before = descriptors();
    const error = (() => {
      try {
        openBpfObject(broken, { pinDir: pins });
      } catch (e) {
        return e;
      }
      return undefined;
    })();
    expect(error).toBeInstanceOf(BpfLoadError);
    expect((error as BpfLoadError).code).toBe('EACCES');
    expect((error as Error).message).toMatch(/R\d invalid mem access 'map_value_or_null'/);
    expect((error as BpfLoadError).log).toContain("prog 'broken'");
    expect(pinned()).toEqual([]);
    expect(descriptors()).toBe(before);
  });

  test('a file that is not there, and one that is not an object, are named errors', () => {
    expect(() => openBpfObject(join(directory, 'none.o'))).toThrow(/open\(.*none\.o\): ENOENT/);
    expect(() => openBpfObject('/etc/passwd')).toThrow(/open\(\/etc\/passwd\): .*ELF/);
  });

  test('only the chosen programs are loaded', () => {
    const only = openBpfObject(good, { programs: ['echo'] });
    expect(only.programNames).toEqual(['echo']);
    only.close();
    expect(() => openBpfObject(good, { programs: ['echo', 'ecco'] })).toThrow(/has no program ecco/);
  });

  test('leaves no descriptor open', () => {
    openBpfObject(good, { pinDir: pins }).close();
    const before = descriptors();
    for (let i = 0; i < 5; i++) openBpfObject(good, { pinDir: pins }).close();
    expect(descriptors()).toBe(before);
  });
});

describe('pinned maps', () => {
  test('a map pinned by one object is taken over with its content by the next', () => {
    const first = openBpfObject(good, { pinDir: pins, unpinned: ['scratch'] });
    expect(first.reusedMaps).toEqual([]);
    first.map('flows').update(u64(1n), u64(42n));
    first.close();
    expect(pinned()).toEqual(['counters', 'events', 'flows', 'prefixes', 'recent']);
    const second = openBpfObject(good, { pinDir: pins, unpinned: ['scratch'] });
    expect([...second.reusedMaps].sort()).toEqual(['counters', 'events', 'flows', 'prefixes', 'recent']);
    expect(second.map('flows').lookup(u64(1n))).toEqual(u64(42n));
    second.close();
    const direct = BpfMap.openPinned(join(pins, 'flows'));
    expect(direct.lookup(u64(1n))).toEqual(u64(42n));
    direct.close();
  });

  test('a map pinned in the shape of another version is replaced by an empty one, and logged; the others keep their content', () => {
    const old = openBpfObject(good, { pinDir: pins });
    old.map('flows').update(u64(1n), u64(42n));
    old.map('counters').update(u32(0), u64(7n));
    const before = pinned();
    const wider = openBpfObject(compileCounterProgram(directory, 'wider', ['VALUE_WORDS=4']), { pinDir: pins });
    expect(wider.replacedMaps).toEqual([{ map: 'counters', differences: ['value size 8 instead of 32'] }]);
    expect(wider.reusedMaps).not.toContain('counters');
    expect(wider.map('counters').sumCounters(u32(0))).toEqual([0n, 0n, 0n, 0n]);
    expect(wider.map('flows').lookup(u64(1n))).toEqual(u64(42n));
    // The old program still has its own.
    expect(old.map('counters').sumCounters(u32(0))![0]).toBeGreaterThan(0n);
    expect(pinned()).toEqual(before);
    old.close();
    wider.close();
    const again = openBpfObject(good, { pinDir: pins, maxEntries: { flows: 7 } });
    expect(again.replacedMaps.map((r) => [r.map, r.differences])).toEqual([
      ['counters', ['value size 32 instead of 8']],
      ['flows', ['max entries 20000 instead of 7']],
    ]);
    again.close();
    const last = openBpfObject(good, { pinDir: pins, maxEntries: { flows: 7 } });
    expect(last.replacedMaps).toEqual([]);
    last.close();
  });

  test('an object that is refused leaves the pins of another version as they were', () => {
    const old = openBpfObject(good, { pinDir: pins });
    old.map('flows').update(u64(1n), u64(42n));
    const before = pinned();
    const broken = compileCounterProgram(directory, 'broken', ['BROKEN']);
    expect(() => openBpfObject(broken, { pinDir: pins, maxEntries: { flows: 7 } })).toThrow(BpfLoadError);
    old.close();
    expect(pinned()).toEqual(before);
    const kept = BpfMap.openPinned(join(pins, 'flows'));
    expect(kept.lookup(u64(1n))).toEqual(u64(42n));
    kept.close();
  });

  test('sizes follow the configuration, and a name that does not exist is an error', () => {
    const small = openBpfObject(good, { maxEntries: { flows: 2 } });
    small.map('flows').update(u64(1n), u64(1n));
    small.map('flows').update(u64(2n), u64(1n));
    expect(() => small.map('flows').update(u64(3n), u64(1n))).toThrow(/update\(map flows\): E2BIG/);
    small.close();
    expect(() => openBpfObject(good, { maxEntries: { floss: 2 } })).toThrow(/no map named floss/);
  });
});

describe('maps', () => {
  test('lookup, update, delete; wrong sizes are refused before the kernel sees them', () => {
    const map = object.map('flows');
    expect(map.lookup(u64(5n))).toBeUndefined();
    map.update(u64(5n), u64(50n));
    expect(() => map.update(u64(5n), u64(51n), 1)).toThrow(/EEXIST/);
    expect(map.lookup(u64(5n))).toEqual(u64(50n));
    expect({ first: map.delete(u64(5n)), again: map.delete(u64(5n)) }).toEqual({ first: true, again: false });
    expect(() => map.lookup(u32(5))).toThrow(/a key has 8 bytes, not 4/);
    expect(() => map.update(u64(5n), u32(5))).toThrow(/a value has 8 bytes, not 4/);
  });

  test.each(['flows', 'prefixes', 'recent'])('a batch of %s is read back whole, across several chunks', (name) => {
    const map = object.map(name);
    const count = name === 'recent' ? 100 : 10_000;
    const keyOf = (i: number): Uint8Array =>
      name === 'flows'
        ? u64(BigInt(i) * 7919n)
        : name === 'recent'
          ? u32(i)
          : new Uint8Array([
              128,
              0,
              0,
              0,
              ...new Array<number>(12).fill(0xfd),
              i >> 24,
              (i >> 16) & 255,
              (i >> 8) & 255,
              i & 255,
            ]);
    const valueOf = (i: number): Uint8Array => (name === 'flows' ? u64(BigInt(i)) : u32(i));
    map.updateBatch(Array.from({ length: count }, (_, i) => [keyOf(i), valueOf(i)] as const));
    const read = new Map(
      [...map.entries()].map(([k, v]) => [Buffer.from(k).toString('hex'), Buffer.from(v).toString('hex')]),
    );
    expect(read.size).toBe(count);
    for (let i = 0; i < count; i++)
      expect(read.get(Buffer.from(keyOf(i)).toString('hex'))).toBe(Buffer.from(valueOf(i)).toString('hex'));
    expect([...map.keys()]).toHaveLength(count);
    expect([keyOf(0), keyOf(1), keyOf(0)].map((key) => map.delete(key))).toEqual([true, true, false]);
    expect([...map.entries()]).toHaveLength(count - 2);
  });

  test('a batch that does not fit says how far it came', () => {
    const small = openBpfObject(good, { maxEntries: { flows: 10 } });
    expect(() =>
      small.map('flows').updateBatch(Array.from({ length: 12 }, (_, i) => [u64(BigInt(i)), u64(0n)] as const)),
    ).toThrow(/E2BIG.*10 of 12 entries were set/);
    small.close();
  });

  test('a map without batches (a ring buffer) is an error, not an empty map', () => {
    expect(() => object.map('events').updateBatch([[new Uint8Array(0), new Uint8Array(0)]])).toThrow(
      /update\(map events\)/,
    );
  });

  test('per-CPU values: one a CPU, summed, and set alike on all', () => {
    const map = object.map('counters');
    expect(map.perCpu).toBe(true);
    map.update(u32(0), u64(3n));
    expect(map.lookupPerCpu(u32(0))).toEqual(Array(possibleCpus()).fill(u64(3n)));
    expect(map.sumCounters(u32(0))).toEqual([3n * BigInt(possibleCpus())]);
    object.program('count_first').testRun({ data: packet, repeat: 1000 });
    expect(map.sumCounters(u32(0))).toEqual([3n * BigInt(possibleCpus()) + 1000n]);
    expect([...map.entries()]).toHaveLength(4);
  });

  test('a map that is closed while it is read refuses the next batch', () => {
    const map = object.map('flows');
    map.updateBatch(Array.from({ length: 5000 }, (_, i) => [u64(BigInt(i)), u64(0n)] as const));
    const entries = map.entries();
    expect(entries.next().done).toBe(false);
    object.close();
    expect(() => [...entries]).toThrow(/was closed/);
  });

  test('a closed object refuses instead of touching another descriptor', () => {
    const map = object.map('flows');
    object.close();
    expect(() => map.lookup(u64(1n))).toThrow(/was closed/);
    expect(() => object.map('flows')).toThrow(/was closed/);
  });
});

describe('test runs', () => {
  test('return value, packet, context and constants', () => {
    const ctx = new Uint8Array(192);
    new DataView(ctx.buffer).setUint32(8, 41, true); // __sk_buff.mark
    const result = object.program('echo').testRun({ data: packet, ctx });
    expect(result.retval).toBe(7);
    expect(result.data).toEqual(packet);
    expect(new DataView(result.ctx!.buffer).getUint32(8, true)).toBe(42);
    expect(() => object.program('echo').testRun({ data: new Uint8Array(13) })).toThrow(
      /test run\(program echo\): EINVAL/,
    );
    const changed = openBpfObject(good, { rodata: (bytes) => bytes.set(u32(9)) });
    expect(changed.program('echo').testRun({ data: packet }).retval).toBe(9);
    changed.close();
  });

  test('bpf_ktime_get_ns is the clock of process.hrtime.bigint()', () => {
    const before = process.hrtime.bigint();
    object.program('echo').testRun({ data: packet });
    const after = process.hrtime.bigint();
    const now = new DataView(object.map('scratch').lookup(u32(0))!.buffer).getBigUint64(0, true);
    expect(now).toBeGreaterThan(before);
    expect(now).toBeLessThan(after);
  });
});

describe.each(['tcx', 'clsact'] as const)('attachment by %s', (mechanism) => {
  let a: Netns;
  let b: Netns;
  let poller: Poller;
  let ifindex: number;
  const errors: unknown[] = [];

  beforeEach(async () => {
    [a, b] = [Netns.create(), Netns.create()];
    poller = Poller.open({ onError: (e) => errors.push(e) });
    for (const ns of [a, b]) inNetns(ns, 'sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1');
    ip(a, `link add t-k-a type veth peer name t-k-b netns ${b.path}`);
    ip(a, 'link set t-k-a up');
    ip(b, 'link set t-k-b up');
    // Until then the kernel drops what is sent.
    await untilCarried(a, 't-k-a');
    await untilCarried(b, 't-k-b');
    ifindex = b.run(() => interfaceIndex('t-k-b'));
  });

  afterEach(() => {
    poller.close();
    a.close();
    b.close();
  });

  const count = (slot: number): bigint => object.map('counters').sumCounters(u32(slot))![0]!;

  test('survives its process, is adopted, swapped 500 times under traffic without a packet lost, and leaves nothing', async () => {
    const pinPath = join(pins, 't-k-link');
    let seen = 0;
    const rx = openPacketSocket(
      { interface: 't-k-b', netns: b, protocol: 0x88b5, promiscuous: true, receiveBuffer: 16 << 20 },
      { poller, onFrame: () => seen++, onError: (e) => errors.push(e) },
    );
    const tx = openPacketSocket(
      { interface: 't-k-a', netns: a, protocol: 0x88b5 },
      { poller, onFrame: () => {}, onError: (e) => errors.push(e) },
    );
    const frame = new Uint8Array(64).fill(0xff, 0, 6);
    frame.set([0x88, 0xb5], 12);
    const first = attachTcx({
      program: object.program('count_first'),
      ifindex,
      direction: 'ingress',
      pinPath,
      netns: b,
      mechanism,
    });
    expect(first).toMatchObject({ adopted: false, mechanism });
    tx.send(frame);
    first.close();
    tx.send(frame);
    await until('two frames', () => seen, is(2));
    expect({ first: count(0), second: count(1) }).toEqual({ first: 2n, second: 0n });

    const link = attachTcx({
      program: object.program('count_second'),
      ifindex,
      direction: 'ingress',
      pinPath,
      netns: b,
      mechanism,
    });
    expect(link.adopted).toBe(true);
    for (let i = 0; i < 500; i++) {
      for (let j = 0; j < 10; j++) tx.send(frame);
      link.update(object.program(i % 2 ? 'count_second' : 'count_first'));
    }
    await until('all frames', () => seen, is(5002));
    // Every packet met exactly one program: none was counted twice or not at all.
    expect(count(0) + count(1)).toBe(5002n);
    expect(count(1)).toBeGreaterThan(1000n);
    link.detach();
    link.detach();
    tx.send(frame);
    await until('one more frame', () => seen, is(5003));
    expect(count(0) + count(1)).toBe(5002n);
    expect(existsSync(pinPath)).toBe(false);
    expect(inNetns(b, 'bpftool', 'net', 'show', 'dev', 't-k-b')).not.toContain('count_');
    expect(attachedPrograms(b, ifindex, 'ingress')).toEqual([]);
    rx.close();
    tx.close();
    expect(errors).toEqual([]);
  });

  test('two attachments on one hook both see every packet, and go one by one', async () => {
    const one = attachTcx({
      program: object.program('count_first'),
      ifindex,
      direction: 'egress',
      pinPath: join(pins, 'one'),
      netns: b,
      mechanism,
    });
    const two = attachTcx({
      program: object.program('count_second'),
      ifindex,
      direction: 'egress',
      pinPath: join(pins, 'two'),
      netns: b,
      mechanism,
    });
    const tx = openPacketSocket(
      { interface: 't-k-b', netns: b, protocol: 0x88b5 },
      { poller, onFrame: () => {}, onError: () => {} },
    );
    tx.send(packet);
    expect({ first: count(0), second: count(1) }).toEqual({ first: 1n, second: 1n });
    one.detach();
    tx.send(packet);
    expect({ first: count(0), second: count(1) }).toEqual({ first: 1n, second: 2n });
    two.detach();
    tx.close();
  });

  test('an interface that is not there is an error that names it', () => {
    expect(() =>
      attachTcx({ program: object.program('echo'), ifindex: 9999, direction: 'egress', netns: b, mechanism }),
    ).toThrow(/interface 9999.*ENODEV|ENODEV.*interface 9999/s);
  });
});

describe('TCX pins', () => {
  test('a pinned link of an interface that is gone is replaced', () => {
    const ns = Netns.create();
    const pinPath = join(pins, 'moved');
    const attach = (): ReturnType<typeof attachTcx> =>
      attachTcx({
        program: object.program('count_first'),
        ifindex: ns.run(() => interfaceIndex('t-k-x')),
        direction: 'egress',
        pinPath,
        netns: ns,
      });
    ip(ns, 'link add t-k-x type veth peer name t-k-y');
    attach().close();
    ip(ns, 'link del t-k-x');
    ip(ns, 'link add t-k-x type veth peer name t-k-y');
    const again = attach();
    expect(again.adopted).toBe(false);
    again.close();
    const third = attach();
    expect(third.adopted).toBe(true);
    expect(
      attachedPrograms(
        ns,
        ns.run(() => interfaceIndex('t-k-x')),
        'egress',
      ),
    ).toEqual([object.program('count_first').id]);
    third.close();
    detachPinnedLink(pinPath);
    detachPinnedLink(pinPath);
    expect(
      attachedPrograms(
        ns,
        ns.run(() => interfaceIndex('t-k-x')),
        'egress',
      ),
    ).toEqual([]);
    expect(pinned()).toEqual([]);
    ns.close();
  });

  test('a pin says where its link hangs, and that it hangs nowhere once the interface is gone', () => {
    const ns = Netns.create();
    const pinPath = join(pins, 'where');
    expect(pinnedLinkTarget(pinPath)).toBeUndefined();
    ip(ns, 'link add t-k-x type veth peer name t-k-y');
    const ifindex = ns.run(() => interfaceIndex('t-k-x'));
    attachTcx({ program: object.program('count_first'), ifindex, direction: 'ingress', pinPath, netns: ns }).close();
    expect(pinnedLinkTarget(pinPath)).toEqual({ ifindex, direction: 'ingress' });
    ip(ns, 'link del t-k-x');
    expect(pinnedLinkTarget(pinPath)).toBeUndefined();
    detachPinnedLink(pinPath);
    ns.close();
  });

  test('what must be first goes ahead of what is attached already', () => {
    const ns = Netns.create();
    ip(ns, 'link add t-k-x type veth peer name t-k-y');
    const ifindex = ns.run(() => interfaceIndex('t-k-x'));
    const links = [
      attachTcx({ program: object.program('echo'), ifindex, direction: 'ingress', netns: ns }),
      attachTcx({ program: object.program('count_first'), ifindex, direction: 'ingress', first: true, netns: ns }),
    ];
    expect(attachedPrograms(ns, ifindex, 'ingress')).toEqual([
      object.program('count_first').id,
      object.program('echo').id,
    ]);
    for (const link of links) link.close();
    ns.close();
  });

  test('something else pinned at the path is refused, not removed', () => {
    const pinPath = join(pins, 'a-map');
    pinObject(object.map('prefixes').fd, pinPath);
    expect(() => attachTcx({ program: object.program('echo'), ifindex: 1, direction: 'ingress', pinPath })).toThrow(
      /EEXIST.*not a link/,
    );
    expect(existsSync(pinPath)).toBe(true);
  });

  test('filter handles differ by name and are never zero', () => {
    expect(new Set(['a', 'b', 'eth0-egress', 'eth0-guard'].map(filterHandle)).size).toBe(4);
    expect(filterHandle('')).toBe(1);
  });
});
