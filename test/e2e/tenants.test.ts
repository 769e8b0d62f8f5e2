// E1: two tenants of one provider edge, in two routing tables, with the same addresses and the same Queue Pair at the
// receiver, each behind an END.CON SID of its own (FCN §4.2.2). p is congested and asks their proxy, which is the
// provider edge: the second sender is not taken for the first, and each host gets CNPs for its own Queue Pair alone.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { address } from '../../src/model/address.ts';
import { OPCODE } from '../../src/packet/roce/opcodes.ts';
import { encapsulate } from '../../src/packet/srv6/encapsulation.ts';
import { Flow, type Port, rocePackets } from './support/port.ts';
import { END_CON, LOOPBACK, P, PE1, PE2, Wan } from './support/wan.ts';
import { atLeast, until } from '../support/until.ts';

const [SENDER, RECEIVER] = [address('2001:db8:1::10'), address('2001:db8:2::2')];
const [MAIN_QPN, OTHER_QPN, RECEIVER_QPN] = [0x11, 0x22, 0xc8];
/** As bpftool shows it. */
const PE1_ADDRESS = '20010db8ffff00000000000000000004';
const PROXY = {
  proxy: {
    address: LOOPBACK.pe1,
    senders: [{ prefix: '2001:db8:1::/64', format: 'standard-cnp' }],
    'accept-from': ['2001:db8:ffff::/48'],
  },
};

let wan: Wan;
/** What p would have sent to pe1 comes from here too. */
let fromP: Port;
beforeAll(async () => {
  wan = await Wan.up();
  fromP = await wan.port('p:eth1', 'pe1:eth2');
  await wan.silentSenders('2001:db8:1::10');
  // A flow that is taken for another is suppressed for so long.
  await Promise.all([
    wan.pe1.start({ ...PE1, ...PROXY }),
    wan.p.start(P([{ prefix: '2001:db8:1::/64', order: ['proxy'] }], { 'per-flow-interval': '60s' })),
    wan.pe2.start(PE2),
  ]);
  await wan.underlay();
  await until(
    'pe1 has learned whose tunnels are whose',
    async () => (await wan.pe1.mapEntries('tenant_sids'))?.length ?? 0,
    atLeast(3),
  );
  await until(
    'p knows the proxy',
    () => wan.p.mapEntries('sender_proxies'),
    (entries) => entries?.some((entry) => entry.includes(PE1_ADDRESS)),
  );
});
afterAll(() => wan?.down());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(wan.net.logs());
});

test('PNC-4-d PNC-6-a FCN-4.2.2-b: each of two tenants with the same addresses and Queue Pairs gets the CNPs for its own Queue Pair, and no others', async () => {
  const ends = { source: SENDER, destination: RECEIVER, receiverQpn: RECEIVER_QPN };
  const main = new Flow(wan.h1, wan.h2, { ...ends, senderQpn: MAIN_QPN });
  // The receiver of the other tenant, whose answers come in tunnels to that tenant's SID.
  const far = {
    send: (inner: Uint8Array): void =>
      fromP.send(encapsulate({ source: address(END_CON.pe2), destination: address(END_CON.other), inner })),
  };
  const other = new Flow(wan.h3, far, { ...ends, senderQpn: OTHER_QPN });
  await until(
    'pe1 has learned both connections',
    async () => {
      for (const flow of [main, other]) flow.connect();
      return (await wan.pe1.get('flows')).map((row) => row['source-qpn']);
    },
    (known) => known.includes(MAIN_QPN) && known.includes(OTHER_QPN),
  );
  expect(await wan.pe1.counter('proxy.cnp.sent')).toBe(0);
  const cnps = (at: Port): number[] =>
    rocePackets(at.packets)
      .filter(({ bth, icrcValid }) => bth.opcode === OPCODE.cnp && icrcValid)
      .map(({ bth }) => bth.destQpn);
  await until(
    'both are notified',
    () => {
      for (let i = 0; i < 30; i++) for (const flow of [main, other]) flow.send(1);
      return { h1: cnps(wan.h1).length, h3: cnps(wan.h3).length };
    },
    ({ h1, h3 }) => h1 > 0 && h3 > 0,
  );
  expect({ h1: new Set(cnps(wan.h1)), h3: new Set(cnps(wan.h3)) }).toEqual({
    h1: new Set([MAIN_QPN]),
    h3: new Set([OTHER_QPN]),
  });
  for (const name of [
    'proxy.notice.tenant-unknown',
    'proxy.notice.tenant-unreachable',
    'proxy.notice.wrong-port',
    'daemon.unexpected-error',
  ])
    expect(await wan.pe1.counter(name), name).toBe(0);
});
