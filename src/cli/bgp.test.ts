import { describe, expect, test } from 'vitest';
import { exampleState, sender } from '../northbound/state.fixture.ts';
import { failing, fakeCnpd, run } from './fake-cnpd.fixture.ts';

describe('cnpctl show bgp', () => {
  test('session: which gobgpd, what it holds of ours and what it taught', async () => {
    expect((await run('--wide show bgp session')).out.split('\n')).toEqual([
      expect.stringMatching(
        /^TARGET +STATE +API +AS +ROUTER ID +ORIGINATED +WANTED +LEARNED +WITH PROXY +POLICY +FOR +REASON$/,
      ),
      expect.stringMatching(
        /^127\.0\.0\.1:50051 +ready +v3 +65001 +192\.0\.2\.1 +1 +1 +3 +1 +installed +1h00m +all paths are known$/,
      ),
      '',
    ]);
  });

  test('peers: with the families that were negotiated', async () => {
    const { out } = await run('--wide show bgp peers');
    expect(out).toMatch(/^2001:db8:ffff::fe +65001 +yes +established +ipv4-unicast, ipv6-unicast +3 +1$/m);
    expect(out).toMatch(/^192\.0\.2\.254 +65001 +yes +active +- +0 +0$/m);
  });

  test('PNC-6-a: peers: whether each is of the domain', async () => {
    const state = exampleState();
    state.bgp.peers = [{ ...state.bgp.peers[0]!, as: 65_003, inDomain: false }];
    const { out } = await run('--wide show bgp peers', fakeCnpd(state));
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^NEIGHBOR +AS +OF THE DOMAIN +STATE /),
      expect.stringMatching(/^2001:db8:ffff::fe +65003 +no +established /),
      '',
    ]);
  });

  test('peers that gobgpd does not tell of are unknown, not none', async () => {
    const state = exampleState();
    const { neighbors, ...session } = state.bgp.session[0]!;
    expect(neighbors).toBe(2);
    state.bgp = {
      session: [{ ...session, state: 'waiting', reason: 'connect ECONNREFUSED; tries again in 3 s' }],
      peers: [],
      paths: [],
    };
    const sentence = 'gobgpd does not report its BGP neighbors now (waiting: connect ECONNREFUSED; tries again in 3 s)';
    expect((await run('--wide show bgp peers', fakeCnpd(state))).out).toBe(`${sentence}\n`);
    expect((await run('show bgp', fakeCnpd(state))).out.split('\n\n')[1]).toBe(sentence);
    state.bgp.session = [{ ...session, neighbors: 0 }];
    expect((await run('--wide show bgp peers', fakeCnpd(state))).out).toBe('there is no BGP neighbor\n');
  });

  test('under each table: a gobgpd that does not answer is named', async () => {
    const state = exampleState();
    state.bgp.session = [{ ...state.bgp.session[0]!, silent: 7 }];
    for (const view of ['bgp', 'bgp session', 'bgp peers', 'bgp paths']) {
      expect((await run(`show ${view}`, fakeCnpd(state))).out.split('\n').slice(-3), view).toEqual([
        '',
        'gobgpd does not answer (for 7 s): this is its last report',
        '',
      ]);
      expect((await run(`show ${view}`)).out).not.toContain('does not answer');
    }
  });

  test('PNC-5.4-a: paths: the proxy of each, and why its characteristics are not used', async () => {
    const { out } = await run('--wide show bgp paths');
    expect(out).toMatch(
      /^2001:db8:1::\/64 +2001:db8:ffff::1 +originated +local +2001:db8:ffff::1 +2001:db8:ffff::1 +own AS +yes /m,
    );
    expect(out).toMatch(
      /^2001:db8:3::\/64 +2001:db8:ffff::3 +used +2001:db8:ffff::fe +2001:db8:ffff::3 +2001:db8:ffff::3 +65003 +yes +- +1 /m,
    );
    expect(out).toMatch(/^2001:db8:4::\/64 +- +malformed +2001:db8:ffff::fe +2001:db8:ffff::fe +- +65004 65005 +yes /m);
  });

  test('a neighbor’s 500 unknown codes and 200 ASes are abbreviated, and whole as JSON: one path does not make the table wide', async () => {
    const state = exampleState();
    const codes = Array.from({ length: 500 }, (_, i) => i + 1);
    state.bgp.paths = [
      { ...state.bgp.paths[1]!, unknown: codes, asPath: Array.from({ length: 200 }, (_, i) => 65_000 + i).join(' ') },
    ];
    const { out } = await run('--wide show bgp paths', fakeCnpd(state));
    expect(out).toContain('1, 2, 3, 4, 5, 6, 7, 8 and 492 more');
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThan(260);
    expect(JSON.parse((await run('-o json show bgp paths', fakeCnpd(state))).out)).toMatchObject([{ unknown: codes }]);
  });

  test('all of it, one table after the other', async () => {
    const { code, out } = await run('show bgp');
    expect(code).toBe(0);
    expect(out.split('\n\n').map((table) => table.split(' ')[0])).toEqual(['TARGET', 'NEIGHBOR', 'PREFIX']);
  });

  test("as JSON: with the sender prefixes that came from BGP, and no other carrier's", async () => {
    const state = exampleState();
    state.senders = [
      ...state.senders,
      sender('2001:db8:3::/64', {
        carrier: 'bgp',
        originator: '2001:db8:ffff::3',
        source: '2001:db8:3::/64 2001:db8:ffff::fe 0',
      }),
    ];
    const answer = JSON.parse((await run('-o json show bgp', fakeCnpd(state))).out) as Record<
      string,
      { prefix: string }[]
    >;
    expect(Object.keys(answer)).toEqual(['session', 'peers', 'paths', 'senders']);
    expect(answer['senders']!.map(({ prefix }) => prefix)).toEqual(['2001:db8:3::/64']);
    expect(answer['paths']![1]).toMatchObject({
      'header-next-hop': '2001:db8:ffff::3',
      'as-path': '65003',
      unknown: [1],
    });
  });

  test('all of them: without a bgp section that is reported once', async () => {
    const state = { ...exampleState(), bgp: { session: [], peers: [], paths: [] } };
    const { out } = await run('show bgp', fakeCnpd(state));
    expect(out).toBe('there is no BGP carrier: cnpd.yaml has no bgp section\n');
  });

  test.each(['session', 'peers', 'paths'])('%s: without a bgp section reports it', async (subject) => {
    const sentence = 'there is no BGP carrier: cnpd.yaml has no bgp section';
    const state = { ...exampleState(), bgp: { session: [], peers: [], paths: [] } };
    expect(await run(`show bgp ${subject}`, fakeCnpd(state))).toEqual({ code: 0, out: `${sentence}\n`, err: '' });
  });

  test('D7: what is in force and what is not: IS-IS before BGP', async () => {
    const state = exampleState();
    state.senders = [
      sender('2001:db8:1::/64'),
      sender('2001:db8:1::/64', {
        carrier: 'bgp',
        best: false,
        proxy: '2001:db8:ffff::9',
        originator: '2001:db8:ffff::9',
        source: '2001:db8:1::/64 2001:db8:ffff::fe 0',
        metric: 0,
      }),
    ];
    const { out } = await run('--wide show senders --all', fakeCnpd(state));
    expect(out).toMatch(/2001:db8:ffff::1 +yes +isis /);
    expect(out).toMatch(/2001:db8:ffff::9 +no +bgp +2001:db8:ffff::9 +2001:db8:1::\/64 2001:db8:ffff::fe 0 +0 /);
  });

  test('a subject that does not exist is a usage error, and a cnpd that does not run is reported', async () => {
    expect((await run('show bgp bogus')).code).toBe(2);
    expect((await run('show bgp', failing('unreachable'))).code).toBe(3);
  });
});
