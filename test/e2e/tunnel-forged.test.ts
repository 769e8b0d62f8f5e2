// A host that wraps packets "of" another one into a tunnel of its own, and congests a port with them: from the victim's
// side of the wire. The congested node and the proxy are different routers.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type IpAddress, address } from '../../src/model/address.ts';
import { concat } from '../../src/packet/bytes.ts';
import { ipv4, ipv6 } from '../../src/packet/ip/packets.fixture.ts';
import {
  H1,
  H2,
  LOOPBACK,
  adjacent,
  base,
  learnedProxy,
  proxiesAndPort,
  proxy,
  routed,
  watching,
} from './support/line.ts';
import { Network, type Router } from './support/network.ts';
import { Flow, type Port, rocePackets } from './support/port.ts';
import { atLeast, is, moreThan, until } from '../support/until.ts';

let net: Network;
let leaf: Router;
let p: Router;
let h1: Port;
let h2: Port;
let x: Port;
let flow: Flow;
// The only addresses that X writes into its outermost headers.
const X6 = address('2001:db8:66::66');
const X4 = address('198.18.0.66');

beforeAll(async () => {
  net = await Network.up('line');
  [leaf, p] = [net.router('leaf'), net.router('p')];
  h1 = await net.port('h1:eth1', 'leaf:eth1');
  h2 = await net.port('h2:eth1', 'far:eth1');
  await Promise.all([
    leaf.start({ ...base('leaf'), ...proxy('leaf') }),
    p.start({ ...base('p'), ...watching({ 'per-flow-interval': '5ms' }) }),
  ]);
  await adjacent(net, 'leaf', 'p');
  await routed(net);
  // A host's port of p.
  for (const words of [
    'link add t-x0 type veth peer name t-x1',
    'addr add 2001:db8:66::ff/64 dev t-x0 nodad',
    'addr add 198.18.0.254/24 dev t-x0',
    'link set t-x0 up',
    'link set t-x1 up',
  ])
    await net.lab.mustExec('p', ['ip', ...words.split(' ')]);
  for (const name of ['net.ipv6.conf.t-x0.forwarding', 'net.ipv4.conf.t-x0.forwarding'])
    await net.lab.mustExec('p', ['sysctl', '-qw', `${name}=1`]);
  x = await net.port('p:t-x1', 'p:t-x0');
  await until('p knows the proxy, and watches its port', () => proxiesAndPort(p), is(learnedProxy()));
  flow = new Flow(h1, h2, {
    source: address(H1.v6),
    destination: address(H2.v6),
    senderQpn: 0x4242,
    receiverQpn: 0x4343,
  });
  flow.connect();
  await until(
    'the Queue Pairs are learned',
    () => leaf.get('flows'),
    (all) => all.some((row) => row['port'] === 'proxy' && row['source-qpn'] === 0x4242),
  );
  flow.exchange();
  flow.exchange();
}, 120_000);
afterAll(() => net?.down());

const around6 =
  (from: IpAddress) =>
  (inner: Uint8Array): Uint8Array =>
    ipv6([from, address(H2.v6)], 41, inner);
const gre = (inner: Uint8Array): Uint8Array => concat(Uint8Array.of(0, 0, 0x86, 0xdd), inner);
/** X sends what it has wrapped until that has moved the counter of the proxy so often. */
async function flood(wrap: (inner: Uint8Array) => Uint8Array, counter: string, times: number): Promise<void> {
  const forged = new Flow({ send: () => {} }, { send: () => {} }, flow.ends);
  const before = await leaf.counter(counter);
  await until(
    `${counter} moves`,
    () => {
      for (let i = 0; i < 100; i++) x.send(wrap(forged.next()));
      return leaf.counter(counter);
    },
    atLeast(before + times),
  );
}
const cnps = (): number => h1.packets.filter((packet) => rocePackets([packet]).some(flow.isNotification)).length;

test.each([
  ['IPv6 in IPv6', around6(X6)],
  ['IPv6 in IPv4', (inner: Uint8Array) => ipv4([X4, address(H2.v4)], 41, inner)],
  ['GRE', (inner: Uint8Array) => ipv6([X6, address(H2.v6)], 47, gre(inner))],
  ['a tunnel in a tunnel', (inner: Uint8Array) => around6(X6)(around6(X6)(inner))],
])(
  'PNC-6-b: a host with its own source address that congests a port with packets of others in %s slows down none of them',
  async (_, wrap) => {
    h1.clear();
    await flood(wrap, 'proxy.notice.tunnel-unknown', 10);
    expect(cnps()).toBe(0);
    expect(net.errors).toEqual([]);
  },
  120_000,
);

test('PNC-4-d: about a tunnel that a router in accept-from has begun its sender is notified', async () => {
  h1.clear();
  await flood(around6(address(LOOPBACK.far.ipv6)), 'proxy.cnp.sent', 1);
  await until('the CNP is at the sender', cnps, moreThan(0));
}, 120_000);
