import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isMapPin } from './pin-names.ts';

const BPF = new URL('../../bpf/', import.meta.url);
const sources = (readdirSync(BPF, { recursive: true }) as string[])
  // Those of the bench, of the lab's lossy wire and of the probe are not pinned.
  .filter(
    (name) => /\.[ch]$/.test(name) && !name.startsWith('bench/') && !['lossy-wire.bpf.c', 'probe.bpf.c'].includes(name),
  )
  .map((name) => readFileSync(new URL(name, BPF), 'utf8'));
const declared = sources.flatMap((source) => [
  ...[...source.matchAll(/^\} (\w+) SEC\("\.maps"\)/gm)].map((found) => found[1]!),
  ...[...source.matchAll(/^PORT_SHARED\((\w+),/gm)].flatMap((found) => [`${found[1]!}_places`, `${found[1]!}_next`]),
]);

test('the known pins are exactly the maps that BPF programs declare or have declared', () => {
  expect(declared.length).toBeGreaterThan(40);
  expect(declared.filter((name) => !isMapPin(name))).toEqual([]);
  expect(['counters_replaced', 'zz_foreign', 'links', 'tc', '_replaced'].map(isMapPin)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
