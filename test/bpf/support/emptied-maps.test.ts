// A proxy's object that a test has left is as one that was just loaded.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { mapTypeName } from '../../../src/kernel/bpf/syscall.ts';
import { PROXY_PROGRAM } from '../../../src/kernel/dataplane/proxy.ts';
import { ExchangeFrames, cmReply, cmRequest } from './cm-messages.ts';
import {
  A,
  B,
  ProxyUnderTest,
  acknowledge,
  compileProxy,
  context,
  data,
  notice,
  testPort,
} from './proxy-under-test.ts';

let compiled: { path: string; remove(): void };
const open: ProxyUnderTest[] = [];
beforeAll(() => void (compiled = compileProxy()));
afterEach(() => open.splice(0).forEach((proxy) => proxy.close()));
afterAll(() => compiled.remove());

const kept = (proxy: ProxyUnderTest): ProxyUnderTest => {
  open.push(proxy);
  return proxy;
};

type Content = Readonly<Record<string, readonly string[]>>;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** What the maps hold, but for zeros in arrays. */
const contentOf = ({ object }: ProxyUnderTest): Content =>
  Object.fromEntries(
    object.mapNames.map((name) => {
      const map = object.map(name);
      const isArray = mapTypeName(map.info.type).endsWith('array');
      const entries = [...map.entries()].filter(([, value]) => !isArray || !isZero(value));
      return [name, entries.map(([key, value]) => `${hex(key)} ${hex(value)}`).sort()];
    }),
  );

/** Everything that the program writes, and something in each map that only the agent writes. */
function use(proxy: ProxyUnderTest): void {
  proxy.configure();
  proxy.send(cmRequest(A, B, { localQpn: 0x64 }));
  proxy.send(cmReply(B, A, { localQpn: 0xc8 }));
  const flood = new ExchangeFrames(A, B);
  const [program, ctx] = [proxy.object.program(PROXY_PROGRAM), context({ ifindex: testPort().ifindex })];
  // More than the 256 places of a port among the unconfirmed connections.
  for (let i = 0; i < 300; i++)
    for (const frame of flood.numbered(i + 7, i + 1000)) program.testRun({ data: frame, ctx, netns: testPort().netns });
  for (let psn = 1; psn < 20; psn++) {
    proxy.send(data({ from: A, to: B, qpn: 0xc9, psn }));
    proxy.send(acknowledge({ from: B, to: A, qpn: 0x65, psn }));
    proxy.send(notice(data({ from: A, to: B, qpn: 0xc8, psn })));
  }
  for (const [name, content] of Object.entries(contentOf(proxy))) {
    const map = proxy.object.map(name);
    if (content.length > 0) continue;
    map.update(new Uint8Array(map.info.keySize), new Uint8Array(map.info.valueSize).fill(1));
  }
}

test('no map of it holds anything that the test before has left, and the constants are the same', () => {
  const first = ProxyUnderTest.reused(compiled.path);
  use(first);
  const used = contentOf(first);
  expect(Object.keys(used).filter((name) => used[name]!.length === 0)).toEqual([]);
  first.close();

  const second = kept(ProxyUnderTest.reused(compiled.path));
  expect(second.object).toBe(first.object);
  expect(contentOf(second)).toEqual(contentOf(kept(new ProxyUnderTest(compiled.path))));
});

test('two at a time have objects of their own', () => {
  const [first, second] = [1, 2].map(() => kept(ProxyUnderTest.reused(compiled.path)));
  expect(first!.object).not.toBe(second!.object);
});
