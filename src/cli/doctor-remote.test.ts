import { describe, expect, test } from 'vitest';
import type { BgpOverview } from '../diagnosis/arrival/overview.ts';
import type { BgpPathState, BgpSessionState } from '../model/carrier-state.ts';
import { exampleState, sender } from '../northbound/state.fixture.ts';
import type { Remote } from './context.ts';
import { fakeCnpd, run } from './fake-cnpd.fixture.ts';

const [OURS, RR] = ['2001:db8:ffff::1', '2001:db8:ffff::fe'] as const;
const PREFIX = '2001:db8:1::/64';
const NOTHING_ARRIVED: BgpOverview = {
  session: [{ state: 'ready', as: 65_001, 'router-id': '192.0.2.3' }],
  peers: [],
  paths: [],
  senders: [],
};

describe('cnpctl doctor --remote', () => {
  /** The other router: what a state of its own answers. */
  const remoteState = (paths: BgpPathState[], more: Partial<BgpSessionState> = {}) => {
    const state = exampleState();
    state.bgp = { ...state.bgp, session: [{ ...state.bgp.session[0]!, routerId: '192.0.2.3', ...more }], paths };
    state.senders = [
      sender(PREFIX, { carrier: 'bgp', pnc: false, proxy: null, originator: OURS, source: `${PREFIX} ${RR} 0` }),
    ];
    return state;
  };
  const at = async (remote: Remote, line = 'doctor --remote there') =>
    run(line, fakeCnpd(exampleState()), { openRemote: async () => remote });
  const saved = async (paths: BgpPathState[]): Promise<Remote> => ({
    kind: 'text',
    text: (await run('-o json show bgp', fakeCnpd(remoteState(paths)))).out,
  });
  const intact = (): BgpPathState => ({ ...exampleState().bgp.paths[0]!, peer: RR, status: 'used' });

  test('everything arrived: exit code 0, the table and a sentence', async () => {
    const { code, out } = await at(await saved([intact()]));
    expect(out.split('\n')).toEqual([
      'PREFIX           NEXT HOP          ARRIVED       FROM               NEXT HOP THERE',
      '2001:db8:1::/64  2001:db8:ffff::1  intact, used  2001:db8:ffff::fe  2001:db8:ffff::1',
      '',
      '1 of 1 paths arrived intact and are used',
      '',
    ]);
    expect(code).toBe(0);
  });

  test('a neighbor that drops attribute 39: exit code 1, the table first, then the line that mends it', async () => {
    const { code, out } = await at(await saved([]));
    expect(code).toBe(1);
    expect(out).toMatch(
      /^2001:db8:1::\/64 +2001:db8:ffff::1 +without attribute 39 +2001:db8:ffff::fe +2001:db8:ffff::1$/m,
    );
    expect(out.indexOf('send-nexthop-characteristics')).toBeGreaterThan(out.indexOf('0 of 1 paths'));
  });

  test('another proxy there than was sent: exit code 1, and not called intact', async () => {
    const { code, out } = await at(await saved([{ ...intact(), proxy: '2001:db8:ffff::66' }]));
    expect(code).toBe(1);
    expect(out).toMatch(/^2001:db8:1::\/64 +2001:db8:ffff::1 +attribute 39 altered /m);
    expect(out).toContain('0 of 1 paths arrived intact and are used');
    expect(
      (await at(await saved([{ ...intact(), status: 'malformed', proxy: null, headerNextHop: null }]))).out,
    ).toMatch(/ attribute 39 altered /);
  });

  test('over the other router’s socket it reports the same', async () => {
    const client = { ...fakeCnpd(exampleState()) };
    const sockets: string[] = [];
    const connect = ({ socket }: { socket: string }) => (
      sockets.push(socket),
      socket === '/there.sock' ? fakeCnpd(remoteState([intact()])) : client
    );
    const { code } = await run('doctor --remote /there.sock', client, {
      connect,
      openRemote: async () => ({ kind: 'socket' }),
    });
    expect({ code, sockets: new Set(sockets) }).toEqual({
      code: 0,
      sockets: new Set(['/there.sock', '/run/cnpd/gnmi.sock']),
    });
  });

  test('as JSON', async () => {
    expect(JSON.parse((await at(await saved([]), '-o json doctor --remote there')).out)).toMatchObject({
      ok: false,
      doubts: [],
      paths: [{ arrival: 'without-attribute', toldBy: RR }],
    });
  });

  test('a thousand prefixes with one fate: twenty rows, one reason', async () => {
    const state = exampleState();
    state.bgp.paths = Array.from({ length: 1000 }, (_, i) => ({
      ...state.bgp.paths[0]!,
      prefix: `2001:db8:${i.toString(16)}::/64`,
    }));
    const { out } = await run('doctor --remote x', fakeCnpd(state), {
      openRemote: async () => ({ kind: 'text', text: JSON.stringify(NOTHING_ARRIVED) }),
    });
    expect(out.split('\n').filter((line) => line.includes(' not at all'))).toHaveLength(21);
    expect(out).toContain('… and 980 more: not at all');
    expect(out.match(/no path of this prefix/g)).toHaveLength(1);
  });

  test('what is no answer of cnpctl is exit code 4, with what it should be', async () => {
    const { code, err } = await at({ kind: 'text', text: 'BGP table version is 7' });
    expect({ code, err }).toEqual({
      code: 4,
      err: expect.stringMatching(/^cnpctl: there: not JSON: .*cnpctl -o json show bgp/),
    });
    expect((await run('doctor --remote nowhere')).code).toBe(2);
  });
});
