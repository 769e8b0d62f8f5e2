// Where a notice goes: the proxy of the packet's source, by longest match, also when that is this router itself.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { EGRESS_PROGRAMS } from '../../../src/kernel/dataplane/egress.ts';
import { GUARD_MAPS, GUARD_PROGRAMS, encodeGuardPort, guardPortKey } from '../../../src/kernel/dataplane/guard.ts';
import {
  CongestedRouter,
  LOOPBACK4,
  LOOPBACK6,
  PNC_PORT,
  PROXY4,
  PROXY6,
  object,
} from '../support/congested-router.ts';
import { countOf } from '../support/counters.ts';
import { DEPTH, KMAX, noticeAbout, nothingCame, settled } from '../support/notice-about.ts';
import { H1V4, H2V4, data, frame } from '../support/packets.ts';
import { is, until } from '../../support/until.ts';

const V4 = { source: H1V4, destination: H2V4 };

let r: CongestedRouter;
beforeAll(async () => {
  r = await CongestedRouter.create();
  await r.fill(DEPTH);
});
afterAll(() => r.close());
beforeEach(() => {
  r.configure({});
  r.port({ kMax: KMAX });
  r.senders(['2001:db8:1::/48', PROXY6], ['10.1.0.0/16', PROXY4]);
  r.clear();
});
afterEach(() => settled(r));

describe('the proxy', () => {
  test('PNC-5-c: A14: is found by longest match on the source address of the packet, not its destination', async () => {
    r.senders(
      ['2001:db8:2::/48', address('2001:db8:ffff::dead')],
      ['2001:db8::/32', address('2001:db8:ffff::32')],
      ['2001:db8:1::/64', PROXY6],
      ['::/0', address('2001:db8:ffff::99')],
    );
    const to = async (source: string): Promise<IpAddress> => {
      r.clear();
      return (await noticeAbout(r, data({ source: address(source) }))).destination;
    };
    expect(await to('2001:db8:1::10')).toEqual(PROXY6);
    expect(await to('2001:db8:1:1::10')).toEqual(address('2001:db8:ffff::32'));
    expect(await to('2001:db9::1')).toEqual(address('2001:db8:ffff::99'));
  });

  test('PNC-5-c: a longer prefix without a proxy hides a shorter one with', async () => {
    r.senders(['2001:db8::/32', PROXY6], ['2001:db8:1::/64', null]);
    r.send(frame(data()));
    expect(r.stats()).toMatchObject({ triggers: 1n, notifications: 0n, noProxy: 1n });
    await nothingCame(r);
  });

  test('PNC-5-c: without any proxy the trigger is counted, once an interval, and nothing is sent, least of all to the sender', async () => {
    r.senders();
    r.port({ kMax: KMAX, perFlowIntervalNs: 60e9 });
    r.send(frame(data()), { repeat: 1000 });
    expect(r.stats()).toMatchObject({ triggers: 1000n, notifications: 0n, noProxy: 1n, suppressedPerFlow: 999n });
    expect(r.count('egress.no-proxy')).toBe(1);
    r.port({ kMax: KMAX });
    await nothingCame(r);
  });

  test('an IPv6 default route does not answer for IPv4 senders', async () => {
    r.senders(['::/0', PROXY6]);
    r.send(frame(data(V4)));
    expect(r.stats()).toMatchObject({ triggers: 1n, noProxy: 1n });
    await nothingCame(r);
  });

  test('whose family has no loopback address configured is not notified, and that is counted', async () => {
    r.configure({ source4: null });
    r.send(frame(data(V4)));
    expect(r.count('egress.no-source')).toBe(1);
    expect(r.stats().notifications).toBe(0n);
    await nothingCame(r);
  });

  test('that cannot be reached is counted, and no notice is made', () => {
    r.senders(['10.1.0.0/16', address('203.0.113.1')], ['2001:db8:1::/48', address('2001:db8:dead::1')]);
    for (const flow of [V4, {}]) r.send(frame(data(flow)));
    expect({
      noRoute: r.count('egress.format.no-route'),
      built: r.count('notice.built'),
      notifications: r.stats().notifications,
    }).toEqual({ noRoute: 2, built: 0, notifications: 0n });
  });
});

describe('a router that is its own proxy', () => {
  // The guard replaces the proxy's program: it sees and takes finished notices.
  test.each(['before', 'behind'])(
    'PNC-3-a: the notice passes a program attached %s the builder, finished',
    async (order) => {
      const router = await CongestedRouter.create();
      const proxy = openBpfObject(object('guard'));
      try {
        await router.fill(DEPTH);
        router.port({ kMax: KMAX });
        router.senders(['2001:db8:1::/48', LOOPBACK6], ['10.1.0.0/16', LOOPBACK4]);
        proxy.map(GUARD_MAPS.ports).update(guardPortKey(1), encodeGuardPort({ udpPort: PNC_PORT }));
        const builder = router.attached(EGRESS_PROGRAMS.notice);
        if (order === 'before') builder.detach();
        router.attach(GUARD_PROGRAMS.ingress, 1, 'ingress', proxy);
        if (order === 'before') router.attach(EGRESS_PROGRAMS.notice, 1, 'ingress');
        for (let i = 0; i < 10; i++) {
          router.send(frame(data({ psn: i })));
          router.send(frame(data({ ...V4, psn: i })));
        }
        const taken = (): number => countOf(proxy, 'guard.ingress.dropped');
        await until('all notices taken', () => taken(), is(20));
        expect(router.count('notice.built')).toBe(20);
      } finally {
        proxy.close();
        router.close();
      }
    },
  );
});
