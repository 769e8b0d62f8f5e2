// cnpctl doctor --remote with everything real: leaf's paths cross FRR's route reflector to p, and doctor on leaf says
// what became of them from what p's cnpctl prints, as an operator would have it over ssh.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BgpNetwork, speaker } from './support/bgp.ts';
import { LOOPBACK, SENDERS4, SENDERS6, proxy, watching } from './support/line.ts';
import { type Router, program } from './support/network.ts';
import { is, until } from '../support/until.ts';

/** The reflector's address towards p. */
const RR = '2001:db8:0:2::1';

let bgp: BgpNetwork;
let leaf: Router, p: Router;

beforeAll(async () => {
  bgp = await BgpNetwork.up('remote', 'leaf', 'p');
  [leaf, p] = [bgp.router('leaf'), bgp.router('p')];
  await Promise.all([
    leaf.start({ ...speaker('leaf'), ...proxy('leaf') }),
    p.start({ ...speaker('p'), ...watching() }),
  ]);
});
afterAll(() => bgp.down());

interface Path {
  readonly prefix: string;
  readonly arrival: string;
  readonly toldBy?: string;
  readonly why?: string;
  readonly remedy?: string;
}

const remote = async (...options: string[]) =>
  bgp.net.lab.exec('leaf', [...program('cnpctl'), ...options, 'doctor', '--remote', '-'], {
    input: (await p.ctl('-o', 'json', 'show', 'bgp')).stdout,
  });
const pathOf = async (prefix: string): Promise<Path | undefined> =>
  (JSON.parse((await remote('-o', 'json')).stdout) as { paths: Path[] }).paths.find((path) => path.prefix === prefix);
const arrives = (prefix: string, arrival: string): Promise<unknown> =>
  until(`${prefix}: ${arrival}`, async () => (await pathOf(prefix))?.arrival, is(arrival), 90_000);

test('PNC-5.4-a: both families arrive intact, and each row names the reflector', async () => {
  await Promise.all([arrives(SENDERS6, 'used'), arrives(SENDERS4, 'used')]);
  const { code, stdout } = await remote();
  expect(stdout).toMatch(
    new RegExp(`^${SENDERS6} +${LOOPBACK.leaf.ipv6} +intact, used +${RR} +${LOOPBACK.leaf.ipv6}$`, 'm'),
  );
  expect(stdout).toContain('2 of 2 paths arrived intact and are used');
  expect(code).toBe(0);
});

test('a reflector that makes itself the next hop is named, with the line that keeps it, and only in its family', async () => {
  await bgp.nextHopSelf();
  await arrives(SENDERS6, 'not-used');
  expect(await pathOf(SENDERS6)).toMatchObject({
    toldBy: RR,
    why: expect.stringContaining(LOOPBACK.leaf.ipv6),
    remedy: expect.stringMatching(/attribute-unchanged next-hop.*next-hop-self/),
  });
  expect(await pathOf(SENDERS4)).toMatchObject({ arrival: 'used' });
  expect((await remote()).code).toBe(1);
  await bgp.nextHopSelf('no ');
  await arrives(SENDERS6, 'used');
});

test('a path of the operator’s without the attribute that leaf’s own gobgpd prefers is the reason that is shown', async () => {
  const own = ['global', 'rib', '-a', 'ipv6'] as const;
  const path = [SENDERS6, 'nexthop', LOOPBACK.leaf.ipv6, 'local-pref', '200'] as const;
  await leaf.exec('gobgp', ...own, 'add', ...path);
  await arrives(SENDERS6, 'without-attribute');
  expect(await pathOf(SENDERS6)).toMatchObject({
    toldBy: RR,
    why: expect.stringContaining('own gobgpd prefers another path'),
  });
  await leaf.exec('gobgp', ...own, 'del', ...path);
  await arrives(SENDERS6, 'used');
});

test('a session that has lost its family: the paths do not arrive', async () => {
  const activate = (no: '' | 'no '): Promise<string> =>
    bgp.net
      .router('rr')
      .frr('configure terminal', 'router bgp 65001', 'address-family ipv4 unicast', `${no}neighbor leaves activate`);
  await activate('no ');
  await arrives(SENDERS4, 'absent');
  await activate('');
  await arrives(SENDERS4, 'used');
});
