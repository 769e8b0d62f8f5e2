import { describe, expect, test } from 'vitest';
import { exampleState } from '../northbound/state.fixture.ts';
import { NorthboundError } from '../northbound/client.ts';
import type { CliDependencies } from './context.ts';
import { failing, fakeCnpd, run } from './fake-cnpd.fixture.ts';

describe('cnpctl show', () => {
  test('senders: those with a proxy, or all', async () => {
    const { code, out } = await run('--wide show senders');
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      'PREFIX           PROXY             IN FORCE  CARRIER  ORIGINATOR         SOURCE                       METRIC  UNDERSTANDS                 AGE  DROPS IN',
      '2001:db8:1::/64  2001:db8:ffff::1  yes       isis     L2 0000.0000.c001  L2 0000.0000.c001.00-00  4261412865  fast-cnp, long-haul-icmpv6  10s         -',
      '2001:db8::/32    2001:db8:ffff::2  yes       isis     L2 0000.0000.c002  L2 0000.0000.c002.00-00  4261412865  -                           10s         -',
      '',
    ]);
    const all = (await run('--wide show senders --all')).out;
    expect(all).toContain('2001:db8:ffff::3  no ');
    expect(all).toMatch(/2001:db8:1:0:8::\/80 +none/);
  });

  // address → exit code, and the sentence
  const lookups: [string, number, string][] = [
    [
      '2001:db8:1::5',
      0,
      '2001:db8:1::5: proxy 2001:db8:ffff::1, the longest match is 2001:db8:1::/64 from L2 0000.0000.c001 (isis)',
    ],
    [
      '2001:db8:7::5',
      0,
      '2001:db8:7::5: proxy 2001:db8:ffff::2, the longest match is 2001:db8::/32 from L2 0000.0000.c002 (isis)',
    ],
    [
      '2001:db8:1:0:8::5',
      1,
      '2001:db8:1:0:8::5: no proxy, the longest match is 2001:db8:1:0:8::/80 from L2 0000.0000.c001 (isis), ' +
        'which names none',
    ],
    ['10.0.0.1', 1, '10.0.0.1: no proxy, no prefix in force covers it'],
  ];
  for (const [address, code, sentence] of lookups) {
    test(`PNC-5-c: senders ${address} shows the proxy and why`, async () => {
      const result = await run(`show senders ${address}`);
      expect({ code: result.code, firstLine: result.out.split('\n')[0] }).toEqual({ code, firstLine: sentence });
    });
  }

  test('senders ADDRESS lists the covering prefixes, longest first', async () => {
    const { out } = await run('show senders 2001:db8:1::5 --all -o json');
    const answer = JSON.parse(out) as { proxy: string; entries: { prefix: string; best: boolean }[] };
    expect(answer.proxy).toBe('2001:db8:ffff::1');
    expect(answer.entries.map((entry) => [entry.prefix, entry.best])).toEqual([
      ['2001:db8:1::/64', true],
      ['2001:db8::/32', true],
      ['2001:db8::/32', false],
    ]);
  });

  test('status is exit code 1 while degraded, and shows what to do', async () => {
    const { code, out } = await run('show status');
    expect(code).toBe(1);
    expect(out).toContain(
      'last trial   rolled back 2026-11-20T11:59:00.000Z (1m10s ago): no confirmation came in time\n' +
        'last reload  refused, the configuration above stays in force, 2026-11-20T11:30:00.000Z (30m10s ago)\n' +
        '  cnpd.yaml:3:1: unknown key',
    );
    expect(out).toContain('\nport eth2: the root qdisc is pfifo_fast\n  tc qdisc replace');
    const state = exampleState();
    state.status = { ...state.status, health: 'running', problems: [] };
    expect((await run('show status', fakeCnpd(state))).code).toBe(0);
  });

  test('ports: units in the header, thresholds that are off, where they come from', async () => {
    const { out } = await run('--wide show ports');
    expect(out).toMatch(
      /^INTERFACE {2}ATTACHED {2}ROOT QDISC {2}QUEUE \(B\) {2}PEAK \(B\) {2}K-MIN \(B\) {2}K-MAX \(B\)/,
    );
    expect(out).toMatch(/eth2 +yes +tbf +1000 +90000 +off +100000 +50 +12\.5 +10000000 +0 +10\.25/);
    expect(out).toContain('eth2: k-max: 100000 B = configured');
  });

  test('ports: what became of the triggers, each reason on its own', async () => {
    const lines = (await run('--wide show ports')).out.split('\n');
    const at = lines.findIndex((line) => line.startsWith('INTERFACE  TRIGGERS'));
    expect(lines.slice(at, at + 2)).toEqual([
      'INTERFACE  TRIGGERS  NOTICES  HELD PER FLOW  HELD PER PORT  SMALL FLOW  DEFERRED  NO FORMAT  NO PROXY',
      'eth2              5        2              2              1           3         0          1         0',
    ]);
  });

  test('notifications: the newest first, with format, reason and instruction', async () => {
    const { out } = await run('--wide show notifications');
    expect(out.split('\n')).toEqual([
      'AGO  PORT  FORMAT            REASON            SENDER         RECEIVER       DEST QPN  SOURCE QPN  QUEUE (B)  LEVEL  INSTRUCTION       THROUGH END.CON',
      ' 5s  eth2  long-haul-icmpv6  queue-depth       2001:db8:1::1  2001:db8:2::1  0x001234    0x000064  130000000    180  rate-reduce 30 %  2001:db8:c::1',
      ' 6s  eth2  proxy             ecn-marking-rate  2001:db8:1::2  2001:db8:2::1  0x001235           -  110000000      3  -                 -',
      '',
    ]);
  });

  test('sources and received: what was taken for whom, and what became of it', async () => {
    expect((await run('show sources')).out.split('\n')).toEqual([
      'SENDERS          ACTION   NOTIFICATIONS  LAST  FROM',
      '2001:db8:1::/64  convert              2    5s  2001:db8:ffff::2',
      '198.51.100.0/24  pass                 0     -  -',
      '',
    ]);
    expect((await run('--wide show received --last 1')).out.split('\n')).toEqual([
      'AGO  PORT  NODE              FORMAT            SENDER         SOURCE QPN  RECEIVER       DEST QPN  LEVEL  INSTRUCTION       RESULT',
      ' 5s  eth2  2001:db8:ffff::2  long-haul-icmpv6  2001:db8:1::1    0x000064  2001:db8:2::1  0x001234    180  rate-reduce 30 %  converted',
      '',
    ]);
    expect((await run('--wide show received')).out).toMatch(/fast-cnp +2001:db8:1::1 +- +- +- +- +- +passed/);
  });

  test('holds: who is slowed down, by whom, to what, and until when', async () => {
    expect((await run('--wide show holds')).out.split('\n')).toEqual([
      'SENDER         SOURCE QPN  RECEIVER       DEST QPN  STATE       RATE     NORMAL  NODES             INSTRUCTION       AGE  ENDS IN',
      '2001:db8:1::1    0x000064  2001:db8:2::1  0x001234  paused  7 Gbit/s  10 Gbit/s  2001:db8:ffff::2  rate-reduce 30 %   5s       5s',
      '',
      'PAUSED                                                    LEAVES BY  ASKED BY  STATE     PAUSE (MS)  ARNS  AGE  ENDS IN',
      'service 2001:db8:a::1 to 2001:db8:b::1 protocol 41        eth2       fe80::2   paused            10   300   3s       2s',
      'flow 2001:db8:1::1 port 49152 to 2001:db8:2::1 port 4791  eth2       fe80::2   leaving           10     4   3s       2s',
      'priority 3                                                eth2       fe80::2   watchdog          10     5   3s       2s',
      '',
    ]);
    const state = exampleState();
    const without = fakeCnpd({ ...state, holds: [] });
    expect((await run('--wide show holds', without)).out).toMatch(/^PAUSED .*\nservice .*\nflow .*\npriority .*\n$/);
    const both = JSON.parse((await run('show holds -o json')).out) as object[];
    expect(both).toHaveLength(4);
    expect(both).toMatchObject([
      { sender: '2001:db8:1::1' },
      { traffic: expect.stringContaining('service'), neighbor: 'fe80::2', 'pause-us': 10_000 },
      { 'source-port': 49_152 },
      { priority: 3 },
    ]);
  });

  test('flow-control: mode and ports, what is asked of whom, what is held for whom, and what is wrong', async () => {
    const state = exampleState();
    const problem = {
      ...{ code: 'interface.missing' as const, feature: 'flow-control.watch' },
      ...{ problem: 'interface eth3 does not exist', remedy: 'y' },
    };
    const client = fakeCnpd({ ...state, status: { ...state.status, problems: [...state.status.problems, problem] } });
    expect((await run('--wide show flow-control', client)).out.split('\n')).toEqual([
      'mode       service',
      'UDP port   1022',
      'Para-Type  msb-first',
      '',
      'INTERFACE  PAUSE ABOVE (B)  RESUME BELOW (B)  ASKED  HOLDS  PAUSED',
      'eth2                200000            100000      0  yes         1',
      'eth3                400000            150000      1  no          0',
      'eth4           not watched       not watched      0  yes         0',
      '',
      'ASKED TO PAUSE                                            NEIGHBOR  ARRIVES AT  FILLS  REASON  AGE  ARNS',
      'service 2001:db8:a::1 to 2001:db8:b::1 protocol 41        fe80::1   eth1        eth3   queue    5s   500',
      'service 2001:db8:a::1 to 2001:db8:b::1 protocol 41        fe80::1   eth1        eth3   held     4s     7',
      'flow 2001:db8:1::1 port 49152 to 2001:db8:2::1 port 4791  fe80::1   eth1        eth3   held     5s     1',
      'priority 3                                                fe80::1   eth1        eth3   queue    5s     2',
      '',
      'PAUSED                                                    LEAVES BY  ASKED BY  STATE     PAUSE (MS)  ARNS  AGE  ENDS IN',
      'service 2001:db8:a::1 to 2001:db8:b::1 protocol 41        eth2       fe80::2   paused            10   300   3s       2s',
      'flow 2001:db8:1::1 port 49152 to 2001:db8:2::1 port 4791  eth2       fe80::2   leaving           10     4   3s       2s',
      'priority 3                                                eth2       fe80::2   watchdog          10     5   3s       2s',
      '',
      'flow-control.watch: interface eth3 does not exist',
      '  y',
      '',
    ]);
    const json = JSON.parse((await run('show flow-control -o json', client)).out) as object;
    expect(json).toMatchObject({
      mode: 'service',
      'udp-port': 1022,
      asked: [{ reason: 'queue' }, { reason: 'held' }, {}, {}],
    });
    expect(json).toMatchObject({
      paused: [{ state: 'paused' }, {}, {}],
      problems: [{ feature: 'flow-control.watch' }],
    });
  });

  test('flow-control: a router without it says so', async () => {
    const nothing = { mode: null, udpPort: null, bitOrder: null, ports: [], asked: [], paused: [] };
    const client = fakeCnpd({ ...exampleState(), flowControl: nothing });
    expect(await run('show flow-control', client)).toMatchObject({ code: 0, out: 'this router has no flow control\n' });
    expect(JSON.parse((await run('show flow-control -o json', client)).out)).toEqual({
      ...{ ports: [], asked: [], paused: [], problems: [] },
    });
  });

  test('release where cnpd runs without the socket of Set: why, and not that cnpd cannot be reached', async () => {
    const sockets: unknown[] = [];
    const connect: CliDependencies['connect'] = ({ socket, mainSocket }) => (
      sockets.push([socket, mainSocket]),
      failing('no-socket')
    );
    const { code, err } = await run('release --all', undefined, { connect });
    expect([code, err]).toEqual([3, 'cnpctl: because\n']);
    expect(sockets).toEqual([['/run/cnpd/gnmi-set.sock', '/run/cnpd/gnmi.sock']]);
  });

  test('release: one flow, or all; says how many, and exits 1 when there was none', async () => {
    expect(await run('release 2001:db8:1::1 2001:db8:2::1 0x1234')).toMatchObject({ code: 0, out: '1 flow let go\n' });
    expect(await run('release 2001:db8:1::1 2001:db8:2::1 4661')).toMatchObject({ code: 1, out: '0 flows let go\n' });
    expect(await run('release --all -o json')).toMatchObject({ code: 0, out: '{\n  "released": 4\n}\n' });
    expect((await run('release --all')).out).toBe('4 holds let go\n');
    for (const line of ['release', 'release 2001:db8:1::1', 'release 2001:db8:1::1 2001:db8:2::1 0', 'release x y 1'])
      expect((await run(line)).code, line).toBe(2);
    expect((await run('release --all 2001:db8:1::1 2001:db8:2::1 5')).code).toBe(2);
  });

  test('notifications --last N: no more than N, twenty by default', async () => {
    const state = exampleState();
    state.notifications = Array.from({ length: 30 }, (_, i) => ({ ...state.notifications[0]!, sequence: 30 - i }));
    const shown = async (line: string): Promise<number[]> =>
      (JSON.parse((await run(line, fakeCnpd(state))).out) as { sequence: number }[]).map((n) => n.sequence);
    expect(await shown('show notifications --last 2 -o json')).toEqual([30, 29]);
    expect(await shown('show notifications -o json')).toHaveLength(20);
    expect(await shown('show notifications --last 1000 -o json')).toHaveLength(30);
  });

  test('an instruction has its unit', async () => {
    const state = exampleState();
    const actions = [
      ['notify', 0],
      ['pause', 10_000],
      ['rate-reduce', 30],
      ['resume', 50],
    ] as const;
    state.notifications = actions.map(([action, parameter], i) => ({
      ...state.notifications[0]!,
      sequence: i,
      action,
      parameter,
    }));
    const { out } = await run('--wide show notifications', fakeCnpd(state));
    for (const text of ['notify  ', 'pause 10000 µs  ', 'rate-reduce 30 %  ', 'resume 50 %  '])
      expect(out).toContain(text);
  });

  test('FCN-4.2.2-a: srv6 sids: own and learned, each with its status', async () => {
    expect((await run('show srv6 sids')).out.split('\n')).toEqual([
      'SID            BEHAVIOR  ORIGIN   STATUS      TABLE  CARRIER  ORIGINATOR',
      '2001:db8:c::1  END.CON   local    programmed   main  -        -',
      '2001:db8:d::1  END.CON   learned  reachable       -  isis     L2 0000.0000.c002',
      '',
    ]);
  });

  test('LHCNP-5.3.1-d: rtt: every target with its port and what was measured', async () => {
    expect((await run('show rtt')).out.split('\n')).toEqual([
      'TARGET            PORT  SOURCE      RTT (ms)  LEAST (ms)  SENT  ANSWERED  LAST ANSWER'.toUpperCase(),
      '2001:db8:ffff::2  eth2  learned       20.063          20    12        11           1s',
      '2001:db8:ffff::3  -     configured         -           -     0         0            -',
      '',
    ]);
  });

  test('Queue Pairs and sequence numbers are hexadecimal, unknown ones a dash', async () => {
    expect((await run('show flows --wide')).out).toMatch(/0x001234 +- +-/);
    expect((await run('show isis database')).out).toMatch(/0000\.0000\.c001\.00-00 +0x00000011/);
  });

  const all = [
    'status',
    'proxies',
    'senders',
    'isis neighbors',
    'isis database',
    'ports',
    'flows',
    'notifications',
    'sources',
    'received',
    'holds',
    'srv6 sids',
    'rtt',
    'counters',
    'codepoints',
  ];
  for (const subject of all) {
    test(`${subject} -o json is the state with YANG names`, async () => {
      const value = JSON.parse((await run(`show ${subject} -o json`)).out) as object;
      const object = (Array.isArray(value) ? value[0] : value) as object;
      for (const key of Object.keys(object)) expect(key).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    });
    if (subject !== 'status') {
      test(`${subject}: an empty list says so`, async () => {
        const empty = {
          ...exampleState(),
          proxies: [],
          senders: [],
          isis: { neighbors: [], database: [] },
          ports: [],
          flows: [],
          notifications: [],
          sources: [],
          received: [],
          holds: [],
          flowControl: { mode: null, udpPort: null, bitOrder: null, ports: [], asked: [], paused: [] },
          sids: [],
          rtt: [],
          counters: [],
          codepoints: [],
        };
        const { code, out } = await run(`show ${subject}`, fakeCnpd(empty));
        expect(code).toBe(0);
        expect(out).toMatch(/^[a-zA-Z][^\n]* (no|is|was|are) ?[^\n]*\n$|^(no|nothing|there|this) [^\n]*\n$/);
        expect(JSON.parse((await run(`show ${subject} -o json`, fakeCnpd(empty))).out)).toEqual([]);
      });
    }
  }
});

