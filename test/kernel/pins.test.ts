// Somebody removes what cnpd has pinned, or the file system under it, while it runs: the programs stay where they are,
// and the next full pass pins everything again.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isBpffs, makePinDirectory, mountBpffs, unmountBpffs } from '../../src/kernel/bpf/bpffs.ts';
import { close, interfaceIndex } from '../../src/kernel/ffi/libc.ts';
import { BpfMap } from '../../src/kernel/bpf/map.ts';
import { attributes, objectInfo, openPinned, pinObject, tryBpf } from '../../src/kernel/bpf/syscall.ts';
import { prefixKey } from '../../src/kernel/dataplane/layout.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { address } from '../../src/model/address.ts';
import { manualClock } from '../../src/model/clock.ts';
import { ManualWork } from '../../src/model/work.fixture.ts';
import { type Log, silentLog } from '../../src/model/log.ts';
import { prefix } from '../../src/model/prefix.ts';
import type { TableUse } from '../../src/model/telemetry-state.ts';
import { type DesiredState, NO_SENDER_PROXIES } from '../../src/plan/desired.ts';
import { Dataplane } from '../../src/reconcile/dataplane.ts';
import { ip } from '../support/netns.ts';

const FULL_PASS_MS = 60_000;
const BPF_MAP_FREEZE = 22;

let directory: string, bpfDir: string, linksDir: string;
let ns: Netns;
let clock: ReturnType<typeof manualClock>;
let work: ManualWork;
let dataplane: Dataplane;
let desired: DesiredState;
let start: () => void;
let counted: Map<string, number>;
let warned: unknown[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 't-pins-'));
  [bpfDir, linksDir] = [join(directory, 'bpf'), join(directory, 'bpf', 'links')];
  mountBpffs(bpfDir);
  mkdirSync(linksDir);
  ns = Netns.create();
  ip(ns, 'link add t-p-a type veth peer name t-p-b');
  [clock, work, counted, warned] = [manualClock(), new ManualWork(), new Map(), []];
  const log: Log = { ...silentLog, warn: (...line) => void warned.push(line) };
  const objectDir = new URL('../../dist/bpf', import.meta.url).pathname;
  start = () => {
    dataplane = new Dataplane(
      { bpfDir, linksDir, objectDir },
      {
        clock,
        work,
        log,
        count: (name, by = 1) => void counted.set(name, (counted.get(name) ?? 0) + by),
      },
    );
    ns.run(() => dataplane.apply(desired));
  };
  const guard = {
    id: 't-p-a',
    interface: 't-p-a',
    ifindex: ns.run(() => interfaceIndex('t-p-a')),
    udpPorts: [],
    icmpv6Types: [],
    optionType: 0,
  };
  desired = {
    ports: [],
    senderProxies: NO_SENDER_PROXIES,
    senderPolicies: [],
    senderCapabilities: [],
    endConSids: [],
    guards: [guard],
    problems: [],
  } as unknown as DesiredState;
  start();
});
afterEach(() => {
  dataplane.close();
  unmountBpffs(bpfDir);
  ns.close();
  rmSync(directory, { recursive: true });
});

/** Names of what is pinned with the numbers that the kernel knows them by: the same object, or another one. */
const pinned = (): Record<string, number> =>
  Object.fromEntries(
    [bpfDir, linksDir].flatMap((folder) =>
      readdirSync(folder, { withFileTypes: true })
        .filter((e) => e.isFile() && !e.name.endsWith('.debug'))
        .map(({ name }) => {
          const fd = openPinned(join(folder, name));
          // struct bpf_map_info and bpf_link_info: type, id.
          const id = objectInfo(name, fd, 8).getUint32(4, true);
          close(fd);
          return [name, id];
        }),
    ),
  );
/** The objects whose programs are kept for the next run, with the numbers of all that is pinned for it. */
const kept = (): { directory: string; ids: string[] }[] =>
  readdirSync(join(bpfDir, 'programs'))
    .sort()
    .map((directory) => {
      const at = join(bpfDir, 'programs', directory);
      const ids = (readdirSync(at, { recursive: true }) as string[])
        .filter((name) => name.includes('/'))
        .sort()
        .map((name) => {
          const fd = openPinned(join(at, name));
          const id = objectInfo(name, fd, 8).getUint32(4, true);
          close(fd);
          return `${name} ${id}`;
        });
      return { directory, ids };
    });
