// A million notices at two CPUs at once: neither limit is ever exceeded, and each notice is accounted for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PROXY_CONFIG_KEY, PROXY_MAPS } from '../../../src/kernel/dataplane/proxy.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { A, B, data, notice } from '../support/proxy-under-test.ts';
import { ProxyScene } from '../support/proxy-scene.ts';
import { atLeast, until } from '../../support/until.ts';

let scene: ProxyScene;
beforeEach(async () => void (scene = await ProxyScene.create()));
afterEach(() => scene.close());

const FLOWS = 8;
const qpn = (flow: number): number => 0xc8 + flow;

/**
 * Sends the frames in turn as fast as it goes; prints nothing. Python, because every process here must start in a
 * moment and do one thing.
 */
const SENDER = `import socket, sys
frames = [bytes.fromhex(line) for line in sys.stdin.read().split()]
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
s.setsockopt(263, 20, 1)
send = s.send
for _ in range(int(sys.argv[2]) // len(frames)):
    for frame in frames: send(frame)
`;

/** From each of two CPUs `each` frames, at the same time. Nanoseconds from before the first to after the last. */
async function flood(frames: readonly Uint8Array[], each: number): Promise<number> {
  const from = process.hrtime.bigint();
  const children = [0, 1].map((cpu) => {
    const child = scene.c.run(() =>
      spawn('taskset', ['-c', `${cpu}`, '/usr/bin/python3', '-c', SENDER, 't-proxy-c', `${each}`], {
        stdio: ['pipe', 'inherit', 'inherit'],
      }),
    );
    child.stdin.end(frames.map(toHex).join('\n'));
    return once(child, 'exit');
  });
  for (const [code] of await Promise.all(children)) expect(code).toBe(0);
  return Number(process.hrtime.bigint() - from);
}

const counted = (name: string): number => Number(scene.proxy.counters().get(name) ?? 0n);

function teach(): Uint8Array[] {
  return Array.from({ length: FLOWS }, (_, flow) => {
    scene.proxy.teach({ sender: A, receiver: B, senderQpn: 0x64 + flow, receiverQpn: qpn(flow) });
    return scene.coreFrame(notice(data({ from: A, to: B, qpn: qpn(flow), psn: 1, size: 256 })));
  });
}

/** Every notice is one CNP or one refusal. */
function accounted(total: number): void {
  const names = ['proxy.cnp.sent', 'proxy.notice.flow-limited', 'proxy.notice.rate-limited'];
  expect(counted('proxy.notice.received')).toBe(total);
  expect(names.reduce((sum, name) => sum + counted(name), 0)).toBe(total);
}

describe('limits', () => {
  test('PNC-6-b: the node’s token bucket passes its burst and its rate, not one CNP more, in 10^6 notices from two CPUs', async () => {
    const frames = teach();
    const [rate, burst] = [2000, 50];
    scene.proxy.configure({ noticesPerSecond: rate, burst });
    const ns = await flood(frames, 500_000);
    await until('all notices are through', () => counted('proxy.notice.received'), atLeast(1_000_000), 30_000);
    accounted(1_000_000);
    expect(counted('proxy.cnp.sent')).toBeLessThanOrEqual(burst + (rate * ns) / 1e9);
    expect(counted('proxy.cnp.sent')).toBeGreaterThan(burst);
    expect(counted('proxy.notice.rate-limited')).toBeGreaterThan(900_000);
  }, 120_000);

  test('PNC-6-b: no flow gets two CNPs within its interval, in 10^6 notices about 8 flows from two CPUs', async () => {
    const frames = teach();
    const interval = 5_000_000;
    scene.proxy.configure({ perFlowIntervalNs: interval });
    const ns = await flood(frames, 500_000);
    await until('all notices are through', () => counted('proxy.notice.received'), atLeast(1_000_000), 30_000);
    accounted(1_000_000);
    const known = [...scene.proxy.object.map(PROXY_MAPS.staticQueuePairs).entries()].map(([, value]) =>
      Number(new DataView(value.buffer).getBigUint64(56, true)),
    );
    expect(known).toHaveLength(FLOWS);
    for (const cnps of known) {
      expect(cnps).toBeLessThanOrEqual(1 + ns / interval);
      expect(cnps).toBeGreaterThan(10);
    }
    expect(known.reduce((a, b) => a + b, 0)).toBe(counted('proxy.cnp.sent'));
  }, 120_000);

  test('PNC-6-b: notices that are refused for another reason spend no token', async () => {
    scene.proxy.configure({ noticesPerSecond: 0.001, burst: 1 });
    teach();
    for (let i = 0; i < 5; i++) {
      scene.fromCore(notice(data({ from: A, to: B, qpn: 0x999, psn: 1 })));
      scene.fromCore(notice(data({ from: B, to: A, qpn: 0x999, psn: 1 })));
    }
    await until(
      'they are refused',
      () => [counted('proxy.notice.qp-unknown'), counted('proxy.notice.sender-unknown')] as const,
      ([a, b]) => a === 5 && b === 5,
    );
    scene.fromCore(notice(data({ from: A, to: B, qpn: qpn(0), psn: 1 })));
    scene.fromCore(notice(data({ from: A, to: B, qpn: qpn(1), psn: 1 })));
    await until(
      'the token is spent once',
      () => [counted('proxy.cnp.sent'), counted('proxy.notice.rate-limited')] as const,
      ([a, b]) => a === 1 && b === 1,
    );
  });

  test('a bucket written to 0 starts full, as after a change of the rate', async () => {
    scene.proxy.configure({ noticesPerSecond: 0.001, burst: 1 });
    teach();
    for (const sent of [1, 2]) {
      scene.proxy.object.map(PROXY_MAPS.bucket).update(PROXY_CONFIG_KEY, new Uint8Array(8));
      for (const flow of [2, 3]) scene.fromCore(notice(data({ from: A, to: B, qpn: qpn(flow), psn: 1 })));
      await until(
        'one goes out',
        () => [counted('proxy.cnp.sent'), counted('proxy.notice.rate-limited')] as const,
        ([a, b]) => a === sent && b === sent,
      );
    }
  });
});
