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

test('a host that has answered with an error lacks that format, and no other host and no other format', () => {
  const { hosts, shown } = fixture();
  expect(hosts.takeChanged()).toBe(false);
  expect(hosts.lacks(H2, 'fast-cnp')).toBe(true);
  expect(hosts.lacks(H1, 'long-haul-icmpv6')).toBe(true);
  expect(hosts.lacks(H1, 'fast-cnp')).toBe(true);
  expect(shown()).toEqual(['2001:db8:1::10 fast-cnp+long-haul-icmpv6', '2001:db8:1::20 fast-cnp']);
  expect([hosts.takeChanged(), hosts.takeChanged()]).toEqual([true, false]);
});

test('what is known is believed for the configured time, each format for its own; hearing of it again prolongs it and is no news', () => {
  const { clock, counts, hosts, shown } = fixture();
  hosts.lacks(H1, 'fast-cnp');
  clock.at += 400_000;
  hosts.lacks(H1, 'long-haul-icmpv6');
  hosts.takeChanged();
  expect(hosts.nextDeadline()).toBe(605_000);
  clock.at = 604_999;
  expect([hosts.tick(), shown()]).toEqual([false, ['2001:db8:1::10 fast-cnp+long-haul-icmpv6']]);
  expect(hosts.lacks(H1, 'long-haul-icmpv6')).toBe(false);
  expect(hosts.takeChanged()).toBe(false);
  clock.at = 605_000;
  // Not believed any more, whether or not somebody has swept.
  expect(shown()).toEqual(['2001:db8:1::10 long-haul-icmpv6']);
  expect([hosts.tick(), hosts.takeChanged(), hosts.nextDeadline()]).toEqual([true, true, 1_204_999]);
  clock.at = 1_204_999;
  expect([hosts.tick(), shown(), hosts.nextDeadline(), hosts.tick()]).toEqual([true, [], undefined, false]);
  expect(counts.get('learned.capability.expired')).toBe(2);
});

test('a host that lacks it again after the time is news again', () => {
  const { clock, hosts } = fixture();
  hosts.lacks(H1, 'fast-cnp');
  clock.at += 600_000;
  expect(hosts.lacks(H1, 'fast-cnp')).toBe(true);
});

test('a shorter time at a reload holds for what is known already, a longer one does not', () => {
  const { clock, hosts, shown } = fixture();
  hosts.lacks(H1, 'fast-cnp');
  hosts.configure({ expiryMs: 6_000_000 });
  expect(hosts.nextDeadline()).toBe(605_000);
  hosts.configure({ expiryMs: 1000 });
  clock.at += 1000;
  expect(shown()).toEqual([]);
});

test('a full table lets go of the host that was heard of longest ago', () => {
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

test('a host of which everything is forgotten takes no place any more', () => {
  const { clock, counts, hosts, shown } = fixture({ limit: 2 });
  hosts.lacks(H1, 'fast-cnp');
  clock.at += 600_000;
  hosts.tick();
  for (const host of [H2, address('2001:db8:1::30')]) hosts.lacks(host, 'fast-cnp');
  expect([shown().length, counts.get('learned.capability.displaced')]).toEqual([2, undefined]);
});

test('the earliest of all ends is the next one, of whichever host was heard of last', () => {
  const { clock, hosts } = fixture();
  hosts.lacks(H1, 'fast-cnp');
  clock.at += 1000;
  hosts.lacks(H2, 'fast-cnp');
  clock.at += 1000;
  hosts.lacks(H1, 'long-haul-icmpv6');
  expect(hosts.nextDeadline()).toBe(605_000);
});

test('whatever comes, it agrees with a plain list of what was said and when', () => {
  const step = fc.record({
    host: fc.integer({ min: 1, max: 5 }),
    format: fc.constantFrom(...NOTIFICATION_FORMATS),
    wait: fc.integer({ min: 0, max: 400 }),
    sweep: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { clock, hosts } = fixture({ expiryMs: 1000 });
      const said = new Map<string, number>();
      for (const { host, format, wait, sweep } of steps) {
        clock.at += wait;
        hosts.lacks({ family: 6, value: BigInt(host) }, format);
        said.set(`${host} ${format}`, clock.at);
        if (sweep) hosts.tick();
        const expected = [...said].filter(([, at]) => at + 1000 > clock.at).map(([name]) => name);
        expect(new Set(hosts.entries().flatMap(({ host: h, lacks }) => lacks.map((f) => `${h.value} ${f}`)))).toEqual(
          new Set(expected),
        );
        const deadline = hosts.nextDeadline();
        expect(deadline === undefined || deadline <= clock.at + 1000).toBe(true);
      }
    }),
  );
});
