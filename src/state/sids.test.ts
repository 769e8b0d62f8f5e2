import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import { loadIntent } from '../intent/load.ts';
import { KernelError } from '../kernel/errors.ts';
import { hasRoute } from '../kernel/netlink/has-route.ts';
import { address } from '../model/address.ts';
import { type SidDependencies, sidStates } from './sids.ts';

describe('a SID that the network advertises', () => {
  const intent = loadIntent('router: { name: r1, loopback: { ipv6: 2001:db8:ffff::1 } }\n', 'cnpd.yaml');
  if (!intent.ok) throw new Error('intent');
  const learned = (heldUntil?: string) =>
    ({
      sidsOf: (behavior: number) =>
        behavior === intent.value.codePoints['end-con-behavior']
          ? [{ sid: address('2001:db8:c::1'), carrier: 'isis', originator: 'L2 1', heldUntil }]
          : [],
    }) as never;
  const statusOf = async (
    error: 'ENETUNREACH' | 'EHOSTUNREACH' | 'EINVAL' | 'EACCES' | 'ENOBUFS' | undefined,
    heldUntil?: string,
  ): Promise<string | undefined> => {
    const rtnetlink = {
      routeTo: () =>
        error === undefined
          ? Promise.resolve({} as never)
          : Promise.reject(new KernelError('look up route', constants.errno[error])),
    };
    return (
      await sidStates({
        intent: intent.value,
        routers: learned(heldUntil),
        desired: undefined,
        dataplane: undefined,
        hasRoute: (to) => hasRoute(rtnetlink, to),
      })
    )[0]?.status;
  };

  test('FCN-4.2.2-d: is shown as reachable while this router has a route to it', async () => {
    expect(await statusOf(undefined)).toBe('reachable');
    for (const error of ['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EACCES'] as const)
      expect(await statusOf(error)).toBe('no route to it from this router');
    expect(await statusOf('ENOBUFS')).toBe('reachable'); // nobody knows
    expect(await statusOf('EHOSTUNREACH', '2026-11-22T00:00:00Z')).toBe('held until 2026-11-22T00:00:00Z');
  });
});

describe('SIDs of groups', () => {
  const [EDGE, REPLICATION] = ['2001:db8:e::c1:0:0', '2001:db8:e::c2:0:0'];
  const intent = load(
    `${ROUTER}srv6: { core-ports: [eth1], end-mt: { sid: "${EDGE}", locator: 2001:db8:e::/48 }, ` +
      `replication: { sid: "${REPLICATION}", locator: 2001:db8:e::/48 } }\n`,
  );
  const rows = async (dependencies: Partial<SidDependencies>): Promise<string[]> =>
    (
      await sidStates({
        intent,
        routers: { sidsOf: () => [] },
        desired: undefined,
        dataplane: undefined,
        hasRoute: () => Promise.resolve(true),
        ...dependencies,
      })
    ).map(({ sid, behavior, origin, status }) => `${origin} ${sid} ${behavior}: ${status}`);
  const planned = { multicast: {} } as never;
  const refusing = (...sids: string[]) => ({ srv6: undefined, refusedSids: () => new Set(sids) });

  test('RMC-5.1-a: those of this router, and whether they are programmed', async () => {
    expect(await rows({})).toEqual([
      `local ${EDGE} End.MT: not programmed: \`cnpctl show status\` shows why`,
      `local ${REPLICATION} replication: not programmed: \`cnpctl show status\` shows why`,
    ]);
    expect(await rows({ desired: planned, dataplane: refusing() })).toEqual([
      `local ${EDGE} End.MT: programmed`,
      `local ${REPLICATION} replication: programmed`,
    ]);
    expect(await rows({ desired: planned, dataplane: refusing(REPLICATION) })).toEqual([
      `local ${EDGE} End.MT: programmed`,
      `local ${REPLICATION} replication: not in service: \`cnpctl show status\` shows why`,
    ]);
  });

  test('RMC-5.1-d: those that others advertise; one with two behaviors, which only a mistake has, is one row', async () => {
    const { 'end-mt-behavior': endMt, 'replication-behavior': replication } = intent.codePoints;
    const entry = (sid: string) => ({ sid: address(sid), carrier: 'isis', originator: 'L2 1', heldUntil: undefined });
    const sidsOf = (behavior: number) =>
      behavior === endMt
        ? [entry('2001:db8:f::1'), entry('2001:db8:f::2')]
        : behavior === replication
          ? [entry('2001:db8:f::2')]
          : [];
    expect((await rows({ routers: { sidsOf: sidsOf as never } })).filter((row) => row.startsWith('learned'))).toEqual([
      'learned 2001:db8:f::1 End.MT: reachable',
      'learned 2001:db8:f::2 End.MT, replication: reachable',
    ]);
  });
});
