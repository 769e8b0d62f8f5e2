// Prometheus and promtool of Debian, unpacked into a folder and not installed: the package would start a service.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/prometheus');

export interface PrometheusPrograms {
  readonly prometheus: string;
  readonly promtool: string;
}

/** @throws Error that names the failed command */
export function unpackPrometheus(): PrometheusPrograms {
  if (!existsSync(FOLDER)) {
    const partial = `${FOLDER}.partial`;
    rmSync(partial, { recursive: true, force: true });
    mkdirSync(partial, { recursive: true });
    const script = `cd ${partial} && apt-get download -qq prometheus && dpkg-deb -x prometheus_*.deb . && rm *.deb`;
    const result = spawnSync('bash', ['-euc', script], { encoding: 'utf8' });
    if (result.status !== 0) throw new Error(`${script}: ${result.stderr} (run apt-get update if it is old)`);
    renameSync(partial, FOLDER);
  }
  const at = (name: string): string => join(FOLDER, 'usr/bin', name);
  return { prometheus: at('prometheus'), promtool: at('promtool') };
}
