// Runs a bundle (src/setup/programs.mjs) with the arguments that follow it, loads what it would load later, and leaves
// beside it what V8 has compiled meanwhile, for src/setup/start.mjs.
import { renameSync, writeFileSync } from 'node:fs';
import { compiledBeside, load } from './start.mjs';

process.argv.splice(1, 1);
const file = process.argv[1];
const { script, run } = load(file);
process.on('exit', () => {
  // What removes `*.compiled` removes it too, should this end in between.
  const unfinished = `${file}.${process.pid}.compiled`;
  writeFileSync(unfinished, script.createCachedData());
  renameSync(unfinished, compiledBeside(file));
});
const { status, later } = run();
await Promise.all([status, later()]);
