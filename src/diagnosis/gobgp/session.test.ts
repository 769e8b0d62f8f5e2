import { describe, expect, test } from 'vitest';
import type { BgpSession } from '../../model/carrier-state.ts';
import type { GobgpFaultCode } from '../../model/gobgp-fault.ts';
import { bgpProblems, disputeProblems } from './session.ts';

const START = Date.parse('2026-01-01T00:00:00Z');

describe('problems of BGP', () => {
  const session = (state: BgpSession['state'], reason = 'connect ECONNREFUSED', since = START): BgpSession => ({
    target: '127.0.0.1:50051',
    state,
    api: null,
    as: null,
    routerId: null,
    since: new Date(since).toISOString(),
    reason,
    originated: 0,
    wanted: 3,
    policy: 'installed',
    learned: 0,
    withProxy: 0,
  });
  const LATE = START + 3_600_000;

  test('no problem with a connected gobgpd, or while it is being read', () => {
    expect(bgpProblems(undefined, 0, LATE)).toEqual([]);
    expect(bgpProblems(session('ready'), START, LATE)).toEqual([]);
    expect(bgpProblems(session('loading'), START, START + 119_999)).toEqual([]);
  });

  test('a gobgpd that refuses paths is a problem at once, with its remedy', () => {
    const refused = (refusal: string, refusalFault: GobgpFaultCode) =>
      bgpProblems({ ...session('ready', 'connected'), refusal, refusalFault }, START, START);
    expect(refused('gobgpd accepts the connection but does not answer (Deadline exceeded)', 'no-answer')).toMatchObject(
      [
        {
          feature: 'bgp',
          problem: expect.stringMatching(/does not answer.*0 of 3 paths/),
          remedy: expect.stringContaining('restart gobgpd'),
        },
      ],
    );
    expect(refused('table is full', 'other')).toMatchObject([
      { problem: expect.stringContaining('(table is full)'), remedy: expect.stringContaining('log') },
    ]);
  });

  test('paths that gobgpd accepted and does not have are a problem, with a remedy for its policy or its families', () => {
    const dropped = (more: object) => bgpProblems({ ...session('ready', 'connected'), ...more }, START, START);
    expect(dropped({ dropped: 2 })).toMatchObject([
      {
        feature: 'bgp',
        problem: expect.stringContaining("2 of cnpd's 3 paths"),
        remedy: expect.stringContaining('default-import-policy'),
      },
    ]);
    expect(dropped({ dropped: 1, noTable: ['ipv4-unicast'] })).toMatchObject([
      {
        problem: expect.stringContaining('ipv4-unicast'),
        remedy: expect.stringContaining('afi-safi-name = "ipv4-unicast"'),
      },
    ]);
  });

  test('two cnpd at one gobgpd are a problem', () => {
    expect(disputeProblems(false)).toEqual([]);
    expect(disputeProblems(true)).toMatchObject([
      {
        feature: 'bgp',
        problem: expect.stringContaining('again and again'),
        remedy: expect.stringContaining('bgp.gobgp.target'),
      },
    ]);
  });

  test('a gobgpd that has not listed its table after two minutes is a problem', () => {
    expect(bgpProblems(session('loading', 'reading what gobgpd has'), START, START + 120_000)).toHaveLength(1);
  });

  test.each(['connecting', 'waiting'] as const)(
    'a gobgpd that is away (%s) is a problem after half a minute, with target and reason',
    (state) => {
      expect(bgpProblems(session(state), START, START + 29_999)).toEqual([]);
      expect(bgpProblems(session(state), START, START + 30_000)).toMatchObject([
        {
          feature: 'bgp',
          problem: expect.stringMatching(/127\.0\.0\.1:50051 \(connect ECONNREFUSED\)/),
          remedy: expect.stringContaining('--api-hosts 127.0.0.1:50051'),
        },
      ]);
    },
  );

  test('a lost gobgpd is a problem half a minute after the loss', () => {
    expect(bgpProblems(session('waiting', 'gone', LATE), START, LATE + 29_999)).toEqual([]);
    expect(bgpProblems(session('waiting', 'gone', LATE), START, LATE + 30_000)).toHaveLength(1);
  });
});
