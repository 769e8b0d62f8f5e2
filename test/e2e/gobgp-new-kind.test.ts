// A kind of advertisement that exists only in tests (src/carriers/bgp/kinds/color.fixture.ts) crosses from one cnpd to
// another through two real gobgpds, changes, and is withdrawn; a cnpd that does not have its row learns the rest.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WITH_COLOR, colorOf } from '../../src/carriers/bgp/kinds/color.fixture.ts';
import { address } from '../../src/model/address.ts';
import { origination } from '../../src/model/advertisement.fixture.ts';
import { formatPrefix, prefix } from '../../src/model/prefix.ts';
import { understood } from '../../src/model/understood.ts';
import { is, until } from '../support/until.ts';
import { BgpAgent } from './support/bgp-agent.ts';
import { BINARIES, type GobgpBinary, GobgpNetwork } from './support/gobgp.ts';

const [HERE, THERE] = ['127.0.0.1', '127.0.0.2'];
const LOOPBACK = '2001:db8::1';
const RED = prefix('2001:db8:1::/48');
const SENDERS = prefix('2001:db8:9::/48');
const UNDERSTOOD = understood(['fast-cnp', 'long-haul-roce'])!;
const SID = { sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: 0x8002 };

let network: GobgpNetwork;
const agents: BgpAgent[] = [];
beforeAll(() => void (network = new GobgpNetwork('gobgp-kind')));
afterEach(async () => {
  await network.stopAll();
  for (const { carrier } of agents.splice(0)) await carrier.stop();
});
afterAll(() => network?.remove());

/** Of each kind how many advertisements the host route has. */
const learned = ({ reports }: BgpAgent): string[] =>
  (reports.get(`${LOOPBACK}/128`)?.advertisements ?? []).map((one) =>
    (one.kind as string) === 'color' ? `color ${(one as unknown as { color: number }).color}` : one.kind,
  );

describe.each(BINARIES)('gobgpd $name', (binary: GobgpBinary) => {
  test('a kind with one file and one row crosses, changes and is withdrawn; what senders understand crosses too', async () => {
    const at = (own: string, peer: string) =>
      network.start(binary, { as: 65_001, address: own, neighbors: [{ address: peer, as: 65_001 }] });
    const [here, there] = [at(HERE, THERE), at(THERE, HERE)];
    const agent = async (gobgpd: typeof here, loopback: string, kinds?: typeof WITH_COLOR): Promise<BgpAgent> => {
      const own = await BgpAgent.start(
        gobgpd,
        { loopback: `ipv6: ${loopback}`, proxy: loopback, prefixes: [] },
        {},
        kinds,
      );
      agents.push(own);
      return own;
    };
    const origin = await agent(here, LOOPBACK, WITH_COLOR);
    const learner = await agent(there, '2001:db8::2', WITH_COLOR);
    const older = await agent(there, '2001:db8::3');
    const says = (...colors: number[]): void =>
      origin.carrier.originate([
        ...origination({ sids: [SID], proxies: [{ prefix: SENDERS, supports: UNDERSTOOD }] }),
        ...colors.map((color) => colorOf(RED, color)),
      ]);
    const both = ['sender-prefix', 'sid', 'router-address'];
    for (const colors of [[7], [9], []]) {
      says(...colors);
      const expected = [...both, ...colors.map((color) => `color ${color}`)];
      await until(`it has come: ${expected.join()}`, () => learned(learner).join(), is(expected.join()), 60_000);
      await until('the others have come', () => learned(older).join(), is(both.join()), 60_000);
    }
    for (const one of [learner, older])
      expect(one.reports.get(formatPrefix(SENDERS))?.advertisements).toMatchObject([
        { kind: 'sender-prefix', pnc: false, supports: UNDERSTOOD },
      ]);
    origin.carrier.originate([]);
    for (const one of [learner, older]) await until('nothing is left', () => one.reports.size, is(0), 60_000);
    for (const one of [learner, older])
      expect({
        badColor: one.count('characteristic.bad-color'),
        privateMisplaced: one.count('learn.private-misplaced'),
      }).toEqual({ badColor: 0, privateMisplaced: 0 });
  });
});
