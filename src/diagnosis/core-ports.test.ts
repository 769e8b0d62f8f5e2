import { expect, test } from 'vitest';
import { load } from '../intent/files.fixture.ts';
import { address } from '../model/address.ts';
import { checkCorePorts } from './core-ports.ts';

const PROXY =
  'proxy: { address: 2001:db8:ffff::1, senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }], ' +
  'accept-from: [2001:db8:ffff::/48] }\n';
const ISIS = 'isis: { system-id: 0000.0000.c001, area: 49.0001, level: 2, interface: cnpd-isis }\n';
const intent = (router = '', rest = PROXY + ISIS) =>
  load(`router: { name: leaf1, loopback: { ipv6: 2001:db8:ffff::1 }${router} }\n${rest}`);
const port = (name: string, ifindex: number, ...addresses: string[]) => ({
  name,
  ifindex,
  addresses: addresses.map(address),
});
const PORTS = [port('eth1', 1, 'fe80::1', '2001:db8:1::1'), port('eth2', 2, 'fe80::2', '10.0.0.1'), port('eth9', 9)];
const gateways =
  (...of: number[]) =>
  (ifindex: number) =>
    of.includes(ifindex);

test('lists the core ports, and why they count as such', () => {
  expect(checkCorePorts(intent(), PORTS, gateways(2))).toEqual([
    {
      id: 'core-ports',
      state: 'ok',
      claim: expect.stringContaining('accepted: eth2 (those with a route through a gateway'),
    },
  ]);
  expect(checkCorePorts(intent(), PORTS, gateways())).toMatchObject([
    { claim: expect.stringContaining('accepted: none (') },
  ]);
  expect(checkCorePorts(intent(', core-ports: [eth2, eth3]'), PORTS, gateways(1))).toMatchObject([
    { claim: expect.stringContaining('accepted: eth2 (router.core-ports)') },
  ]);
});

test(
  'PNC-6-b: a port to senders that a route through one of its hosts has made a core port is a warning, ' +
    'with the line that fixes it',
  () => {
    expect(checkCorePorts(intent(), PORTS, gateways(1, 2))).toMatchObject([
      { id: 'core-ports', claim: expect.stringContaining('eth1, eth2') },
      {
        id: 'core-ports.eth1',
        state: 'warning',
        problem: expect.stringMatching(
          /^eth1 counts as a core port \(a route through a gateway leaves by it\), and its address 2001:db8:1::1 is of the senders 2001:db8:1::\/64/,
        ),
        remedy: expect.stringContaining('without eth1'),
      },
    ]);
    expect(checkCorePorts(intent(', core-ports: [eth1, eth2]'), PORTS, gateways())).toMatchObject([
      {},
      { state: 'warning', problem: expect.stringContaining('router.core-ports names it') },
    ]);
  },
);

test(
  'one prefix of senders for every link shows nothing; a border port is none of the core; ' +
    'and nothing is reported where nothing is learned',
  () => {
    expect(checkCorePorts(intent(), [PORTS[0]!], gateways(1))).toHaveLength(1);
    expect(checkCorePorts(intent('', `${PROXY}${ISIS}border-ports: [eth1]\n`), PORTS, gateways(1, 2))).toMatchObject([
      { claim: expect.stringContaining('accepted: eth2 (') },
    ]);
    expect(checkCorePorts(intent('', ISIS), PORTS, gateways(1, 2))).toEqual([]);
    const stamp = 'stamp: { reflector: on, accept-from: [2001:db8:ffff::/48] }\n';
    expect(checkCorePorts(intent('', ISIS + stamp), PORTS, gateways(1, 2))).toHaveLength(1);
  },
);
