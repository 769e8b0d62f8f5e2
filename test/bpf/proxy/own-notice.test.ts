// A congested node that is itself the proxy of the sender: trigger, notice and CNP in one router, with the real
// programs of both sides.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import { EGRESS_PROGRAMS } from '../../../src/kernel/dataplane/egress.ts';
import { PROXY_PROGRAM } from '../../../src/kernel/dataplane/proxy.ts';
import type { CongestedRouter } from '../support/congested-router.ts';
import { LOOPBACK_IFINDEX, type Own, type ParsedCnp, cnps, congested, ownProxy } from '../support/own-proxy.ts';
import { compileProxy } from '../support/proxy-under-test.ts';
import { address } from '../../../src/model/address.ts';
import { ipv4, ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { H1, H1V4, H2, H2V4, QPN, data, frame } from '../support/packets.ts';
import { is, moreThan, until } from '../../support/until.ts';

let router: CongestedRouter;
let compiled: { path: string; remove(): void };
let o: Own;
beforeAll(async () => {
  compiled = compileProxy();
  router = await congested();
});
afterAll(() => {
  router.close();
  compiled.remove();
});
beforeEach(() => void (o = ownProxy(router, compiled.path)));
afterEach(() => o.proxy.close());

const FLOWS = [
  ['IPv6 flow, IPv6 proxy', H1, H2, '2001:db8:ffff::9'],
  ['IPv4 flow, IPv4 proxy', H1V4, H2V4, '192.0.2.9'],
  ['IPv4 flow, IPv6 proxy', H1V4, H2V4, '2001:db8:ffff::9'],
  ['IPv6 flow, IPv4 proxy', H1, H2, '192.0.2.9'],
] as const;

describe.each([
  ['behind', false],
  ['in front of', true],
])('the proxy’s program %s the notice builder on the loopback interface', (_, first) => {
  test.each(FLOWS)(
    'PNC-3-a: %s: the trigger becomes a CNP for the sender',
    async (_name, source, destination, address) => {
      o.declare(address);
      if (first) router.attached(EGRESS_PROGRAMS.notice).detach();
      const link = attachTcx({
        program: o.proxy.object.program(PROXY_PROGRAM),
        ifindex: LOOPBACK_IFINDEX,
        direction: 'ingress',
        netns: router.router,
      });
      if (first) router.attach(EGRESS_PROGRAMS.notice, LOOPBACK_IFINDEX, 'ingress');
      try {
        o.proxy.teach({ sender: source, receiver: destination, senderQpn: 0x777, receiverQpn: QPN });
        router.send(frame(data({ source, destination })));
        await until('the CNP', () => cnps(router.collected).length, is(1));
        const [cnp] = cnps(router.collected) as [ParsedCnp];
        expect(cnp).toMatchObject({
          source: destination,
          destination: source,
          sourcePort: 0xc001,
          icrcValid: true,
          bth: { opcode: 0x81, destQpn: 0x777 },
        });
        expect(o.proxy.counters().get('proxy.notice.received')).toBe(1n);
      } finally {
        link.close();
      }
    },
  );
});

test.each([
  ['IPv6', (inner: Uint8Array) => ipv6([address('2001:db8:66::66'), H2], 41, inner)],
  ['IPv4', (inner: Uint8Array) => ipv4([address('198.18.0.66'), H2V4], 41, inner)],
])('PNC-6-b: a host’s tunnel over %s that congests this router’s own port slows down no sender', async (_, wrap) => {
  o.declare('2001:db8:ffff::9');
  const link = attachTcx({
    program: o.proxy.object.program(PROXY_PROGRAM),
    ifindex: LOOPBACK_IFINDEX,
    direction: 'ingress',
    netns: router.router,
  });
  try {
    o.proxy.teach({ sender: H1, receiver: H2, senderQpn: 0x777, receiverQpn: QPN });
    router.send(frame(wrap(data())));
    await until('it is refused', () => o.proxy.counters().get('proxy.notice.tunnel-unknown'), is(1n));
    router.send(frame(data()));
    await until('the CNP about the flow itself', () => cnps(router.collected).length, moreThan(0));
    expect(cnps(router.collected)).toHaveLength(1);
  } finally {
    link.close();
  }
});
