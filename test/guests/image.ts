// A Linux kernel and an initial RAM disk for guests. Debian's own kernel is unpacked into a folder and not installed.
// The guests mount this machine's root read-only, so they need no disk of their own.
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DebianSuite } from './debian-suite.ts';

/** Package → a file that proves that it is installed. */
type Packages = Readonly<Record<string, string>>;
const PACKAGES: Packages = {
  'qemu-system-x86': '/usr/bin/qemu-system-x86_64',
  'busybox-static': '/usr/bin/busybox',
  kmod: '/usr/sbin/modinfo',
};
/** The guest's devices and its root. */
const MODULES = ['virtio_pci', '9pnet_virtio', '9p'] as const;
const MODULE_FOLDERS =
  'kernel/net kernel/crypto kernel/lib kernel/fs kernel/drivers/infiniband kernel/drivers/virtio kernel/drivers/net ' +
  'kernel/arch/x86/crypto';

/** Somebody's own, as Debian's packages and `make modules_install` lay it out. */
export interface GivenKernel {
  /** Folder of boot/vmlinuz-VERSION and, if the kernel has modules, lib/modules/VERSION. */
  readonly at: string;
}

/**
 * Of Debian 12: the newest backported one, whose SoftRoCE serves READ requests too, or the one of the release. Or the
 * one of Debian 11, or none of Debian's.
 */
export type GuestKernel = 'backported' | 'stock' | 'former' | GivenKernel;

/** Memory of the guest's own, over what this machine has there. */
const OWN_FOLDERS = ['/tmp', '/run', '/mnt', '/dev/shm'];

/** What a suite's guests need besides. */
export interface GuestNeeds {
  /** Default: the backported one, and the stock one where Debian has no other. Another kernel needs another folder. */
  readonly kernel?: GuestKernel;
  readonly packages?: Packages;
  /** Folders that are others where its qemu runs. */
  readonly hidden?: readonly string[];
  /** In the order in which they are loaded. */
  readonly modules: readonly string[];
  /** Bash that the guest runs before it is ready. */
  readonly begin?: string;
}

export interface GuestImage {
  readonly kernel: string;
  readonly initialRamDisk: string;
  readonly version: string;
  /** Absent: this machine's. */
  readonly arm64?: {
    /** Its root. */
    readonly root: string;
  };
}

