// Writes the licenses of the packages that are bundled into cnpd and cnpctl to dist/THIRD-PARTY.txt. The source maps
// name what is in a bundle.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The innermost package of a path in node_modules; scopes have two parts. */
const PACKAGE = /^(?:.*\/)?(node_modules\/(?:@[^/]+\/)?[^@/][^/]*)\//;

function bundledPackages() {
  const maps = readdirSync('dist/chunk').filter((name) => /^cnp(d|ctl)-.*\.map$/.test(name));
  const sources = maps.flatMap((name) => JSON.parse(readFileSync(join('dist/chunk', name), 'utf8')).sources);
  const folders = new Set(sources.flatMap((source) => PACKAGE.exec(source)?.[1] ?? []));
  // A map may name sources that were not published.
  return [...folders].filter((folder) => existsSync(join(folder, 'package.json'))).sort();
}

function noticeOf(folder) {
  const manifest = readPackage(folder);
  const texts = readdirSync(folder).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name));
  // A package may declare its license and leave out the text; the declaration is all that there is then.
  const text = texts.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n');
  return `${manifest.name} ${manifest.version}: ${manifest.license}\n\n${text}\n`;
}

const readPackage = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

export function writeThirdParty() {
  const notices = bundledPackages().map(noticeOf);
  writeFileSync('dist/THIRD-PARTY.txt', notices.join(`\n${'-'.repeat(80)}\n\n`));
}
