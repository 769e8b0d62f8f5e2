import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address, formatAddress } from '../model/address.ts';
import { NOTIFICATION_FORMATS } from '../model/notification.ts';
import { HostCapabilities } from './capabilities.ts';

const H1 = address('2001:db8:1::10');
const H2 = address('2001:db8:1::20');

function fixture(options: { expiryMs?: number; limit?: number } = {}) {
  const clock = { at: 5000, now: () => clock.at };
  const counts = new Map<string, number>();
  const hosts = new HostCapabilities(
    { expiryMs: 600_000, ...options },
    { clock, count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by) },
  );
  const shown = (): string[] => hosts.entries().map(({ host, lacks }) => `${formatAddress(host)} ${lacks.join('+')}`);
  return { clock, counts, hosts, shown };
}

test('a host that answered with an error lacks that format only, and no other host does', () => {
  const { hosts, shown } = fixture();
  expect(hosts.takeChanged()).toBe(false);
  expect(hosts.lacks(H2, 'fast-cnp')).toBe(true);
  expect(hosts.lacks(H1, 'long-haul-icmpv6')).toBe(true);
  expect(hosts.lacks(H1, 'fast-cnp')).toBe(true);
  expect(shown()).toEqual(['2001:db8:1::10 fast-cnp+long-haul-icmpv6', '2001:db8:1::20 fast-cnp']);
  expect({ first: hosts.takeChanged(), again: hosts.takeChanged() }).toEqual({ first: true, again: false });
});

test('an entry lasts for the configured time, separately for each format; a repeated report prolongs it and is not new', () => {
  const { clock, counts, hosts, shown } = fixture();
  hosts.lacks(H1, 'fast-cnp');
  clock.at += 400_000;
  hosts.lacks(H1, 'long-haul-icmpv6');
  hosts.takeChanged();
  expect(hosts.nextDeadline()).toBe(605_000);
  clock.at = 604_999;
  expect({ tick: hosts.tick(), shown: shown() }).toEqual({
    tick: false,
    shown: ['2001:db8:1::10 fast-cnp+long-haul-icmpv6'],
  });
  expect(hosts.lacks(H1, 'long-haul-icmpv6')).toBe(false);
  expect(hosts.takeChanged()).toBe(false);
  clock.at = 605_000;
  // Not believed any more, whether or not a sweep has run.
  expect(shown()).toEqual(['2001:db8:1::10 long-haul-icmpv6']);
  expect({ tick: hosts.tick(), takeChanged: hosts.takeChanged(), nextDeadline: hosts.nextDeadline() }).toEqual({
    tick: true,
    takeChanged: true,
    nextDeadline: 1_204_999,
  });
  clock.at = 1_204_999;
  expect({ tick: hosts.tick(), shown: shown(), nextDeadline: hosts.nextDeadline(), tickAgain: hosts.tick() }).toEqual({
    tick: true,
    shown: [],
    nextDeadline: undefined,
    tickAgain: false,
  });
  expect(counts.get('learned.capability.expired')).toBe(2);
});

test('a report after the expiry is new again', () => {
  const { clock, hosts } = fixture();
  hosts.lacks(H1, 'fast-cnp');
  clock.at += 600_000;
  expect(hosts.lacks(H1, 'fast-cnp')).toBe(true);
});

test('a reload with a shorter time shortens existing entries; a longer time does not prolong them', () => {
  const { clock, hosts, shown } = fixture();
  hosts.lacks(H1, 'fast-cnp');
  hosts.configure({ expiryMs: 6_000_000 });
  expect(hosts.nextDeadline()).toBe(605_000);
  hosts.configure({ expiryMs: 1000 });
  clock.at += 1000;
  expect(shown()).toEqual([]);
});

test('a full table drops the host with the oldest report', () => {
  const { counts, hosts, shown } = fixture({ limit: 2 });
  const H3 = address('2001:db8:1::30');
  for (const host of [H1, H2, H1, H3]) hosts.lacks(host, 'fast-cnp');
  expect(shown()).toEqual(['2001:db8:1::10 fast-cnp', '2001:db8:1::30 fast-cnp']);
  expect(counts.get('learned.capability.displaced')).toBe(1);
  hosts.takeChanged();
  hosts.configure({ expiryMs: 600_000, limit: 1 });
  expect(hosts.takeChanged()).toBe(true);
  expect(shown()).toEqual(['2001:db8:1::30 fast-cnp']);
});

test('a host without entries takes no space', () => {
  const { clock, counts, hosts, shown } = fixture({ limit: 2 });
  hosts.lacks(H1, 'fast-cnp');
  clock.at += 600_000;
  hosts.tick();
  for (const host of [H2, address('2001:db8:1::30')]) hosts.lacks(host, 'fast-cnp');
  expect({
    shownLength: shown().length,
    learnedCapabilityDisplaced: counts.get('learned.capability.displaced'),
  }).toEqual({ shownLength: 2, learnedCapabilityDisplaced: undefined });
});

test('the next deadline is the earliest expiry, whichever host was reported last', () => {
  const { clock, hosts } = fixture();
  hosts.lacks(H1, 'fast-cnp');
  clock.at += 1000;
  hosts.lacks(H2, 'fast-cnp');
  clock.at += 1000;
  hosts.lacks(H1, 'long-haul-icmpv6');
  expect(hosts.nextDeadline()).toBe(605_000);
});

test('any sequence of reports agrees with a plain list of reports and times', () => {
  const step = fc.record({
    host: fc.integer({ min: 1, max: 5 }),
    format: fc.constantFrom(...NOTIFICATION_FORMATS),
    wait: fc.integer({ min: 0, max: 400 }),
    sweep: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { clock, hosts } = fixture({ expiryMs: 1000 });
      const reports = new Map<string, number>();
      for (const { host, format, wait, sweep } of steps) {
        clock.at += wait;
        hosts.lacks({ family: 6, value: BigInt(host) }, format);
        reports.set(`${host} ${format}`, clock.at);
        if (sweep) hosts.tick();
        const expected = [...reports].filter(([, at]) => at + 1000 > clock.at).map(([name]) => name);
        expect(new Set(hosts.entries().flatMap(({ host: h, lacks }) => lacks.map((f) => `${h.value} ${f}`)))).toEqual(
          new Set(expected),
        );
        const deadline = hosts.nextDeadline();
        if (deadline !== undefined) expect(deadline).toBeLessThanOrEqual(clock.at + 1000);
      }
    }),
  );
});
