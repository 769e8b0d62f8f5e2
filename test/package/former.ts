// The release before this version, as a Debian package. It had none: this one is laid out by hand, and its unit is the
// one that the documents of that release describe.
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from '../support/run.ts';

/** Its release, and the commit of it. */
export const FORMER = { version: '0.4.0', commit: '0dba6576' } as const;

const UNIT = `[Unit]
Description=cnpd
After=frr.service
[Service]
ExecStart=/usr/bin/cnpd -c /etc/cnpd/cnpd.yaml
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
[Install]
WantedBy=multi-user.target
`;

/** Builds that release with the packages of this one. @returns the path of the package */
export function formerPackage(folder: string): string {
  const deb = join(folder, `cnpd_${FORMER.version}.deb`);
  if (existsSync(deb)) return deb;
  const tree = join(folder, 'former');
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  run('bash', '-euc', `git archive ${FORMER.commit} | tar -x -C '${tree}'`);
  symlinkSync(resolve('node_modules'), join(tree, 'node_modules'));
  // esbuild takes the folder in which it is started for that of the sources.
  run('bash', '-euc', `cd '${tree}' && node src/setup/build.mjs`);
  const root = join(folder, 'former-root');
  rmSync(root, { recursive: true, force: true });
  const lib = join(root, 'usr/lib/cnpd');
  for (const part of ['package.json', 'dist']) cpSync(join(tree, part), join(lib, part), { recursive: true });
  for (const part of ['koffi', '@koromix'])
    cpSync(join('node_modules', part), join(lib, 'node_modules', part), { recursive: true });
  mkdirSync(join(root, 'usr/bin'));
  for (const name of ['cnpd', 'cnpctl']) symlinkSync(`../lib/cnpd/dist/${name}.js`, join(root, 'usr/bin', name));
  mkdirSync(join(root, 'usr/lib/systemd/system'), { recursive: true });
  writeFileSync(join(root, 'usr/lib/systemd/system/cnpd.service'), UNIT);
  mkdirSync(join(root, 'DEBIAN'));
  writeFileSync(
    join(root, 'DEBIAN/control'),
    [
      'Package: cnpd',
      `Version: ${FORMER.version}`,
      `Architecture: ${run('dpkg', '--print-architecture')}`,
      'Maintainer: The cnpd project <cnpd@cnpd.invalid>',
      'Depends: nodejs (>= 20.19), libbpf1',
      'Description: cnpd',
      '',
    ].join('\n'),
  );
  run('dpkg-deb', '--root-owner-group', '-Zgzip', '-b', root, deb);
  for (const made of [tree, root]) rmSync(made, { recursive: true });
  return deb;
}
