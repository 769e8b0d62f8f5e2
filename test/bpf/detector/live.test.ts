// Real traffic through the real port: forwarded by the kernel, through the attached program, into a queue that drains.
import { spawn, spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import { openBpfObject } from '../../../src/kernel/bpf/object.ts';
import type { Netns } from '../../../src/kernel/netns.ts';
import { EGRESS_PROGRAMS } from '../../../src/kernel/dataplane/egress.ts';
import { concat, u16 } from '../../../src/packet/bytes.ts';
import { ipv6, options, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { walkHeaders } from '../../../src/packet/ip/walk.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { compileBpf } from '../support/compile.ts';
import { CongestedRouter, LOOPBACK6, PROXY4, PROXY6 } from '../support/congested-router.ts';
import { notices } from '../support/received-notices.ts';
import { H1, H1V4, H2, H2V4, data, ecnOf, frame } from '../support/packets.ts';
import { is, until } from '../../support/until.ts';

let r: CongestedRouter;
beforeEach(async () => {
  r = await CongestedRouter.create();
  r.attach(EGRESS_PROGRAMS.egress, r.portIfindex, 'egress');
  r.senders(['2001:db8:1::/48', PROXY6], ['10.1.0.0/16', PROXY4]);
});
afterEach(() => r.close());

function run(line: string): void {
  const [command, ...args] = line.split(' ');
  const result = r.router.run(() => spawnSync(command!, args, { encoding: 'utf8' }));
  if (result.status !== 0) throw new Error(`${line}: ${result.stderr}`);
}

const roce = (): Uint8Array[] =>
  r.sunk.filter((f) => [0x86dd, 0x0800].includes(u16(f, 12)) && parseRocePacket(f.subarray(14)).ok);

describe('a port that is driven faster than it drains', () => {
  test("LHCNP-5.4-a: LHCNP-5.4-c: PNC-3-a: marks, notifies both families' proxies, and loses not one packet", async () => {
    await r.shape({ rate: 500_000n });
    r.port({ kMin: 20_000, kMax: 60_000, perFlowIntervalNs: 5_000_000 });
    const rounds = 300;
    for (let i = 0; i < rounds; i++) {
      r.forward(data({ psn: i }));
      r.forward(data({ psn: i, source: H1V4, destination: H2V4 }));
      r.forward(data({ psn: i, qpn: 7, ecn: 0 }));
    }
    await until('everything came through', () => roce().length, is(3 * rounds), 20_000);
    const marked = roce().filter((f) => ecnOf(f) === 3);
    expect(marked.length).toBe(Number(r.stats().ceMarked));
    expect(marked.length).toBeGreaterThan(rounds);
    for (const f of roce()) {
      const packet = parseRocePacket(f.subarray(14));
      if (!packet.ok) throw new Error(packet.error.detail);
      expect(packet.value.icrcValid).toBe(true);
      if (packet.value.bth.destQpn === 7) expect(ecnOf(f)).toBe(0);
    }
    await until(
      'the notices arrived',
      () => notices(r.collected).length,
      (is) => is === Number(r.stats().notifications),
    );
    const sent = notices(r.collected);
    for (const n of sent) expect(n).toMatchObject({ checksum: 'valid', headerChecksumValid: true });
    expect(new Set(sent.map((n) => n.destination.value))).toEqual(new Set([PROXY6.value, PROXY4.value]));
    expect(r.ports.peakQueueBytes(r.portIfindex)).toBeGreaterThan(60_000);
    expect(r.count('egress.unparseable')).toBe(0);
    expect(r.flows().map((f) => Number(f.packets))).toEqual([rounds, rounds, rounds]);
  });

  test('PNC-5-c: notices about packets of a congested port that is also the way to the proxy make no notices', async () => {
    run('ip -6 route add 2001:db8:ffff::77/128 via 2001:db8:101::2');
    r.senders(['2001:db8:1::/48', address('2001:db8:ffff::77')]);
    await r.shape({ rate: 250_000n, limit: 4_000_000 });
    r.port({ kMax: 20_000 });
    for (let i = 0; i < 200; i++) r.forward(data({ psn: i }));
    await until(
      'everything came through',
      () => [roce().length, notices(r.sunk).length] as const,
      ([a, b]) => a === 200 && b === Number(r.stats().notifications),
      20_000,
    );
    expect(Number(r.stats().notifications)).toBeGreaterThan(50);
    expect(r.flows().length).toBe(1);
  });

  test('PNC-3-a: a router that is its own proxy delivers the notice to itself', async () => {
    await r.fill(100_000);
    r.port({ kMax: 1000 });
    r.senders(['2001:db8:1::/48', LOOPBACK6]);
    const received = python(
      r.router,
      `
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(('2001:db8:ffff::9', 1021))
s.settimeout(10)
print('ready', flush=True)
payload, peer = s.recvfrom(2000)
print(peer[0], len(payload), flush=True)`,
    );
    await received.line('ready');
    r.send(frame(data({ size: 100 })));
    expect(await received.line('2001')).toBe(`2001:db8:ffff::9 ${38 + 40 + 8 + 12 + 100 + 4}`);
  });
});

describe('packets as drivers and sockets make them', () => {
  test('PNC-4-c: a jumbo packet whose inner headers lie outside linear memory', async () => {
    await r.fill(100_000);
    r.port({ kMax: 1000 });
    // With a virtio header the socket keeps only the first 54 bytes linear.
    const packet = ipv6(
      [address('2001:db8:a::1'), address('2001:db8:2::b')],
      60,
      options(43, 3, srh(41, 0, [H2], data({ size: 6000 }))),
    );
    const bytes = frame(packet, { macs: concat(r.macs.up, r.macs.proxy) });
    await python(
      r.sink,
      `
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('t-bpf-proxy', 0))
s.setsockopt(263, 15, 1)
s.send(struct.pack('<BBHHHH', 0, 0, 54, 0, 0, 0) + bytes.fromhex('${Buffer.from(bytes).toString('hex')}'))
print('sent', flush=True)`,
    ).line('sent');
    await until('the notice', () => notices(r.collected).length, is(1));
    const { tuple, invoking } = notices(r.collected)[0]!.notice;
    expect(tuple).toMatchObject({ source: H1, destination: H2 });
    const forwarded = packet.slice();
    forwarded[7]!--; // hop limit
    expect(invoking).toEqual(forwarded.subarray(0, invoking.length));
    expect(r.flows().length).toBe(1);
  });

  test('frames too short for any header leave as they came', async () => {
    await r.shape({ rate: 100_000_000n });
    r.port({ kMax: 0 });
    const port = r.capture('t-bpf-port', r.router, []);
    const whole = [
      frame(data()),
      frame(data({ source: H1V4, destination: H2V4 })),
      frame(ipv6([H1, H2], 43, srh(41, 0, [H2], data()))),
    ];
    const sent = whole.flatMap((f) => Array.from({ length: 90 }, (_, i) => f.subarray(0, 15 + i)));
    for (const bytes of sent) port.send(bytes);
    const arrived = (): Set<string> => new Set(r.sunk.map((f) => Buffer.from(f).toString('hex')));
    await until(
      'all frames arrived',
      () => sent,
      (all) => all.every((bytes) => arrived().has(Buffer.from(bytes).toString('hex'))),
    );
  });

  test('a VLAN tag beside the packet, as offloading drivers keep it, is not in the notice', async () => {
    await r.fill(100_000);
    r.port({ kMax: 1000 });
    const compiled = compileBpf('test/bpf/support/programs/tag.bpf.c');
    const tag = openBpfObject(compiled.path);
    compiled.remove();
    r.attached(EGRESS_PROGRAMS.egress).detach();
    r.attach('tag', r.portIfindex, 'egress', tag);
    r.attach(EGRESS_PROGRAMS.egress, r.portIfindex, 'egress');
    const packet = data();
    r.capture('t-bpf-port', r.router, []).send(frame(packet));
    await until('the notice', () => notices(r.collected).length, is(1));
    tag.close();
    const [got] = notices(r.collected);
    expect(got!.notice.invoking).toEqual(packet.subarray(0, got!.notice.invoking.length));
    expect(got!.frame.length).toBe(14 + got!.packet.length);
  });

  test('a local sender with transmit checksum offload gets no notice with a wrong checksum: it is counted', async () => {
    await r.fill(100_000);
    r.port({ kMax: 1000 });
    r.senders(['::/0', PROXY6]);
    const send = async (): Promise<void> => {
      await python(
        r.router,
        `
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(41, 67, 2) # ECT(0)
s.sendto(bytes.fromhex('${Buffer.from(data().subarray(48)).toString('hex')}'), ('2001:db8:2::20', 4791))
print('sent', flush=True)`,
      ).line('sent');
    };
    await send();
    await until('it is counted', () => r.count('notice.checksum-partial'), is(1));
    // A sender that cannot get Fast CNPs is marked: one of the two.
    r.policies(['::/0', ['fast-cnp']]);
    r.port({ kMin: 1000, kMax: 1000 });
    await send();
    await until('it is marked', () => r.count('egress.ecn.marked'), is(1));
    r.policies(['::/0', ['proxy']], ['0.0.0.0/0', ['proxy']]);
    r.port({ kMax: 1000 });
    run('ethtool -K t-bpf-port tx off');
    await send();
    await until('the notice', () => notices(r.collected).length, is(1));
    expect(notices(r.collected)[0]!.checksum).toBe('valid');
  });

  test('CE can be marked on a packet that others hold too', async () => {
    // A capture on the incoming interface holds a clone; forwarding copies the header, so the mark lands on this packet
    // only.
    await r.shape({ rate: 100_000n });
    r.port({ kMin: 0 });
    const seen: Uint8Array[] = [];
    r.capture('t-bpf-up', r.router, seen);
    for (let i = 0; i < 20; i++) r.forward(data({ psn: i }));
    await until('all arrived', () => roce().length, is(20));
    expect(roce().filter((f) => ecnOf(f) === 3).length).toBe(Number(r.stats().ceMarked));
    expect(Number(r.stats().ceMarked)).toBeGreaterThan(5);
    expect(seen.filter((f) => walkHeaders(f.subarray(14)).layers.length > 0 && ecnOf(f) === 3)).toEqual([]);
    expect(r.count('egress.ecn.failed')).toBe(0);
  });
});

/** A Python script in a namespace, whose lines can be waited for. */
function python(netns: Netns, script: string): { line(beginning: string): Promise<string> } {
  const child = netns.run(() =>
    spawn('python3', ['-c', `import socket, struct\n${script}`], { stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  let output = '';
  let errorText = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (errorText += text));
  const find = (beginning: string): string | undefined =>
    output
      .split('\n')
      .slice(0, -1)
      .find((l) => l.startsWith(beginning));
  return {
    line: async (beginning) => {
      try {
        return await until(
          `a line ${beginning}`,
          () => {
            if (errorText) throw new Error(errorText);
            return output;
          },
          () => find(beginning),
        );
      } catch (error) {
        child.kill();
        throw error;
      }
    },
  };
}
