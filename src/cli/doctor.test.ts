import { describe, expect, test } from 'vitest';
import { exampleState } from '../northbound/state.fixture.ts';
import type { Check } from '../model/problem.ts';
import type { CliDependencies } from './context.ts';
import { failing, fakeCnpd, run } from './fake-cnpd.fixture.ts';

describe('cnpctl doctor', () => {
  const asked: unknown[] = [];
  const examine = async (...args: unknown[]): Promise<Check[]> => {
    asked.push(args);
    return [
      {
        id: 'frr.passive',
        claim: 'not passive',
        state: 'missing',
        problem: 'it is passive',
        remedy: 'no isis passive',
      },
      { id: 'frr.mtu', claim: 'fits', state: 'ok' },
      { id: 'frr.area', claim: 'same area', state: 'unknown' },
    ];
  };

  /** What is in force is what the file says. */
  const ofTheFile = (): ReturnType<typeof exampleState> => {
    const state = exampleState();
    const { confirmBy: _, ...intent } = state.status.intent;
    state.status = { ...state.status, intent: { ...intent, persistent: true } };
    return state;
  };

  test('with cnpd: its problems, and FRR for what is in force, unless a file is named', async () => {
    asked.length = 0;
    await run('doctor -c /x.yaml', undefined, { examine });
    expect(asked.splice(0)).toEqual([['/x.yaml', { kernel: false, roots: ['2001:db8:aa::1'] }]]);
    const { code, out } = await run('doctor', undefined, { examine });
    expect(code).toBe(1);
    const inForce = {
      text: 'log:\n  level: info # default\n',
      isPersistent: false,
      confirmBy: '2026-11-20T12:01:00.000Z',
    };
    expect(asked).toEqual([['/etc/cnpd/cnpd.yaml', { kernel: false, roots: ['2001:db8:aa::1'], inForce }]]);
    expect(out.split('\n')).toEqual([
      'ok       cnpd: cnpd runs',
      'missing  port eth2: the root qdisc is pfifo_fast',
      '         tc qdisc replace dev eth2 root tbf rate 1gbit burst 64k limit 1m',
      "ok       bgp.originated: 1 of 1 of cnpd's paths are in gobgpd",
      'missing  frr.passive: it is passive',
      '         no isis passive',
      'ok       frr.mtu: fits',
      'unknown  frr.area: same area (fix the above first)',
      '',
    ]);
  });

  test('without cnpd: that is missing, and the kernel is examined here', async () => {
    asked.length = 0;
    const { code, out } = await run('doctor -c /x.yaml --vty-dir /d --vtysh /v', failing('unreachable'), { examine });
    expect({ code, firstLine: out.split('\n')[0] }).toEqual({ code: 1, firstLine: 'missing  cnpd: because' });
    expect(asked).toEqual([['/x.yaml', { kernel: true, location: { vtyDir: '/d', vtysh: '/v' } }]]);
  });

  test('the cnpd of a file that is named is asked at the socket of that file, unless --socket names another', async () => {
    const sockets: string[] = [];
    const connect: CliDependencies['connect'] = ({ socket }) => {
      sockets.push(socket);
      return failing('unreachable');
    };
    const socketOf = async (file: string): Promise<string | undefined> => (file === '/x.yaml' ? '/x.sock' : undefined);
    for (const line of ['-c /x.yaml', '-c /unreadable.yaml', '', '--socket /y.sock -c /x.yaml'])
      await run(`doctor ${line}`.trim(), undefined, { connect, socketOf });
    expect(sockets).toEqual(['/x.sock', '/run/cnpd/gnmi.sock', '/run/cnpd/gnmi.sock', '/y.sock']);
  });

  test('nothing missing is exit code 0', async () => {
    const state = ofTheFile();
    state.status.problems = [];
    state.bgp.session = [];
    expect(await run('doctor', fakeCnpd(state))).toMatchObject({ code: 0, out: 'ok       cnpd: cnpd runs\n' });
  });

  test('a warning is shown and is no fault', async () => {
    const state = { ...ofTheFile(), bgp: { session: [], peers: [], paths: [] } };
    state.status.problems = [];
    const { code, out } = await run('doctor', fakeCnpd(state), {
      examine: async () => [{ id: 'x', claim: 'y', state: 'warning', problem: 'perhaps', remedy: 'look' }],
    });
    expect({ code, out }).toEqual({ code: 0, out: 'ok       cnpd: cnpd runs\nwarning  x: perhaps\n         look\n' });
  });

  test('paths of cnpd’s that gobgpd does not have: how many, and whether they are on their way', async () => {
    const printed = async (session: object): Promise<{ code: number; out: string }> => {
      const state = ofTheFile();
      state.status.problems = [];
      state.bgp.session = [{ ...state.bgp.session[0]!, originated: 0, wanted: 2, ...session }];
      return run('doctor', fakeCnpd(state));
    };
    expect(await printed({})).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        /^missing {2}bgp\.originated: 0 of 2 of cnpd's paths are in gobgpd\n.*they are being added$/m,
      ),
    });
    expect((await printed({ refusal: 'no' })).out).toMatch(/^missing {2}bgp\.originated: .*\n.*bgp problems above$/m);
    expect((await printed({ state: 'waiting' })).out).not.toContain('bgp.originated');
  });

  test('-o json holds what is to be shown and nothing else of an item', async () => {
    const withSecret = async () => [{ id: 'x', claim: 'y', state: 'missing' as const, lines: [{ secret: 'hush' }] }];
    const { out } = await run('doctor -o json', fakeCnpd(ofTheFile()), { examine: withSecret });
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      items: [
        { id: 'cnpd', state: 'ok' },
        { id: 'port eth2' },
        { id: 'bgp.originated' },
        { id: 'x', state: 'missing' },
      ],
    });
    expect(out).not.toContain('hush');
  });

  test('colors only where they are taken', async () => {
    expect((await run('doctor', undefined, { color: true })).out).toContain('\u001b[31mmissing');
    expect((await run('doctor')).out).not.toContain('\u001b');
  });
});
