// A Debian package from a folder debian/ and files that are built already.
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

/** In the form of Debian: the release alone. */
const changelogOf = (name, version, date, change) =>
  `${name} (${version}) unstable; urgency=medium\n\n  * ${change}\n\n -- The cnpd project <cnpd@cnpd.invalid>  ${date}\n`;

/**
 * @param what `folder`: with the control file; `architecture`, `version`, and a line on what has changed; `date`; `out`
 * @param lay puts into a folder what debian/ names beside itself
 * @returns the path of the package
 */
export function buildDeb({ name, folder, architecture, version, change, date, out }, lay) {
  const build = join(out, `${name}-build-${architecture}`);
  const source = join(build, name);
  rmSync(build, { recursive: true, force: true });
  mkdirSync(source, { recursive: true });
  cpSync(folder, join(source, 'debian'), { recursive: true });
  lay(source);
  writeFileSync(join(source, 'debian/changelog'), changelogOf(name, version, date, change));
  // Nothing is compiled, so no compiler of another architecture is looked for.
  run('dpkg-buildpackage', ['-b', '-us', '-uc', '-d', `-a${architecture}`], source);
  const file = readdirSync(build).find((entry) => entry.endsWith('.deb'));
  cpSync(join(build, file), join(out, file));
  rmSync(build, { recursive: true });
  return join(out, file);
}