describe('exit codes', () => {
  for (const line of [
    'show bogus',
    'bogus',
    'show',
    'show senders nonsense',
    '-o xml show status',
    '--timeout 0 show status',
    'show status extra',
    'show srv6',
    'show notifications --last 0',
    'show notifications --last x',
    '--bogus',
  ]) {
    test(`2: cnpctl ${line}`, async () => {
      const { code, out, err } = await run(line);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).not.toBe('');
    });
  }
  test('0: --help and --version', async () => {
    expect((await run('--help')).code).toBe(0);
    expect(await run('--version')).toEqual({ code: 0, out: '0.1.0\n', err: '' });
  });
  test('3: cnpd does not answer', async () => {
    expect(await run('show status', failing('unreachable'))).toEqual({
      code: 3,
      out: '',
      err: 'cnpctl: cannot reach cnpd: because\n',
    });
  });
  test('4: cnpd refuses', async () => {
    expect(await run('--wide show ports', failing('refused'))).toEqual({
      code: 4,
      out: '',
      err: 'cnpctl: cnpd refused: because (X)\n',
    });
  });
});

describe('cnpctl reload', () => {
  test('0 when the file came into force, with the sections that mean something else now', async () => {
    expect(await run('reload')).toEqual({ code: 0, out: 'reloaded: nothing changed\n', err: '' });
    const changed = fakeCnpd(exampleState(), { ok: true, errors: [], changed: ['ports', 'stamp'] });
    expect(await run('reload', changed)).toEqual({ code: 0, out: 'reloaded: changed ports, stamp\n', err: '' });
    expect(JSON.parse((await run('reload -o json', changed)).out)).toEqual({
      ok: true,
      errors: [],
      changed: ['ports', 'stamp'],
    });
  });
  test('1 when something of it takes effect later, and shows what', async () => {
    const later = fakeCnpd(exampleState(), { ok: true, errors: ['gnmi.socket: later'], changed: ['gnmi'] });
    expect(await run('reload', later)).toEqual({
      code: 1,
      out: 'reloaded: changed gnmi\n',
      err: 'cnpctl: not in force: gnmi.socket: later\n',
    });
    expect(await run('reload -o json', later)).toMatchObject({ code: 1, err: '' });
  });
  test('4 with every error when it did not', async () => {
    const { code, err } = await run(
      'reload',
      fakeCnpd(exampleState(), { ok: false, errors: ['a:1:1: x', 'a:2:1: y'], changed: [] }),
    );
    expect(code).toBe(4);
    expect(err).toBe('cnpctl: cnpd refused, what is in force stays:\na:1:1: x\na:2:1: y\n');
  });
});

