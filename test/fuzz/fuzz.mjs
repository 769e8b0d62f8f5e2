// Bundles the fuzzer (Node.js 20 reads no TypeScript) and runs it. See main.ts.
import { spawnSync } from 'node:child_process';
import { build } from 'esbuild';

process.chdir(new URL('../..', import.meta.url).pathname);
await build({
  entryPoints: ['test/fuzz/main.ts'],
  outfile: 'out/fuzz/main.mjs',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  sourcemap: 'inline',
  logLevel: 'warning',
});
process.exit(
  spawnSync(process.execPath, ['--enable-source-maps', 'out/fuzz/main.mjs', ...process.argv.slice(2)], {
    stdio: 'inherit',
  }).status ?? 1,
);
