// A script of a test's own in a process of its own.
import { build } from 'esbuild';

/** @returns what `node --input-type=module` runs; it imports from the root of the repository */
export async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: process.cwd(), loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  return outputFiles[0]!.text;
}
