// The command `cnpctl`: puts the command line (program.ts) and the outside world together.
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { connectNorthbound } from '../northbound/client.ts';
import { endWithOutput } from '../daemon/standard-streams.ts';
import { VERSION } from '../daemon/version.ts';
import type { CliDependencies } from './context.ts';
import { openRemote } from './open-remote.ts';
import { runCnpctl } from './program.ts';

/** grpc-js gives Node.js an address as the name in TLS. Node.js would warn of it, and checks the certificate for it. */
process.noDeprecation = true;

const isRead = endWithOutput('cnpctl');

const writers = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};

const dependencies: CliDependencies = {
  version: VERSION,
  nowMs: () => Date.now(),
  ...writers,
  terminal: process.stdout.isTTY === true,
  columns: () => (process.stdout.isTTY ? process.stdout.columns : undefined),
  pause: async (ms) => {
    await delay(ms);
    return isRead();
  },
  color: process.stdout.isTTY === true && !process.env['NO_COLOR'],
  connect: connectNorthbound,
  // Loaded when they are needed: they bring the kernel's adapters with them.
  socketOf: async (file) => (await import('./examine.ts')).socketOf(file),
  examine: async (file, what) => (await import('./examine.ts')).examine(file, what),
  uninstall: async (runDir, say) => (await (await import('../daemon/uninstall.ts')).uninstall(runDir, say)) === 0,
  check: async (files, output) => (await import('../daemon/check.ts')).checkFiles(files, { output, ...writers }),
  readFile: (path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  },
  writeFile: (path, text) => writeFileSync(path, text, { mode: 0o644 }),
  openRemote,
  bundleSources: async () => (await import('./bundle-sources.ts')).bundleSources(),
};

/** The exit code; src/setup/start.mjs awaits it. */
export const status: Promise<number> = runCnpctl(process.argv.slice(2), dependencies);
