import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import { loadIntent } from '../intent/load.ts';
import { KernelError } from '../kernel/errors.ts';
import { hasRoute } from '../kernel/netlink/has-route.ts';
import { address } from '../model/address.ts';
import { sidStates } from './sids.ts';

describe('a SID that the network advertises', () => {
  const intent = loadIntent('router: { name: r1, loopback: { ipv6: 2001:db8:ffff::1 } }\n', 'cnpd.yaml');
  if (!intent.ok) throw new Error('intent');
  const learned = (heldUntil?: string) =>
    ({
      endConSids: () => [{ sid: address('2001:db8:c::1'), carrier: 'isis', originator: 'L2 1', heldUntil }],
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
