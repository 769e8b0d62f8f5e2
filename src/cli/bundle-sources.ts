// The sources of a support bundle. cnpctl is put together here and in main.ts, so this file may import what the
// commands may not.
import { hostname } from 'node:os';
import { parse } from 'yaml';
import { readIntentFile } from '../daemon/intent-file.ts';
import { RUN_DIR, STATE_DIR, recordingsOf } from '../model/paths.ts';
import { newestRecording } from '../recorder/file.edge.ts';
import { type BundleSources, fetchText, read, run, writeNew } from './support-bundle/sources.ts';

export const bundleSources = (): BundleSources => ({
  ...{ run, read, writeNew, hostname, fetch: fetchText },
  configuration: async (file) => {
    const result = readIntentFile(file);
    if (!result.ok) throw new Error(result.error.rendered);
    const { intent } = result.value;
    const { metrics } = intent;
    return { intent, ...(metrics && { metrics: metricsUrl(metrics) }) };
  },
  parseYaml: async (text) => {
    try {
      return parse(text) as unknown;
    } catch {
      // Its lines are masked one by one.
      return undefined;
    }
  },
  newestRecording: async () =>
    (await newestRecording(recordingsOf(STATE_DIR))) ?? (await newestRecording(recordingsOf(RUN_DIR))),
});

/** An address without a zone is all that the file takes. */
function metricsUrl({ address, port }: { readonly address: string; readonly port: number }): string {
  const here = address === '::' ? '::1' : address === '0.0.0.0' ? '127.0.0.1' : address;
  return `http://${here.includes(':') ? `[${here}]` : here}:${port}/metrics`;
}
