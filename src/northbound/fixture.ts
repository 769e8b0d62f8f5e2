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
  ospfv2: {
    neighbors: [
      {
        area: '0.0.0.0',
        interface: 'cnpd-ospf0',
        state: 'full',
        routerId: '192.0.2.1',
        deadTimeRemaining: 36,
        mtu: 1500,
        takesOpaque: true,
        unacknowledged: 0,
        databaseFull: false,
        routerIdContested: false,
        notFullSince: null,
        since: '2026-11-20T11:00:02.000Z',
        reason: 'databases agree',
      },
      {
        area: '0.0.0.1', interface: 'cnpd-ospf1', state: 'init', routerId: '192.0.2.1', deadTimeRemaining: 30, mtu: null, takesOpaque: null, unacknowledged: 0, databaseFull: false, routerIdContested: false,
        notFullSince: '2026-11-20T11:00:02.000Z', since: '2026-11-20T11:00:03.000Z', reason: 'heard',
      },
    ],
    database: [
      {
        area: '0.0.0.0', type: 'extended-prefix', lsId: '7.0.0.1', router: '192.0.2.201', sequence: '0x80000002', age: 10, checksum: '0xabcd', length: 60,
        own: true, reachable: true, proxyPrefixes: 2,
      },
    ],
  },
  ospfv3: {
    neighbors: [
      {
        area: '0.0.0.0', interface: 'cnpd-ospf6-0', state: 'exchange', routerId: '192.0.2.1', deadTimeRemaining: 40, mtu: 1500, takesOpaque: true, unacknowledged: 3, databaseFull: false, routerIdContested: false,
        notFullSince: '2026-11-20T10:59:00.000Z', since: '2026-11-20T11:00:00.000Z', reason: 'master and slave agreed',
      },
      {
        area: '0.0.0.1', interface: 'cnpd-ospf6-1', state: 'down', routerId: null, deadTimeRemaining: 0, mtu: null, takesOpaque: null, unacknowledged: 0, databaseFull: false, routerIdContested: false,
        notFullSince: '2026-11-20T11:00:00.000Z', since: '2026-11-20T11:00:00.000Z', reason: 'nobody was heard yet',
      },
    ],
    database: [
      {
        area: '0.0.0.0', type: 'E-Intra-Area-Prefix', lsId: '0.0.0.1', router: '192.0.2.201', sequence: '0x80000002', age: 10, checksum: '0xabcd', length: 60,
        own: true, reachable: true, proxyPrefixes: 2,
      },
    ],
  },
  bgp: {
    session: [
      {
        target: '127.0.0.1:50051', state: 'ready', api: 'v3', as: 65_001, routerId: '192.0.2.1', since: '2026-11-20T11:00:01.000Z', reason: 'all paths are known',
        originated: 1, wanted: 1, policy: 'installed', neighbors: 2, learned: 3, withProxy: 1,
      },
    ],
    peers: [
      { address: '2001:db8:ffff::fe', as: 65_001, state: 'established', families: ['ipv4-unicast', 'ipv6-unicast'], received: 3, advertised: 1, inDomain: true },
      { address: '192.0.2.254', as: 65_001, state: 'active', families: [], received: 0, advertised: 0, inDomain: true },
    ],
    paths: [
      {
        prefix: '2001:db8:1::/64', peer: 'local', nextHop: '2001:db8:ffff::1', headerNextHop: '2001:db8:ffff::1', proxy: '2001:db8:ffff::1', asPath: '', best: true,
        status: 'originated', sids: [], unknown: [], since: '2026-11-20T11:00:01.000Z',
      },
      {
        prefix: '2001:db8:3::/64', peer: '2001:db8:ffff::fe', nextHop: '2001:db8:ffff::3', headerNextHop: '2001:db8:ffff::3', proxy: '2001:db8:ffff::3', asPath: '65003', best: true,
        status: 'used', sids: [], unknown: [1], since: '2026-11-20T11:00:02.000Z',
      },
      {
        prefix: '2001:db8:4::/64', peer: '2001:db8:ffff::fe', nextHop: '2001:db8:ffff::fe', headerNextHop: null, proxy: null, asPath: '65004 65005', best: true,
        status: 'malformed', sids: [], unknown: [], since: '2026-11-20T11:00:02.000Z',
      },
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
      rttMs: 10.25,
      vEcn: 50,
      vGrowth: 10_000_000,
      ecnMarkingRate: 12.5,
      queueGrowth: 0,
      measurementIntervalMs: 10,
      notContributing: 3,
      deferred: 0,
      noFormat: 1,
      unseen: 5,
      unseenMpls: 2,
      unseenGre: 0,
      unseenVxlan: 0,
      unseenEsp: 3,
      unseenGeneve: 0,
      unseenOther: 0,
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
  notifications: [
    {
      sequence: 2,
      at: '2026-11-20T12:00:05.000Z',
      port: 'eth2',
      format: 'long-haul-icmpv6',
      reason: 'queue-depth',
      source: '2001:db8:1::1',
      destination: '2001:db8:2::1',
      destinationQpn: 0x1234,
      sourceQpn: 0x64,
      endCon: '2001:db8:c::1',
      queueBytes: 130_000_000,
      level: 180,
      action: 'rate-reduce',
      parameter: 30,
    },
    {
      sequence: 1,
      at: '2026-11-20T12:00:04.000Z',
      port: 'eth2',
      format: 'proxy',
      reason: 'ecn-marking-rate',
      source: '2001:db8:1::2',
      destination: '2001:db8:2::1',
      destinationQpn: 0x1235,
      sourceQpn: null,
      endCon: null,
      queueBytes: 110_000_000,
      level: 3,
      action: null,
      parameter: null,
    },
  ],
  sids: [
    { sid: '2001:db8:c::1', behavior: 'END.CON', origin: 'local', status: 'programmed', table: 254, carrier: null, originator: null },
    { sid: '2001:db8:d::1', behavior: 'END.CON', origin: 'learned', status: 'reachable', table: null, carrier: 'isis', originator: 'L2 0000.0000.c002' },
  ],
  rtt: [
    { target: '2001:db8:ffff::2', port: 'eth2', source: 'learned', sent: 12, received: 11, rttMs: 20.0625, minRttMs: 20.0004, lastAnswer: '2026-11-20T12:00:09.000Z' },
    { target: '2001:db8:ffff::3', port: null, source: 'configured', sent: 0, received: 0, rttMs: null, minRttMs: null, lastAnswer: null },
  ],
  counters: [{ name: 'isis.lsp.received', value: 3 }],
  codepoints: [{ name: 'pnc-udp-port', value: 1021, default: 1021, description: 'UDP port', source: 'PNC §4' }],
});

/** The sections of `state` as functions, with a note of which were asked. */
export function sourceOf(state: CnpdState, asked: string[] = []): StateSource {
  const entries = Object.entries(state as unknown as Record<string, unknown>).map(([name, value]) => [name, () => (asked.push(name), value)]);
  return Object.fromEntries(entries) as StateSource;
}
