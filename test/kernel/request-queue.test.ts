// Many netlink requests at once, some of them refused, on the real kernel.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NetlinkRequest } from '../../src/kernel/netlink/client.ts';
import { interfaceIndex } from '../../src/kernel/ffi/libc.ts';
import { RTM_LINK, decodeLink, encodeLinkChange, linkByIndex } from '../../src/kernel/netlink/link.ts';
import { type Answer, NetlinkQueue, refusalIn } from '../../src/kernel/netlink/request-queue.ts';
import { Netns } from '../../src/kernel/netns.ts';

let netns: Netns;
let queue: NetlinkQueue;
let lo: number;
beforeEach(() => {
  netns = Netns.create();
  queue = NetlinkQueue.open({ netns });
  lo = netns.run(() => interfaceIndex('lo'));
});
afterEach(() => {
  queue.close();
  netns.close();
});

const read = (ifindex: number): NetlinkRequest => ({
  ...{ operation: `read ${ifindex}`, type: RTM_LINK.GET, body: linkByIndex(ifindex) },
});
const setMtu = (mtu: number): NetlinkRequest => ({
  ...{ operation: `mtu ${mtu}`, type: RTM_LINK.NEW, body: encodeLinkChange(lo, { mtu }) },
});
const mtuIn = (answer: Answer | undefined): number | undefined =>
  Array.isArray(answer) ? answer.map(decodeLink)[0]?.mtu : undefined;
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => 2000 + i);

/** So few that no thread is needed, and more than go into one message. */
test.each([3, 500])('%i requests are executed in order, and each has its own answer', async (count) => {
  const answers = await queue.requests(range(count).flatMap((mtu) => [setMtu(mtu), read(lo)]));
  expect(refusalIn(answers)).toBeUndefined();
  expect(answers.filter((_, i) => i % 2 === 1).map(mtuIn)).toEqual(range(count));
});

test('what is asked for in one moment is answered to whom it belongs, in the order in which it was asked', async () => {
  const asked = range(100).map((mtu) => Promise.all([queue.requests([setMtu(mtu)]), queue.requests([read(lo)])]));
  const seen = (await Promise.all(asked)).map(([, [answer]]) => mtuIn(answer));
  expect(seen).toEqual(range(100));
});

test('a refused request keeps none of the others from being executed', async () => {
  const answers = await queue.requests(range(50).flatMap((mtu) => [read(9999), setMtu(mtu), read(lo)]));
  expect(answers.filter((_, i) => i % 3 === 0)).toEqual(
    range(50).map(() => expect.objectContaining({ code: 'ENODEV', operation: 'read 9999' }) as unknown),
  );
  expect(answers.filter((_, i) => i % 3 === 2).map(mtuIn)).toEqual(range(50));
});

test('nothing is asked of the kernel for nothing', async () => {
  expect(await queue.requests([])).toEqual([]);
});

test('the event loop goes on while a thread sends', async () => {
  let turns = 0;
  const count = (): void => void (turns++, (turning = setImmediate(count)));
  let turning = setImmediate(count);
  await queue.requests(range(500).map(setMtu));
  clearImmediate(turning);
  expect(turns).toBeGreaterThanOrEqual(Math.ceil(500 / 32) - 1);
});

test('what waits when the queue is closed is refused; what a thread is sending is answered', async () => {
  const [sent, waiting] = [queue.requests(range(20).map(setMtu)), queue.requests(range(40).map(setMtu))];
  await Promise.resolve();
  queue.close();
  expect(refusalIn(await sent)).toBeUndefined();
  await expect(waiting).rejects.toMatchObject({ code: 'EBADF' });
  await expect(queue.requests([read(lo)])).rejects.toMatchObject({ code: 'EBADF' });
  queue.close();
});
