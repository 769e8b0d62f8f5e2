// Nothing is left: after objects, pins, links, sockets and namespaces were used and given back, this host is as it was.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mountBpffs, unmountBpffs } from '../../src/kernel/bpf/bpffs.ts';
import { type BpfObject, openBpfObject } from '../../src/kernel/bpf/object.ts';
import { openRingBuffer } from '../../src/kernel/bpf/ring-buffer.ts';
import { attachTcx, detachPinnedLink } from '../../src/kernel/bpf/tcx.ts';
import { interfaceIndex } from '../../src/kernel/ffi/libc.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { removeEmptyClsact } from '../../src/kernel/netlink/clsact-qdisc.ts';
import { openMonitor } from '../../src/kernel/netlink/monitor.ts';
import { Rtnetlink } from '../../src/kernel/netlink/rtnetlink.ts';
import { TreeDevices } from '../../src/kernel/netlink/tree-device.ts';
import { TREE_DEVICE } from '../../src/model/tree-device.ts';
import { TreeRoutes } from '../../src/kernel/netlink/tree-routes.ts';
import { openPacketSocket } from '../../src/kernel/packet-socket.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { openTap } from '../../src/kernel/tap.ts';
import { compileCounterProgram } from './support/counter-program.ts';
import { is, until } from '../support/until.ts';

/** The kernel's numbers of an object's programs and maps. Other tests load the same source at the same time. */
const idsOf = (object: BpfObject): { prog: number[]; map: number[] } => ({
  prog: object.programNames.map((name) => object.program(name).id),
  map: object.mapNames.map((name) => object.map(name).info.id),
});
/** Of these, what is still there, in ascending order. */
const present = (kind: 'prog' | 'map', ids: readonly number[]): number[] =>
  (JSON.parse(spawnSync('bpftool', ['-j', kind], { encoding: 'utf8' }).stdout) as { id: number }[])
    .map(({ id }) => id)
    .filter((id) => ids.includes(id));
const interfaces = (): string =>
  readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .slice(2)
    .map((l) => l.split(':')[0]!.trim())
    .filter((n) => n.startsWith('t-k'))
    .join();
const mounts = (): string =>
  readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .filter((l) => l.includes('t-kernel-residue'))
    .join();
const descriptors = (): number => readdirSync('/proc/self/fd').length;

test('a whole life of every adapter leaves no program, map, link, pin, mount, interface, namespace or descriptor', async () => {
  const leftovers = () => ({ interfaces: interfaces(), mounts: mounts(), descriptors: descriptors() });
  const before = leftovers();
  const directory = mkdtempSync(join(tmpdir(), 't-kernel-residue-'));
  const pins = join(directory, 'bpffs');
  mountBpffs(pins);
  const quiet = { onError: () => {}, onFrame: () => {}, onChange: () => {}, onResync: () => {}, onRecord: () => {} };
  const poller = Poller.open(quiet);
  const modules = { poller, ...quiet };
  const netns = Netns.create();
  const inode = netns.run(() => spawnSync('readlink', ['/proc/self/ns/net'], { encoding: 'utf8' }).stdout.trim());
  const route = Rtnetlink.open({ netns }, { poller });
  const monitor = openMonitor({ netns }, modules);
  const [devices, routes] = [TreeDevices.open({ netns }), TreeRoutes.open({ netns })];
  const device = devices.ensure();
  routes.addRule(TREE_DEVICE);
  expect([routes.removeRule(TREE_DEVICE), devices.remove(), device.outer > 0]).toEqual([true, true, true]);
  await route.createVeth({ name: 't-k-a', peer: { name: 't-k-b' } });
  const tap = openTap({ name: 't-k-tap', netns }, modules);
  const socket = openPacketSocket({ interface: 't-k-a', netns }, modules);
  const object = openBpfObject(compileCounterProgram(directory, 'residue'), { pinDir: pins });
  const ring = openRingBuffer(object.map('events'), modules);
  const ifindex = netns.run(() => interfaceIndex('t-k-a'));
  attachTcx({
    program: object.program('count_first'),
    ifindex,
    direction: 'egress',
    pinPath: join(pins, 't-k-link'),
    netns,
  }).close();
  const filter = attachTcx({
    program: object.program('count_second'),
    ifindex,
    direction: 'ingress',
    netns,
    mechanism: 'clsact',
  });
  expect(removeEmptyClsact(ifindex, netns)).toBe(false);
  const { prog, map } = idsOf(object);
  const programsAndMaps = (): number[] => [...present('prog', prog), ...present('map', map)];
  expect(programsAndMaps()).toEqual([...prog.toSorted((a, b) => a - b), ...map.toSorted((a, b) => a - b)]);

  filter.detach();
  // Detaching has removed it.
  expect(removeEmptyClsact(ifindex, netns)).toBe(false);
  detachPinnedLink(join(pins, 't-k-link'));
  ring.close();
  object.close();
  for (const name of readdirSync(pins).filter((n) => !n.endsWith('.debug'))) rmSync(join(pins, name));
  for (const one of [socket, tap, monitor, route, devices, routes]) one.close();
  netns.close();
  poller.close();
  unmountBpffs(pins);
  rmSync(directory, { recursive: true });
  await until(
    'programs and maps are freed and the poller has closed',
    () => ({ programsAndMaps: programsAndMaps(), descriptors: descriptors() }),
    is({ programsAndMaps: [], descriptors: before.descriptors }),
  );
  expect(leftovers()).toEqual(before);
  expect(inode).toMatch(/^net:\[\d+\]$/);
  // Without a descriptor and a mount only a thread could keep the namespace. Whether the machine has one of this number
  // says nothing: the kernel gives it to the next namespace, which may be another test's.
  const ofThreads = readdirSync('/proc/self/task').map((id) => readlinkSync(`/proc/self/task/${id}/ns/net`));
  expect(ofThreads).not.toContain(inode);
});