/** From now on the kernel refuses every write by a system call. A ring buffer cannot be frozen. */
const freeze = (path: string): void => {
  const fd = openPinned(path);
  const attr = attributes(4);
  attr.view.setUint32(0, fd, true);
  tryBpf(BPF_MAP_FREEZE, attr);
  close(fd);
};
const pass = (): void => {
  for (let i = 0; i < FULL_PASS_MS / 1000 + 2; i++) ns.run(() => (clock.advance(1000), work.settle()));
};

describe('pins that are removed underneath', () => {
  test('links and maps: the same ones are pinned again by the next full pass, and counted', () => {
    const before = pinned();
    expect(Object.keys(before)).toEqual(expect.arrayContaining(['counters']));
    expect(Object.keys(before).filter((name) => name.includes('t-p-a'))).toHaveLength(2);
    for (const name of Object.keys(before)) rmSync(join(name.includes('@') ? linksDir : bpfDir, name));
    pass();
    expect(pinned()).toEqual(before);
    expect(counted.get('reconcile.attachment.out-of-sync')).toBe(2);
    expect(counted.get('reconcile.map-pin.out-of-sync')).toBe(Object.keys(before).length - 2);
    expect(dataplane.problems()).toEqual([]);
    const line = 'restored objects that another program changed or removed';
    expect(warned).toEqual([
      [{ kind: 'attachment', restored: 2 }, line],
      [{ kind: 'map-pin', restored: Object.keys(before).length - 2 }, line],
    ]);
  });

  test('the folder of the links', () => {
    const before = pinned();
    rmSync(linksDir, { recursive: true });
    pass();
    expect(pinned()).toEqual(before);
  });

  test('the whole file system: it is mounted again, with the same programs and maps', () => {
    const before = pinned();
    unmountBpffs(bpfDir);
    pass();
    expect(pinned()).toEqual(before);
    expect({ isBpffs: isBpffs(bpfDir), warnings: warned.length }).toEqual({ isBpffs: true, warnings: 2 });
  });

  test('nothing is made on the disk below the file system, so that nothing is left of it there', () => {
    unmountBpffs(bpfDir);
    pass();
    unmountBpffs(bpfDir);
    expect(readdirSync(bpfDir)).toEqual([]);
  });
});

