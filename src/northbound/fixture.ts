// A state with something in every section, for tests.
import type { CnpdState, SenderState, StateSource } from '../model/state.ts';

export const sender = (prefix: string, more: Partial<SenderState> = {}): SenderState => ({
  prefix,
  proxy: '2001:db8:ffff::1',
  best: true,
  pnc: true,
  metric: 0xfe000001,
  carrier: 'isis',
  originator: 'L2 0000.0000.c001',
  source: 'L2 0000.0000.c001.00-00',
  since: '2026-11-20T12:00:00.000Z',
  ...more,
});

export const exampleState = (): CnpdState => ({
  status: {
    version: '0.1.0',
    pid: 42,
    startedAt: '2026-11-20T11:00:00.000Z',
    health: 'degraded',
    problems: [{ feature: 'port eth2', problem: 'the root qdisc is pfifo_fast', remedy: 'tc qdisc replace dev eth2 root tbf rate 1gbit burst 64k limit 1m' }],
    intent: { file: '/etc/cnpd/cnpd.yaml', loadedAt: '2026-11-20T11:00:00.000Z', lastReload: { at: '2026-11-20T11:30:00.000Z', ok: false, errors: ['cnpd.yaml:3:1: unknown key'] } },
    adopted: true,
  },
  proxies: [{ address: '2001:db8:ffff::1', prefixes: ['2001:db8:1::/64', '198.51.100.0/24'], format: 'standard-cnp', advertisedIn: ['isis'] }],
  senders: [
    sender('2001:db8:1::/64'),
    sender('2001:db8::/32', { proxy: '2001:db8:ffff::2', originator: 'L2 0000.0000.c002', source: 'L2 0000.0000.c002.00-00' }),
    sender('2001:db8::/32', { proxy: '2001:db8:ffff::3', best: false, originator: 'L2 0000.0000.c003', source: 'L2 0000.0000.c003.00-00', heldUntil: '2026-11-20T12:02:00.000Z' }),
    sender('2001:db8:1:0:8::/80', { proxy: null, pnc: false, metric: 10 }),
  ],
  isis: {
    neighbors: [
      {
        interface: 'cnpd-isis',
        level: 'L2',
        state: 'up',
        systemId: '0000.0000.0001',
        hostname: 'leaf1',
        holdTimeRemaining: 28,
        since: '2026-11-20T11:00:02.000Z',
        reason: 'three-way handshake complete',
      },
    ],
    database: [
      { level: 2, lspId: '0000.0000.c001.00-00', sequence: 17, lifetime: 1100, checksum: '0xabcd', length: 120, own: true, reachable: true, overload: true, proxyPrefixes: 2 },
    ],
  },
  ports: [
    {
      interface: 'eth2',
      ifindex: 3,
      attached: true,
      rootQdisc: 'tbf',
      queueBytes: 1000,
      peakQueueBytes: 90_000,
      kMin: 0,
      kMax: 100_000,
      explanation: ['k-max: 100000 B = configured'],
      packets: 10,
      bytes: 9_007_199_254_740_991,
      ceMarked: 1,
      triggers: 5,
      notifications: 2,
      suppressedPerFlow: 2,
      suppressedPerPort: 1,
      noProxy: 0,
    },
  ],
  flows: [
    {
      port: 'eth2',
      source: '2001:db8:1::1',
      destination: '2001:db8:2::1',
      destinationQpn: 0x1234,
      sourceQpn: null,
      learnedFrom: null,
      packets: 10,
      bytes: 10_000,
      lastSeen: '2026-11-20T12:00:00.000Z',
      notifications: 2,
    },
  ],
  counters: [{ name: 'isis.lsp.received', value: 3 }],
  codepoints: [{ name: 'pnc-udp-port', value: 1021, default: 1021, description: 'UDP port', source: 'PNC §4' }],
});

/** The sections of `state` as functions, with a note of which were asked. */
export function sourceOf(state: CnpdState, asked: string[] = []): StateSource {
  const entries = Object.entries(state).map(([name, value]) => [name, () => (asked.push(name), value)]);
  return Object.fromEntries(entries) as StateSource;
}
