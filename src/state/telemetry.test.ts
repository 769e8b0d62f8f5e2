import { expect, test } from 'vitest';
import { carrierSummaries, learnedSummary } from './telemetry.ts';
import { counterMeaning } from './counter-meanings.ts';

type Carriers = Parameters<typeof carrierSummaries>[1];
type Declared = Parameters<typeof carrierSummaries>[0];

const declared = { isis: { interface: 'cnpd-isis' }, ospfv2: {}, bgp: {} } as unknown as Declared;
/** What would ask FRR or gobgpd, or build a long list, is not there: to call it fails. */
const carriers = (state: string) =>
  ({
    isis: { carrier: { neighbors: () => [{ state: 'down' }, { state }] } },
    ospfv2: {
      carrier: {
        neighbors: () => [
          { interface: 'cnpd-ospf0', state: 'full' },
          { interface: 'cnpd-ospf1', state: 'exchange' },
        ],
      },
    },
    ospfv3: { carrier: undefined },
    bgp: { carrier: { session: () => ({ state: 'ready' }) } },
  }) as unknown as Carriers;

test('the declared carriers and their neighbors, from what cnpd knows itself', () => {
  expect(carrierSummaries(declared, carriers('up'))).toEqual([
    { carrier: 'isis', running: true, adjacencies: [{ interface: 'cnpd-isis', isUp: true }] },
    {
      carrier: 'ospfv2',
      running: true,
      adjacencies: [
        { interface: 'cnpd-ospf0', isUp: true },
        { interface: 'cnpd-ospf1', isUp: false },
      ],
    },
    { carrier: 'bgp', running: true, adjacencies: [{ interface: '', isUp: true }] },
  ]);
  expect(carrierSummaries(declared, carriers('initializing'))[0]!.adjacencies[0]!.isUp).toBe(false);
});

test('a declared carrier that does not run has no neighbors', () => {
  const none = { isis: {}, ospfv2: {}, ospfv3: {}, bgp: {} } as unknown as Carriers;
  expect(carrierSummaries(declared, none).map(({ running, adjacencies }) => [running, adjacencies.length])).toEqual([
    [false, 0],
    [false, 0],
    [false, 0],
  ]);
});

test('the sizes of the learned table, as far as it has taken changes in', () => {
  const sizes = {
    advertisements: 9,
    proxies4: 1,
    proxies6: 2,
    sids: 3,
    routerAddresses: 4,
    originators: 5,
    held: 6,
    dormant: 7,
  };
  expect(learnedSummary({ currentSizes: () => sizes })).toEqual({
    advertisements: 9,
    proxies: 3,
    sids: 3,
    routerAddresses: 4,
    originators: 5,
    held: 6,
  });
});

test.each([
  ['egress.no-proxy', 'triggers whose sender has no proxy'],
  ['isis.rx.lsp', 'LSPs received'],
  ['bgp.session.lost', 'connections to gobgpd lost'],
  ['ospfv3.rx.queue-full', 'packets dropped because they arrive faster than they are handled'],
  ['isis.rx.failed.EIO', 'receive errors of the packet socket'],
  ['ospfv2.tx.hello', 'packets sent, by kind, retransmissions included'],
  ['daemon.unexpected-error', undefined],
])('the meaning of %s is %s', (name, meaning) => expect(counterMeaning(name)).toBe(meaning));
