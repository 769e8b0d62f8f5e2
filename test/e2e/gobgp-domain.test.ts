// What an operator has to do about neighbors outside the domain, with real gobgpds: the policy "domain-only" of
// frr-configs/bgp-gobgpd.toml, read from that file.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { OwnPath } from '../../src/carriers/bgp/gobgp/gobgp.ts';
import { address } from '../../src/model/address.ts';
import { prefix } from '../../src/model/prefix.ts';
import { BINARIES, type GobgpBinary, type Gobgpd, GobgpNetwork, Listening } from './support/gobgp.ts';
import { is, until } from '../support/until.ts';

const [HERE, INSIDE, OUTSIDE] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const;
const NHC = Buffer.from('00010104c0000209ffdc0004c0000201', 'hex');
/** bgp.communities of every cnpd.yaml of the domain. */
const COMMUNITY = 65_001 * 2 ** 16 + 39;
const path = (text: string, communities: readonly number[]): OwnPath => ({
  prefix: prefix(text),
  nextHop: address(text.includes(':') ? '2001:db8::9' : '192.0.2.9'),
  nhc: NHC,
  communities,
  largeCommunities: [],
});

/** The lines between the marks, with the neighbors of the domain in their place. */
function policies(): string {
  const text = readFileSync(new URL('../../frr-configs/bgp-gobgpd.toml', import.meta.url), 'utf8').split(
    '# --- cnpd',
  )[1]!;
  return text.slice(text.indexOf('\n[')).replace('"2001:db8:0:1::2"', `"${INSIDE}"`);
}

let network: GobgpNetwork;
beforeAll(() => void (network = new GobgpNetwork('gobgp-domain')));
afterEach(() => network.stopAll());
afterAll(() => network?.remove());

const listen = (daemon: Gobgpd): Promise<Listening> => network.listen(daemon).ready();

/**
 * In the middle, with a neighbor that is of the domain and one that is not; leaf, of the domain too, is behind the
 * former.
 */
async function three(
  binary: GobgpBinary,
  more: { readonly policies?: string },
): Promise<Record<'here' | 'inside' | 'outside', Listening>> {
  const daemons = {
    here: network.start(binary, {
      as: 65_001,
      address: HERE,
      neighbors: [
        { address: INSIDE, as: 65_010 },
        { address: OUTSIDE, as: 65_003 },
      ],
      ...more,
    }),
    inside: network.start(binary, { as: 65_010, address: INSIDE, neighbors: [{ address: HERE, as: 65_001 }] }),
    outside: network.start(binary, { as: 65_003, address: OUTSIDE, neighbors: [{ address: HERE, as: 65_001 }] }),
  };
  const [here, inside, outside] = await Promise.all([
    listen(daemons.here),
    listen(daemons.inside),
    listen(daemons.outside),
  ]);
  await until(
    'both sessions are up',
    () => here.client.peers(),
    (peers) => peers?.length === 2 && peers.every(({ state }) => state === 'established'),
    60_000,
  );
  return { here, inside, outside };
}

describe.each(BINARIES)('gobgpd $name', (binary) => {
  const CNPD = ['10.1.0.0/16', '2001:db8:1::/64'];
  const OTHERS = ['10.2.0.0/16', '2001:db8:2::/64'];

  test('PNC-6-a: with the policy a neighbor outside the domain gets none of cnpd’s paths, this router’s or passed on, and everything else; one of the domain gets all', async () => {
    const { here, inside, outside } = await three(binary, { policies: policies() });
    await inside.client.add([path('10.3.0.0/16', [COMMUNITY]), path('10.4.0.0/16', [])]);
    await here.client.add([...CNPD.map((text) => path(text, [COMMUNITY])), ...OTHERS.map((text) => path(text, []))]);
    await until('what is passed on has come', () => here.routes.size, is(6));
    await until(
      'inside has all',
      () => [...CNPD, ...OTHERS],
      (all) => all.every((text) => inside.routes.has(text)),
    );
    expect(inside.hops(CNPD[0]!)).toEqual(['192.0.2.9']);
    // Reported after all of them: what was to come before is there.
    await here.client.add([path('10.255.0.0/16', []), path('2001:db8:ff::/64', [])]);
    await until(
      'outside has the others',
      () => [...OTHERS, '10.4.0.0/16', '10.255.0.0/16', '2001:db8:ff::/64'],
      (all) => all.every((text) => outside.routes.has(text)),
    );
    for (const text of [...CNPD, '10.3.0.0/16']) expect(outside.routes.get(text), text).toBeUndefined();
  });

  test('without the policy it gets them, attribute and all', async () => {
    const { here, outside } = await three(binary, {});
    await here.client.add(CNPD.map((text) => path(text, [COMMUNITY])));
    await until(
      'outside has them',
      () => CNPD,
      (all) => all.every((text) => outside.routes.get(text)?.[0]?.nhc !== undefined),
    );
  });
});
