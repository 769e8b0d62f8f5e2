// Where this package's built programs are: dist/ beside package.json, wherever the calling code was bundled to.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LabError } from './error.ts';

/** The directory that holds cnpd's package.json. */
export function packageRoot(): string {
  for (let directory = dirname(fileURLToPath(import.meta.url)); ; directory = dirname(directory)) {
    const file = join(directory, 'package.json');
    if (existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }).name === 'cnpd')
      return directory;
    if (directory === '/') throw new LabError('helper-failed', 'this code is not inside the cnpd package');
  }
}

/** Path of a built program. @throws LabError when it was not built */
export function program(name: 'cnpd' | 'cnpctl' | 'delay-line' | 'roce-endpoint'): string {
  const file = join(packageRoot(), 'dist', `${name}.js`);
  if (!existsSync(file)) throw new LabError('helper-failed', `${file} does not exist: run npm run build`);
  return file;
}
