// Programs that others have built, from the npm registry, each held to the checksum that this repository has of it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

/**
 * @param integrity as in package-lock.json
 * @param cache the folder where tarballs are kept
 * @returns the path of the tarball; throws Error when it cannot be had or is another one
 */
function tarballOf(name, version, integrity, cache) {
  const file = join(cache, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  if (!existsSync(file)) {
    mkdirSync(cache, { recursive: true });
    run('npm', ['pack', '--ignore-scripts', '--pack-destination', cache, `${name}@${version}`], cache);
  }
  const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (found === integrity) return file;
  rmSync(file);
  throw new Error(`${name}@${version} is not the one that is known: its checksum is ${found}, not ${integrity}`);
}

/** Unpacks the files of a package into a folder. */
export function fetchPackage({ name, version, integrity }, folder, cache) {
  const tarball = tarballOf(name, version, integrity, cache);
  mkdirSync(folder, { recursive: true });
  run('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', folder]);
}
