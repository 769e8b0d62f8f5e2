// Writing many entries into a map: src/kernel/bpf/map.ts against `bpftool batch file` on the same map, which is the
// congested node's real table of senders' proxies (an LPM trie). Every contender replaces the same entries that are
// there already.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BpfMap } from '../../kernel/bpf/map.ts';
import type { MapEntry } from '../../kernel/bpf/map-batch.ts';
import { openBpfObject } from '../../kernel/bpf/object.ts';
import { EGRESS_MAPS, encodeSenderProxy } from '../../kernel/dataplane/egress.ts';
import { prefixKey } from '../../kernel/dataplane/layout.ts';
import { address } from '../../model/address.ts';
import { type Figure, bpfObject } from '../support/bench.ts';
import { SENDERS, senderPrefix } from '../support/network/isis-network.ts';
import { inTurns, summary } from '../support/statistics.ts';

const ROUNDS = 7;

const entries = (): MapEntry[] =>
  Array.from(
    { length: SENDERS },
    (_, i) =>
      [
        prefixKey(senderPrefix(i)),
        encodeSenderProxy({ prefix: senderPrefix(i), proxy: address('2001:db8:ffff::1') }),
      ] as const,
  );

const hex = (bytes: Uint8Array): string => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join(' ');

const batchFile = ({ info }: BpfMap, all: readonly MapEntry[]): string =>
  all.map(([key, value]) => `map update id ${info.id} key hex ${hex(key)} value hex ${hex(value)}\n`).join('');

function millis(run: () => void): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

export const mapUpdates: Figure = {
  name: 'map-updates',
  title: `${SENDERS} entries of the senders' table, written by cnpd and by bpftool batch`,
  async measure(bench) {
    const object = openBpfObject(bpfObject('egress'));
    bench.finally(() => object.close());
    const map = object.map(EGRESS_MAPS.senderProxies);
    const all = entries();
    const [file, one] = [join(bench.directory, 'batch'), join(bench.directory, 'one')];
    writeFileSync(file, batchFile(map, all));
    writeFileSync(one, batchFile(map, all.slice(0, 1)));
    const bpftool = (path: string) => (): void =>
      void execFileSync('bpftool', ['batch', 'file', path], { stdio: ['ignore', 'ignore', 'pipe'] });
    map.updateBatch(all);
    const measured = await inTurns(ROUNDS, {
      batch: () => millis(() => map.updateBatch(all)),
      single: () => millis(() => all.forEach(([key, value]) => map.update(key, value))),
      bpftool: () => millis(bpftool(file)),
      start: () => millis(bpftool(one)),
    });
    const rate = (ms: readonly number[]): number[] => ms.map((t) => SENDERS / t);
    const reference = summary(rate(measured.bpftool));
    const common = {
      figure: this.name,
      unit: 'entries/ms',
      reference: 'bpftool batch file',
      referenceValue: reference.median,
      referenceSpread: reference,
      target: '—',
      met: null,
    } as const;
    return (['batch', 'single'] as const).map((how) => {
      const ours = summary(rate(measured[how]));
      const what = how === 'batch' ? 'map update, batch' : 'map update, one by one';
      const note =
        how === 'batch'
          ? { note: `bpftool's time includes its start, ${summary(measured.start).median.toFixed(1)} ms` }
          : {};
      return { ...common, what, measured: ours.median, spread: ours, ratio: ours.median / reference.median, ...note };
    });
  },
};