function run(command: string, ...args: string[]): string {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 << 20 });
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${result.error?.message ?? result.stderr}`);
  return result.stdout;
}

const shell = (script: string): string => run('bash', '-euc', script);

/** Installs what is missing. */
export function installPackages(packages: Packages): void {
  const missing = Object.entries(packages).filter(([, file]) => !existsSync(file));
  if (missing.length === 0) return;
  run('apt-get', 'update', '-qq');
  shell(`DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \\
    ${missing.map(([name]) => name).join(' ')} >/dev/null`);
}

/** Installs what is missing and makes the image in `folder`, once. @throws Error that names the failed command */
export function prepareGuestImage(folder: string, needs: GuestNeeds): GuestImage {
  const elsewhere = [...OWN_FOLDERS, ...(needs.hidden ?? [])];
  if (elsewhere.some((own) => `${folder}/`.startsWith(`${own}/`)))
    throw new Error(`a guest does not see ${folder}: it has ${elsewhere.join(', ')} of its own. Move the repository`);
  const kernel = needs.kernel ?? 'backported';
  // It may have been built anew since.
  if (typeof kernel === 'object') rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  installPackages({ ...PACKAGES, ...needs.packages });
  const version = unpackKernel(folder, sourceOf(kernel, folder));
  // Another list of modules needs another one.
  const modules = createHash('sha256').update(needs.modules.join()).digest('hex').slice(0, 8);
  const initialRamDisk = join(folder, `initramfs-${version}-${modules}.gz`);
  const first = join(folder, 'guest.sh');
  if (!existsSync(initialRamDisk)) makeInitialRamDisk(folder, version, initialRamDisk, { names: needs.modules, first });
  writeFileSync(first, firstProcess(needs.begin ?? ''), { mode: 0o755 });
  return { version, initialRamDisk, kernel: join(folder, 'kernel', 'boot', `vmlinuz-${version}`) };
}

function sourceOf(kernel: GuestKernel, folder: string): (target: string) => string {
  if (typeof kernel === 'object') return givenKernel(kernel);
  return kernel === 'former'
    ? kernelOf(() => new DebianSuite(folder, 'bullseye', 'amd64'), 'linux-image-amd64')
    : ownKernel(folder, kernel);
}

function kernelPackage(kernel: 'backported' | 'stock'): string {
  const backported = run('apt-cache', 'search', '--names-only', '^linux-image-6[.]12[.][0-9]+[+]deb12-amd64$')
    .split('\n')
    .map((line) => line.split(' ')[0]!)
    .filter((name) => name !== '')
    .sort((a, b) => Number(a.match(/6\.12\.(\d+)/)![1]) - Number(b.match(/6\.12\.(\d+)/)![1]));
  const stock = run('apt-cache', 'depends', 'linux-image-amd64').match(/Depends: (linux-image-\S+)/)?.[1];
  const name = (kernel === 'backported' ? backported.at(-1) : undefined) ?? stock;
  if (!name) throw new Error('Debian has no linux-image-amd64 here: run apt-get update');
  return name;
}

/** Unpacks a kernel into `folder`, once. @param into unpacks it and returns its version */
export function unpackKernel(folder: string, into: (target: string) => string): string {
  const root = join(folder, 'kernel');
  const found = existsSync(join(root, 'boot')) && readdirSync(join(root, 'boot')).find((f) => f.startsWith('vmlinuz-'));
  if (found) return found.slice('vmlinuz-'.length);
  const partial = join(folder, 'kernel.partial');
  rmSync(partial, { recursive: true, force: true });
  const version = into(partial);
  unpackModules(partial, version);
  shell(`mv ${partial} ${root}`);
  return version;
}

/** The kernel of another suite or architecture. */
export const kernelOf =
  (suite: () => DebianSuite, metapackage: string) =>
  (target: string): string => {
    const packages = suite();
    const name = packages.behind(metapackage);
    packages.unpackAlone(name, target);
    return name.slice('linux-image-'.length);
  };

/** @throws Error when there is not exactly one */
export function versionOf({ at }: GivenKernel): string {
  const boot = join(at, 'boot');
  const files = existsSync(boot) ? readdirSync(boot).filter((name) => name.startsWith('vmlinuz-')) : [];
  if (files.length !== 1) throw new Error(`${boot} has ${files.length} files vmlinuz-VERSION, where one is expected`);
  return files[0]!.slice('vmlinuz-'.length);
}

const givenKernel =
  (kernel: GivenKernel) =>
  (target: string): string => {
    const version = versionOf(kernel);
    mkdirSync(join(target, 'boot'), { recursive: true });
    const name = join('boot', `vmlinuz-${version}`);
    cpSync(join(kernel.at, name), join(target, name));
    const modules = join('lib', 'modules', version);
    mkdirSync(join(target, modules), { recursive: true });
    const found = ['', 'usr'].map((one) => join(kernel.at, one, modules)).find((one) => existsSync(one));
    if (found) cpSync(found, join(target, modules), { recursive: true, verbatimSymlinks: true });
    return version;
  };

const ownKernel =
  (folder: string, kernel: 'backported' | 'stock') =>
  (target: string): string => {
    const name = kernelPackage(kernel);
    shell(`cd ${folder} && apt-get download -qq ${name} && dpkg-deb -x ${name}_*.deb ${target} && rm ${name}_*.deb`);
    return name.slice('linux-image-'.length);
  };

function unpackModules(root: string, version: string): void {
  // Since Debian 13 a kernel's files are in /usr.
  shell(`cd ${root} && { test -e lib || ln -s usr/lib lib; } && cd lib/modules/${version} && for folder in ${MODULE_FOLDERS}; do
      test ! -e $folder || find $folder -name '*.ko.xz' -print0 | xargs -0r unxz
    done; busybox depmod -b ${root} ${version}`);
}

/** Modules in an order in which each comes behind those that it needs. */
function moduleFiles(modules: string, names: readonly string[]): string[] {
  const needs = new Map(
    readFileSync(join(modules, 'modules.dep'), 'utf8')
      .split('\n')
      .map((line) => line.split(': '))
      .map(([file = '', list = '']) => [file.replace(/:$/, ''), list.split(' ').filter((one) => one !== '')] as const),
  );
  const ordered = new Set<string>();
  const add = (file: string): void => {
    for (const needed of needs.get(file) ?? []) if (!ordered.has(needed)) add(needed);
    ordered.add(file);
  };
  for (const name of [...MODULES, ...names]) {
    const file = [...needs.keys()].find((one) => one.endsWith(`/${name}.ko`));
    if (file) add(file); // what is missing is built in
  }
  return [...ordered];
}

interface InitialRamDisk {
  readonly names: readonly string[];
  /** What the guest runs first, in its root. */
  readonly first: string;
  readonly busybox?: string;
}

/** Of the kernel that is unpacked in `folder`. */
export function makeInitialRamDisk(
  folder: string,
  version: string,
  target: string,
  { names, first, busybox = '/usr/bin/busybox' }: InitialRamDisk,
): void {
  const modules = join(folder, 'kernel', 'lib', 'modules', version);
  const files = moduleFiles(modules, names);
  const root = join(folder, 'initramfs');
  rmSync(root, { recursive: true, force: true });
  for (const name of ['bin', 'proc', 'sys', 'dev', 'new', 'm']) mkdirSync(join(root, name), { recursive: true });
  shell(
    `cp ${busybox} ${root}/bin && cd ${root}/bin && for a in sh mount insmod switch_root; do ln -s busybox $a; done`,
  );
  if (files.length > 0) shell(`cd ${modules} && cp ${files.join(' ')} ${root}/m/`);
  const inserts = files.map((file) => `insmod /m/${file.split('/').at(-1)} 2>/dev/null`);
  writeFileSync(
    join(root, 'init'),
    `#!/bin/sh
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev
${inserts.join('\n')}
mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144,cache=loose host /new
exec switch_root /new ${first}
`,
    { mode: 0o755 },
  );
  shell(
    `cd ${root} && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1 > ${target}.partial && mv ${target}.partial ${target}`,
  );
}

/** The guest's first process: it runs the scripts that are put into its control folder, which is /mnt. */
export const firstProcess = (begin: string): string => `#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t devtmpfs d /dev
for folder in ${OWN_FOLDERS.join(' ')}; do mkdir -p $folder; mount -t tmpfs t $folder; done
mount -t proc p /proc; mount -t sysfs s /sys
mount -t 9p -o trans=virtio,version=9p2000.L ctl /mnt
ip link set lo up
sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
sysctl -qw net.ipv6.conf.all.accept_ra=0 net.ipv6.conf.default.accept_ra=0
${begin}
touch /mnt/ready
while :; do
  if [ -f /mnt/command ]; then
    number=$(cat /mnt/command); mv /mnt/command /mnt/running
    bash /mnt/script.$number >/mnt/out.$number 2>&1 </dev/null; echo $? >/mnt/status.tmp
    mv /mnt/status.tmp /mnt/status.$number
  fi
  sleep 0.1
done
`;
