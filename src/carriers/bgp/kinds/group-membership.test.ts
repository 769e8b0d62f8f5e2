// Members of End.MT groups in BGP: the private characteristic of host routes, and what others may write into it.
import { expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import { membersIn, membersOf, receiver, source } from '../../../model/group.fixture.ts';
import type { GroupMember } from '../../../model/group.ts';
import { formatPrefix, hostPrefix } from '../../../model/prefix.ts';
import { privateCharacteristic } from '../../../packet/bgp/characteristics.ts';
import { toHex } from '../../../packet/hex.ts';
import { containedMember, encodeSidContainer } from '../../../packet/sid-container.ts';
import { Agent, CODES, nhc, path, route } from '../content.fixture.ts';

const BOTH = [source(), receiver(1), receiver(2, { psnDelta: 7, write: { vaDelta: 5n, rKey: 6 } })];
const [HOST4, HOST6] = ['192.0.2.1/32', '2001:db8::1/128'];

const connected = (rest: ConstructorParameters<typeof Agent>[0] = {}): Agent => {
  const made = new Agent(rest);
  made.connect();
  return made;
};
const learnedOf = (agent: Agent): string[] => membersOf(agent.reports.values());
const by = (originator: string, ...members: readonly GroupMember[]): string[] =>
  membersIn(members as Parameters<typeof membersIn>[0]).map((text) => `${originator}: ${text}`);

/** gobgpd passes on what it has from one cnpd, and that it has no longer what it had. */
function passOn(from: Agent, to: Agent): void {
  const had = [...to.content.learning.known].map(([text]) => text).filter((text) => !from.gobgpd.has(text));
  const has = [...from.gobgpd].map(([text, own]) =>
    route(text, path(formatAddress(own.nextHop), { nhc: own.nhc, neighbor: '2001:db8::1' })),
  );
  to.report(...had.map((text) => route(text)), ...has);
}

test('RMC-5.1-d: members cross from one cnpd to another, whole, change, and are withdrawn', () => {
  const [origin, other] = [connected(), connected()];
  origin.declare(BOTH);
  expect(origin.answer()).toEqual([`+${HOST4}`, `+${HOST6}`]);
  expect(toHex(origin.gobgpd.get(HOST6)!.nhc)).toContain(toHex(encodeSidContainer(BOTH.map(containedMember))));
  passOn(origin, other);
  expect(learnedOf(other)).toEqual([...by('192.0.2.1', ...BOTH), ...by('2001:db8::1', ...BOTH)]);
  const changed = receiver(1, { qpn: 77 });
  origin.declare([changed]);
  origin.answer();
  passOn(origin, other);
  expect(learnedOf(other)).toEqual([...by('192.0.2.1', changed), ...by('2001:db8::1', changed)]);
  origin.declare([]);
  expect(origin.answer()).toEqual([`-${HOST4}`, `-${HOST6}`]);
  passOn(origin, other);
  expect(learnedOf(other)).toEqual([]);
});

test('what no packet could reach, and what a path cannot hold, is counted and shown as not advertised', () => {
  const [origin, other] = [connected({ nextHop4: undefined }), connected()];
  const many = Array.from({ length: 100 }, (_, n) => receiver(n + 1));
  origin.declare([receiver(2000, { qpn: 1 }), ...many]);
  origin.answer();
  passOn(origin, other);
  const learned = learnedOf(other).length;
  expect(learned).toBeGreaterThan(30);
  expect({
    unusable: origin.count('originate.unusable-group-member'),
    noRoom: origin.count('originate.no-room'),
    unplaced: origin.content.unplaced,
  }).toEqual({ unusable: 1, noRoom: 100 - learned, unplaced: 101 - learned });
});

test('a member that no packet could reach is counted; what is right beside it is used', () => {
  const other = connected();
  const hop = '2001:db8::9';
  const container = privateCharacteristic(CODES.private, [receiver(2, { qpn: 0 }), receiver(1)].map(containedMember));
  other.report(route(formatPrefix(hostPrefix(address(hop))), path(hop, { nhc: nhc(hop, container) })));
  expect({ counted: other.count('characteristic.unusable-group-member'), learned: learnedOf(other) }).toEqual({
    counted: 1,
    learned: by(hop, receiver(1)),
  });
});
