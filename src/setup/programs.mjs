// The programs of dist/ that are started often. Each is one bundle, and beside it lies what V8 has compiled of it;
// src/setup/start.mjs says what for.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { compiledBeside } from './start.mjs';

/**
 * By name. `main`: the module that runs, and may export `status`, a promise of the exit code. `later`: modules that it
 * imports when it needs them. `trial`: arguments that change nothing and need no rights; what V8 compiles for them, and
 * for all modules, is kept.
 */
export const PROGRAMS = {
  cnpd: {
    main: 'src/daemon/main.ts',
    later: ['src/daemon/daemon.ts'],
    trial: ['check', 'containerlab/proxy/leaf1/cnpd.yaml'],
  },
  cnpctl: {
    main: 'src/cli/main.ts',
    later: ['src/cli/examine.ts'],
    trial: ['--socket', '/nonexistent/gnmi.sock', 'show', 'status'],
  },
  'roce-endpoint': { main: 'src/lab/roce-endpoint.process.ts', later: [], trial: [] },
  'delay-line': { main: 'src/lab/delay-line.process.ts', later: [], trial: [] },
};

const entry = ({ main, later }) =>
  `export * from './${main}';
   export const later = () => Promise.all([${later.map((module) => `import('./${module}')`).join()}]);`;

/** What V8 has compiled of a bundle after its trial. The exit code does not matter: some trials are refused. */
async function compile(file, trial) {
  const compiled = compiledBeside(file);
  rmSync(compiled, { force: true });
  const env = { ...process.env, NODE_OPTIONS: '' };
  const said = await new Promise((done) => {
    const argv = ['src/setup/compile.mjs', resolve(file), ...trial];
    execFile(process.execPath, argv, { env }, (_error, stdout, stderr) => done(stdout + stderr));
  });
  if (!existsSync(compiled)) throw new Error(`${file} cannot be compiled: ${said}`);
  return compiled;
}

/** What is in dist/NAME.js. */
const starter = (name, options) => ({
  stdin: {
    contents: `import { join } from 'node:path';
               import { start } from './src/setup/start.mjs';
               await start(join(import.meta.dirname, 'chunk/${name}'));`,
    resolveDir: '.',
  },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: options.target,
  banner: { js: '#!/usr/bin/env node' },
});

/** As a whole: what starts meanwhile would take a part of it for all of it, and nothing for an empty program. */
function put(file, contents, mode = 0o644) {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, contents);
  chmodSync(unfinished, mode);
  renameSync(unfinished, file);
}

/** @returns the files of dist/chunk */
export async function buildProgram(name, options) {
  const program = PROGRAMS[name];
  const { outputFiles } = await build({
    ...options,
    stdin: { contents: entry(program), resolveDir: '.', sourcefile: `${name}.entry.ts` },
    outfile: `dist/chunk/${name}.cjs`,
    write: false,
    format: 'cjs',
    define: { 'import.meta.dirname': '__dirname', 'import.meta.url': '__url' },
    banner: { js: "const __url = require('node:url').pathToFileURL(__filename).href;" },
  });
  const [map, script] = outputFiles;
  // start.mjs reads Latin-1. esbuild writes ASCII, except for the comments that it leaves in classes.
  const text = script.text.replaceAll(/\P{ASCII}/gu, '?');
  // A name with a hash: V8 compares only the length of a text with that of what it has compiled.
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
  const file = `dist/chunk/${name}-${hash}.cjs`;
  mkdirSync('dist/chunk', { recursive: true });
  put(file, text.replace(`${name}.cjs.map`, `${name}-${hash}.cjs.map`));
  put(`${file}.map`, map.contents);
  const compiled = await compile(file, program.trial);
  const { outputFiles: starting } = await build({
    ...starter(`${name}-${hash}.cjs`, options),
    outfile: `dist/${name}.js`,
    write: false,
  });
  put(`dist/${name}.js`, starting[0].contents, 0o755);
  return [file, `${file}.map`, compiled];
}
