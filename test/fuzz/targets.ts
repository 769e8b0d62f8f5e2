// Everything that is fuzzed, by name.
import { readFileSync, readdirSync } from 'node:fs';
import { loadIntent } from '../../src/intent/load.ts';
import type { Target } from './target.ts';
import { NORTHBOUND_TARGETS } from './targets-northbound.ts';
import { PACKET_TARGETS } from './targets-packet.ts';
import { ROUTING_TARGETS } from './targets-routing.ts';

const MOST_CPU_MS = 2000;

/** The file of the operator: an intent, or errors that say where. Never a throw, never long. */
function readsTheFile(input: Uint8Array): void {
  const text = new TextDecoder().decode(input);
  const started = process.cpuUsage();
  const loaded = loadIntent(text, 'fuzz.yaml');
  const { user, system } = process.cpuUsage(started);
  if ((user + system) / 1000 > MOST_CPU_MS) throw new Error(`took ${(user + system) / 1000} ms`);
  if (loaded.ok) return;
  if (loaded.error.length === 0) throw new Error('refused without an error');
  for (const error of loaded.error) if (!/\S/.test(JSON.stringify(error))) throw new Error('an error without words');
}

const files = (): Uint8Array[] =>
  ['proxy', 'longhaul', 'srv6-wan', 'bgp'].flatMap((scene) =>
    readdirSync(`containerlab/${scene}`, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('cnpd.yaml'))
      .sort()
      .map((file) => new Uint8Array(readFileSync(`containerlab/${scene}/${file}`))),
  );

export const TARGETS: readonly Target[] = [
  ...PACKET_TARGETS,
  ...ROUTING_TARGETS,
  ...NORTHBOUND_TARGETS,
  { name: 'intent', seeds: files, run: readsTheFile, mostBytes: 6000, runs: 160 },
];
