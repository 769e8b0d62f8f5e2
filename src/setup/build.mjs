// Builds everything that is generated: message types from proto/, the JavaScript bundles from src/, the eBPF objects
// from bpf/. Output goes to dist/ (and into the gen/ of the rooms that PROTO names for the types). Run by
// src/setup/setup.sh and by `npm run build`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, chmodSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { CLANG_FLAGS } from './clang.mjs';
import { PROGRAMS, buildProgram } from './programs.mjs';
import { writeThirdParty } from './third-party.mjs';

const root = new URL('../..', import.meta.url).pathname;
process.chdir(root);

function run(command, args) {
  const r = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (r.error) throw new Error(`${command}: ${r.error.message}`);
  if (r.status !== 0) {
    console.error(`build: ${command} ${args.join(' ')} failed with status ${r.status}`);
    process.exit(1);
  }
}

const newest = (paths) => Math.max(0, ...paths.map((p) => statSync(p).mtimeMs));
const isStale = (target, sources) => !existsSync(target) || statSync(target).mtimeMs < newest(sources);
const under = (dir, ext) =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((e) => e.isFile() && e.name.endsWith(ext))
        .map((e) => join(e.parentPath, e.name))
    : [];

/** Which of proto/ becomes types in which room. */
const PROTO = [
  { room: 'src/northbound', folders: ['proto/gnmi', 'proto/cnpd'] },
  { room: 'src/carriers/bgp/gobgp', folders: ['proto/gobgp'] },
  { room: 'src/holo', folders: ['proto/holo'] },
];

function proto() {
  for (const { room, folders } of PROTO) {
    const sources = folders.flatMap((folder) => under(folder, '.proto'));
    if (sources.length === 0 || !isStale(`${room}/gen/.stamp`, [...sources, 'proto/buf.gen.yaml'])) continue;
    mkdirSync(`${room}/gen`, { recursive: true });
    run('node_modules/.bin/buf', [
      'generate',
      'proto',
      '--template',
      'proto/buf.gen.yaml',
      '--output',
      room,
      ...folders.flatMap((folder) => ['--path', folder]),
    ]);
    run('touch', [`${room}/gen/.stamp`]);
  }
}

/** As run(), beside others. */
async function runBeside(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code, signal] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed with ${signal ?? `status ${code}`}`);
}

/** Each object takes a second or two of one CPU. */
async function bpf() {
  mkdirSync('dist/bpf', { recursive: true });
  const headers = under('bpf', '.h');
  const stale = [];
  for (const source of under('bpf', '.bpf.c').filter((p) => !p.includes('/lib/'))) {
    const target = join(
      'dist/bpf',
      source
        .replace(/^bpf\//, '')
        .replaceAll('/', '_')
        .replace(/\.c$/, '.o'),
    );
    if (isStale(target, [source, ...headers])) stale.push({ source, target });
  }
  const compileTheNext = async () => {
    for (let next; (next = stale.shift());) {
      // Under its name only when it is whole: a build that is interrupted is not taken for done.
      const unfinished = `${next.target}.${process.pid}`;
      try {
        await runBeside('clang', [...CLANG_FLAGS, '-c', next.source, '-o', unfinished]);
        await runBeside('llvm-strip', ['-g', '--remove-section=.debug_info', unfinished]);
        renameSync(unfinished, next.target);
      } finally {
        rmSync(unfinished, { force: true });
      }
    }
  };
  const compiled = await Promise.allSettled(Array.from({ length: availableParallelism() }, compileTheNext));
  const failed = compiled.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
}

const OPTIONS = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  sourcemap: 'linked',
  // Nothing that cnpd uses of gRPC needs the loader: channelz and ORCA load it when they are asked for.
  external: ['koffi', '@grpc/proto-loader'],
  logLevel: 'warning',
};

/** Programs that are started seldom share what they have in common. @returns files in dist/chunk */
async function modules() {
  const entryPoints = { lab: 'src/lab/main.ts', demo: 'src/demo/main.ts', bench: 'src/bench/main.ts' };
  entryPoints['containerlab'] = 'src/lab/containerlab.ts';
  entryPoints['reference'] = 'src/setup/reference.ts';
  // Helper processes are entries of their own, found by their name.
  const helpers = under('src', '.process.ts').map((source) => [basename(source, '.process.ts'), source]);
  for (const [name, source] of helpers) if (!(name in PROGRAMS)) entryPoints[name] = source;
  const { metafile } = await build({
    ...OPTIONS,
    entryPoints,
    outdir: 'dist',
    format: 'esm',
    splitting: true,
    metafile: true,
    chunkNames: 'chunk/[name]-[hash]',
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);",
    },
  });
  for (const name of Object.keys(entryPoints)) chmodSync(`dist/${name}.js`, 0o755);
  return Object.keys(metafile.outputs).filter((file) => file.startsWith('dist/chunk/'));
}

/** The page of `lab view`: for a browser, and with the types of one (its tsconfig.json). */
async function page() {
  mkdirSync('dist/view', { recursive: true });
  const from = 'src/view/page';
  for (const file of ['index.html', 'page.css']) copyFileSync(join(from, file), join('dist/view', file));
  await build({
    entryPoints: [join(from, 'main.ts')],
    outfile: 'dist/view/page.js',
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'warning',
  });
  return [];
}

async function javascript() {
  const built = await Promise.all([
    modules(),
    page(),
    ...Object.keys(PROGRAMS).map((name) => buildProgram(name, OPTIONS)),
  ]);
  const files = new Set(built.flat());
  // Of earlier builds.
  for (const file of under('dist/chunk', '')) if (!files.has(file)) rmSync(file);
  await runBeside(process.execPath, ['dist/reference.js', 'dist']);
  writeThirdParty();
}

// What lint and unit tests need beside the source: no compiler, no root.
const typesOnly = process.argv[2] === 'types';
proto();
if (!typesOnly) {
  try {
    await Promise.all([bpf(), javascript()]);
  } catch (error) {
    console.error(`build: ${error.message}`);
    process.exitCode = 1;
  }
}