describe('a restart with nothing changed', () => {
  const sender = (text: string) => ({ id: text, prefix: prefix(text), format: 'standard-cnp' as const });
  // The table finds the entry of the shorter prefix for the longer one too.
  const senders = ['2001:db8:1::/48', '2001:db8:1:1::/64', '10.0.0.0/8'].map(sender);
  const proxy = {
    ...{ address: address('2001:db8::9'), udpPort: 4792, senders, acceptFrom: [sender('2001:db8:9::/48')] },
    ...{ perFlowIntervalNs: 1000, noticesPerSecond: 1000, burst: 10, interfaces: [] },
  };
  const restart = (): void => {
    dataplane.close();
    start();
    ns.run(() => {
      dataplane.prune();
      dataplane.forgetUnknown();
    });
    pass();
  };
  /** All entries of the table, exactly. */
  const shown = (): string[] => {
    const map = BpfMap.openPinned(join(bpfDir, 'proxy_senders'));
    const keys = [...map.keys()].map((key) => Buffer.from(key).toString('hex')).sort();
    map.close();
    return keys;
  };

  beforeEach(() => {
    desired = { ...desired, proxy };
    restart();
  });

  test('the kernel takes no write: maps that refuse all of them are adopted with the same programs and links', () => {
    const before = [pinned(), kept(), shown()];
    for (const name of Object.keys(pinned()).filter((pin) => !pin.includes('@'))) freeze(join(bpfDir, name));
    counted.clear();
    restart();
    expect([pinned(), kept(), shown()]).toEqual(before);
    expect({ problems: dataplane.problems(), counted: [...counted] }).toEqual({ problems: [], counted: [] });
    dataplane.close();
    desired = { ...desired, proxy: { ...proxy, senders: [...senders, sender('172.16.0.0/12')] } };
    start();
    expect(dataplane.problems()).toMatchObject([{ problem: expect.stringContaining('172.16.0.0/12') }]);
  });

  test('tables say how full they are: of what the agent writes, and of what the programs write', () => {
    const map = BpfMap.openPinned(join(bpfDir, 'queue_pairs'));
    for (const byte of [1, 2, 3])
      map.update(new Uint8Array(map.info.keySize).fill(byte), new Uint8Array(map.valueBytes));
    map.close();
    const counting = dataplane.tableUse();
    let step = counting.next();
    while (!step.done) step = counting.next();
    const use = new Map(step.value.map(({ name, entries, limit }) => [name, [entries, limit]]));
    expect(use.size).toBe(step.value.length);
    expect([...use]).toEqual(
      expect.arrayContaining([
        ['queue_pairs', [3, 65_536]],
        ['static_queue_pairs', [0, 4096]],
        ['proxy_senders', [senders.length, 65_536]],
        ['tenant_sids', [0, 65_536]],
      ]),
    );
  });

  test('an entry that is missing below another one is written before what makes a difference to packets', () => {
    const [before, missing] = [shown(), prefixKey(prefix('2001:db8:1:1::/64'))];
    const map = BpfMap.openPinned(join(bpfDir, 'proxy_senders'));
    map.delete(missing);
    restart();
    expect(shown()).toEqual(before);
    map.delete(missing);
    map.close();
    dataplane.close();
    desired = { ...desired, proxy: { ...proxy, senders: [...senders, sender('172.16.0.0/12')] } };
    start();
    expect(shown()).toEqual(expect.arrayContaining(before));
  });

  const nameOf = (pin: string): string => pin.split(' ')[0]!;

  test('how full the tables are: what is declared is known, what the programs write is counted batch by batch', () => {
    const map = BpfMap.openPinned(join(bpfDir, 'queue_pairs'));
    const { keySize, valueSize } = map.info;
    const key = (n: number): Uint8Array => new Uint8Array(keySize).fill(n & 255, 0, 1).fill(n >> 8, 1, 2);
    map.updateBatch(Array.from({ length: 1300 }, (_, n) => [key(n), new Uint8Array(valueSize)] as const));
    map.close();
    const use = dataplane.tableUse();
    let [steps, next] = [0, use.next()];
    for (; !next.done; next = use.next()) steps++;
    const found = Object.fromEntries((next.value as TableUse[]).map(({ name, ...numbers }) => [name, numbers]));
    expect(found).toMatchObject({
      proxy_senders: { entries: 3, limit: 65_536 },
      queue_pairs: { entries: 1300, limit: 65_536 },
      unconfirmed_queue_pairs: { entries: 0 },
    });
    expect(steps).toBeGreaterThan(2);
  });

  test('programs of another object file, or of which a pin is missing, are replaced', () => {
    const [before] = kept();
    rmSync(join(bpfDir, 'programs', before!.directory, 'maps', 'counters'));
    restart();
    const after = kept();
    expect(after.map(({ directory }) => directory)).toEqual(kept().map(({ directory }) => directory));
    expect(after[0]!.ids).not.toEqual(before!.ids);
    expect(after[0]!.ids.map(nameOf)).toEqual(before!.ids.map(nameOf));
    const { proxy: _, ...rest } = desired;
    desired = rest;
    restart();
    expect(kept().map(({ directory }) => directory.split('_')[0])).toEqual(['guard']);
  });
});

test('something else pinned where programs are kept: cnpd starts all the same, and counts that it keeps none', () => {
  const programs = join(bpfDir, 'programs');
  rmSync(programs, { recursive: true });
  const fd = openPinned(join(bpfDir, 'counters'));
  pinObject(fd, programs);
  close(fd);
  dataplane.close();
  start();
  ns.run(() => dataplane.prune());
  expect(dataplane.problems()).toEqual([]);
  expect([counted.get('dataplane.border-guard.not-kept'), counted.get('dataplane.programs.not-removed')]).toEqual([
    2, 1,
  ]);
});

describe('modes', () => {
  test.each(['000', '022', '777'])('of the directory of the links are the same under the umask %s', (mask) => {
    const before = process.umask(mask);
    try {
      rmSync(linksDir, { recursive: true });
      pass();
      expect((statSync(linksDir).mode & 0o7777).toString(8)).toBe('700');
      chmodSync(linksDir, 0o777);
      makePinDirectory(bpfDir, linksDir);
      expect((statSync(linksDir).mode & 0o7777).toString(8)).toBe('700');
    } finally {
      process.umask(before);
    }
  });
});
