// What a proxy needs to tell its senders otherwise than by standard CNPs (PNC §1).
import { describe, expect, test } from 'vitest';
import { FACTS, intentOf, learnedTable } from './inputs.fixture.ts';
import { instructionsByLevel } from './notifier.ts';
import { plan } from './plan.ts';

const BOTH = '{ ipv6: 2001:db8:ffff::1, ipv4: 192.0.2.1 }';
const proxy = (...formats: string[]): string => {
  const senders = formats.map((format, i) => `{ prefix: 2001:db8:${i + 1}::/64, format: ${format} }`).join(', ');
  return `proxy: { address: 2001:db8:ffff::1, accept-from: [2001:db8:ffff::/48], senders: [${senders}] }\n`;
};
const planOf = (sections: string, facts = FACTS) => plan(intentOf(sections, BOTH), learnedTable(), facts);
const PORT = 'ports: [{ interface: wan, k-max: 200kB, rtt: 10ms }]\n';

describe('the builder of a proxy', () => {
  test('PNC-6-e: is absent for standard CNPs', () => {
    const { builder, proxy: planned } = planOf(proxy('standard-cnp'));
    expect({ builder, instructions: planned!.instructions }).toEqual({ builder: undefined, instructions: undefined });
  });

  test('PNC-1-a: builds the formats of the prefixes, from the loopback addresses', () => {
    const { builder, notifier, ports, proxy: planned } = planOf(proxy('standard-cnp', 'fast-cnp'));
    expect({ notifier, ports, instructions: planned!.instructions }).toEqual({
      notifier: undefined,
      ports: [],
      instructions: undefined,
    });
    expect(builder).toMatchObject({
      source6: { family: 6 },
      source4: { family: 4 },
      fastCnp: { option: 0x9e, icrc: 'cover' },
    });
    expect(builder).not.toHaveProperty('longHaul');
    const longHaul = planOf(proxy('long-haul-roce'));
    expect(longHaul.builder).toMatchObject({
      longHaul: { icmpv6Type: 200, disclose: false, timestamp: false, deviceId: null, pathId: null, padToCnp: false },
    });
    expect(longHaul.proxy!.instructions).toHaveLength(8);
  });

  test('is the one of the ports if there are any, and does not affect them', () => {
    const { builder, notifier, ports } = planOf(PORT + proxy('fast-cnp', 'long-haul-icmpv6'));
    expect(builder).toEqual(notifier);
    expect(ports).toEqual(planOf(PORT).ports);
  });

  test('on a kernel that cannot run it, only senders of standard CNPs are served, which is a problem', () => {
    const facts = {
      ...FACTS,
      features: [{ name: 'packet-memory', ok: false, detail: 'Linux 6.1', remedy: 'update' }],
    } as typeof FACTS;
    const { builder, proxy: planned, problems } = planOf(proxy('standard-cnp', 'fast-cnp'), facts);
    expect({ builder, senders: planned!.senders.map(({ format }) => format) }).toEqual({
      builder: undefined,
      senders: ['standard-cnp'],
    });
    expect(problems).toMatchObject([
      { feature: 'proxy', problem: expect.stringMatching(/Linux 6\.1/), remedy: 'update' },
    ]);
  });
});

describe('the instruction in a Long-haul CNP of a proxy', () => {
  const rows = (severity: string): unknown[] =>
    instructionsByLevel(
      intentOf(
        `${PORT}notifications: { senders: [{ prefix: 2001:db8::/48, order: [proxy] }], ` +
          `long-haul: { severity: [${severity}] } }\n`,
      ),
    ).map(({ level, action, parameter }) => `${level} ${action} ${parameter}`);

  test('follows by default the rows from 1, 1.25 and 1.5 × K_max, at levels 0, 2 and 4', () => {
    expect(instructionsByLevel(intentOf('')).map(({ level, parameter }) => [level, parameter])).toEqual([
      [180, 30],
      [180, 30],
      [205, 40],
      [205, 40],
      [230, 50],
      [230, 50],
      [230, 50],
      [230, 50],
    ]);
  });

  test('follows the rows of the file, each from the level of its queue depth', () => {
    const [first, second] = ['150 rate-reduce 10', '200 rate-reduce 20'];
    expect(
      rows(
        '{ from: 1, level: 150, action: rate-reduce, parameter: 10 }, { from: 1.25, level: 200, ' +
          'action: rate-reduce, parameter: 20 }, { from: 1.875, level: 240, action: rate-reduce, parameter: 70 }',
      ),
    ).toEqual([first, first, second, second, second, second, second, '240 rate-reduce 70']);
  });
});
