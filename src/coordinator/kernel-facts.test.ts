import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Link } from '../kernel/netlink/link.ts';
import { ManualWork } from '../model/work.fixture.ts';
import { linkFacts, linkSpeed } from './kernel-facts.edge.ts';

describe('LHCNP-5.3.2-a: the speed of a link', () => {
  const link = { name: 'eth2', mac: Uint8Array.of(2, 0, 0, 0, 0xab, 1) };

  /** What sysfs shows of eth2. */
  function speedOf(files: Readonly<Record<string, string>>): number | undefined {
    const sysfs = mkdtempSync(join(tmpdir(), 'cnpd-sysfs-'));
    try {
      mkdirSync(join(sysfs, 'eth2'));
      for (const [name, text] of Object.entries(files)) writeFileSync(join(sysfs, 'eth2', name), text);
      return linkSpeed(link, sysfs);
    } finally {
      rmSync(sysfs, { recursive: true });
    }
  }

  test('is the one that the driver reports, in Mbit/s', () => {
    expect(speedOf({ address: '02:00:00:00:ab:01\n', speed: '100000\n' })).toBe(100e9);
  });

  test.each(['-1', '0', '4294967295.5', 'unknown', ''])('is not known when the driver reports %j', (speed) => {
    expect(speedOf({ address: '02:00:00:00:ab:01\n', speed: `${speed}\n` })).toBeUndefined();
  });

  test('is not taken from another interface of the same name: sysfs may show another network namespace', () => {
    expect(speedOf({ address: '02:00:00:00:ab:02\n', speed: '100000\n' })).toBeUndefined();
  });

  test('is not known when sysfs does not show the interface or its speed', () => {
    expect(linkSpeed({ ...link, name: 'eth3' }, '/nonexistent')).toBeUndefined();
    expect(speedOf({ address: '02:00:00:00:ab:01\n' })).toBeUndefined();
  });
});

test('the facts of links are read one link a step, since a driver may take its time to say the speed', () => {
  const links = Array.from(
    { length: 128 },
    (_, i) => ({ name: `eth${i}`, ifindex: i, mac: new Uint8Array(6) }) as Link,
  );
  const work = new ManualWork();
  let found: readonly unknown[] = [];
  const asked = new Set(links.map(({ name }) => name));
  work.run(linkFacts(links, asked, '/nonexistent'), { budgetMs: 0, onDone: (facts) => void (found = facts) });
  work.settle();
  expect({ turns: work.turns, found: found.length }).toEqual({ turns: 129, found: 128 });
});