test('what a server says moves no cursor and makes no line of its own', async () => {
  const connect = (): never => {
    throw new NorthboundError('refused', 'NOT_FOUND', 'no\u001b]0;title\u0007\ncnpctl: all is well\u009b2J');
  };
  const { err } = await run('show status', undefined, { connect });
  expect(err).toBe('cnpctl: cnpd refused: no\ufffd]0;title\ufffd\ufffdcnpctl: all is well\ufffd2J (NOT_FOUND)\n');
});

describe('cnpctl show ospfv2, ospfv3', () => {
  test('neighbors: one an area, also where no neighbor was heard', async () => {
    expect((await run('--wide show ospfv2 neighbors')).out.split('\n')).toEqual([
      'AREA     INTERFACE   ROUTER ID  STATE  DEAD IN (S)  MTU (B)  TAKES OURS  UNACKNOWLEDGED    FOR  REASON',
      expect.stringMatching(/^0\.0\.0\.0 +cnpd-ospf0 +192\.0\.2\.1 +full +36 +1500 +yes +0 +\S+ +databases agree$/),
      expect.stringMatching(/^0\.0\.0\.1 +cnpd-ospf1 +192\.0\.2\.1 +init +30 +- +- +0 +\S+ +heard$/),
      '',
    ]);
    expect((await run('--wide show ospfv3 neighbors')).out).toMatch(
      /^0\.0\.0\.1 +cnpd-ospf6-1 +- +down +0 +- +- +0 +\S+ +no hello was heard yet$/m,
    );
  });

  test('database: as a table, and with -o json', async () => {
    expect((await run('--wide show ospfv2 database')).out).toMatch(
      /^0\.0\.0\.0 +extended-prefix +7\.0\.0\.1 +192\.0\.2\.201 +0x80000002 +0xabcd +10 +60 +yes +yes +2$/m,
    );
    expect(JSON.parse((await run('-o json show ospfv3 database')).out)).toMatchObject([
      { type: 'E-Intra-Area-Prefix', 'ls-id': '0.0.0.1', 'proxy-prefixes': 2 },
    ]);
  });
});

describe('cnpctl uninstall', () => {
  test('refuses while anything listens on the socket', async () => {
    let called = false;
    const { code, err } = await run('uninstall', undefined, { uninstall: async () => (called = true) });
    expect({ code, called }).toEqual({ code: 1, called: false });
    expect(err).toContain('stop it first');
  });
  test('shows what it removed; exit code 1 when something is left', async () => {
    const removing = (clean: boolean): Partial<CliDependencies> => ({
      uninstall: async (dir, say) => (say(`removed ${dir}`), clean),
    });
    expect(await run('uninstall --run-dir /r', failing('unreachable'), removing(true))).toEqual({
      code: 0,
      out: 'removed /r\n',
      err: '',
    });
    expect(await run('uninstall', failing('unreachable'), removing(false))).toMatchObject({ code: 1 });
  });
});
