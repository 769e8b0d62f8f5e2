import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import { loadIntent } from '../intent/load.ts';
import { KernelError } from '../kernel/errors.ts';
import { address } from '../model/address.ts';
import { RouteWatch, hasRoute } from './routes.ts';
import { sidStates } from './sids.ts';

describe('notifications without a route', () => {
  const watched = (): { clock: { ms: number }; counter: { value: bigint | undefined }; watch: RouteWatch } => {
    const [clock, counter] = [{ ms: 1000 }, { value: 7n as bigint | undefined }];
    return { clock, counter, watch: new RouteWatch({ clock: { now: () => clock.ms }, read: () => counter.value }) };
  };

  test('what an earlier run has counted is no problem, what is counted now is one for a while', () => {
    const { clock, counter, watch } = watched();
    expect(watch.problems()).toEqual([]);
    counter.value = 8n;
    expect(watch.problems()).toMatchObject([{ feature: 'ports', problem: expect.stringContaining('egress.format.no-route') as string }]);
    clock.ms += 60_000;
    expect(watch.problems()).toHaveLength(1);
    clock.ms += 60_000;
    expect(watch.problems()).toEqual([]);
    counter.value = 9n;
    expect(watch.problems()).toHaveLength(1);
  });

  test('a congested node that was opened only now has counted nothing', () => {
    const { counter, watch } = watched();
    counter.value = undefined;
    watch.observe();
    counter.value = 7n;
    expect(watch.problems()).toEqual([]);
  });
});

describe('a SID that the network advertises', () => {
  const intent = loadIntent('router: { name: r1, loopback: { ipv6: 2001:db8:ffff::1 } }\n', 'cnpd.yaml');
  if (!intent.ok) throw new Error('intent');
  const learned = (heldUntil?: string) => ({ endConSids: () => [{ sid: address('2001:db8:c::1'), carrier: 'isis', originator: 'L2 1', heldUntil }] }) as never;
  const statusOf = async (error: 'ENETUNREACH' | 'EHOSTUNREACH' | 'EINVAL' | 'EACCES' | 'ENOBUFS' | undefined, heldUntil?: string): Promise<string | undefined> => {
    const rtnetlink = { routeTo: () => (error === undefined ? Promise.resolve({} as never) : Promise.reject(new KernelError('look up route', constants.errno[error]))) };
    return (await sidStates({ intent: intent.value, routers: learned(heldUntil), desired: undefined, dataplane: undefined, hasRoute: (to) => hasRoute(rtnetlink, to) }))[0]?.status;
  };

  test('FCN-4.2.2-d: is shown as reachable while this router has a route to it', async () => {
    expect(await statusOf(undefined)).toBe('reachable');
    for (const error of ['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EACCES'] as const) expect(await statusOf(error)).toBe('no route to it from this router');
    expect(await statusOf('ENOBUFS')).toBe('reachable'); // nobody knows
    expect(await statusOf('EHOSTUNREACH', '2026-11-22T00:00:00Z')).toBe('held until 2026-11-22T00:00:00Z');
  });
});
