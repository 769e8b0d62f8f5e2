// How a program of dist/ starts: its bundle is one script, and beside it lies what V8 had compiled of it when it was
// built (src/setup/programs.mjs). To compile it anew takes longer than all else that a start does. What another V8 has
// compiled is refused by V8, and the script is compiled as usual. V8 does not ask for which processor it was: V8 of an
// arm64 crashes over what an x64 has compiled. So the name of the file says that.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';

/**
 * @param file path of a bundle in the form of CommonJS, ASCII alone
 * @param cachedData what V8 has compiled of it
 * @returns the script, and what runs it and gives its exports
 */
export function load(file, cachedData) {
  // V8 keeps the text: as Latin-1 it takes half of what UTF-8 might become.
  const source = readFileSync(file, 'latin1');
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  const script = new Script(wrapped, { filename: file, cachedData });
  const run = () => {
    const module = { exports: {} };
    script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
    return module.exports;
  };
  return { script, run };
}

/** Beside a bundle: what V8 has compiled of it for processors of this kind. */
export const compiledBeside = (file) => `${file}.${process.arch}.compiled`;

function compiledOf(file) {
  try {
    return readFileSync(compiledBeside(file));
  } catch {
    return undefined;
  }
}

/** Runs a bundle. Its export `status`, if any, becomes the exit code. */
export async function start(file) {
  const { status } = load(file, compiledOf(file)).run();
  if (status !== undefined) process.exitCode = await status;
}
