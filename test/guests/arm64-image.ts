// A guest of Debian 13 for arm64: its kernel, its Node.js and libbpf, and cnpd as the Debian package lays it out.
// Compiled programs and bundles are of no machine: only koffi's shared object is another one.
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../support/run.ts';
import { DebianSuite } from './debian-suite.ts';
import { type GuestImage, firstProcess, installPackages, kernelOf, makeInitialRamDisk, unpackKernel } from './image.ts';

const REPOSITORY = new URL('../..', import.meta.url).pathname;
const SUITE = 'trixie';
/** Of these, cnpd needs nodejs and libbpf1; the others are the guest's. */
const PACKAGES = ['nodejs', 'libbpf1', 'iproute2', 'procps', 'busybox-static', 'bash', 'coreutils', 'mount'];
const MOUNT_POINTS = ['dev', 'mnt', 'proc', 'run', 'sys', 'tmp'];
const FIRST = '/guest.sh';
/** In the guest. */
export const CNPD = '/usr/lib/cnpd';

/** Makes the image in `folder`; packages and kernel once. @throws Error that names what cannot be had */
export function prepareArm64Image(folder: string, modules: readonly string[]): GuestImage {
  installPackages({
    'qemu-system-arm': '/usr/bin/qemu-system-aarch64',
    'busybox-static': '/usr/bin/busybox',
  });
  const suite = (): DebianSuite => new DebianSuite(folder, SUITE, 'arm64');
  const version = unpackKernel(folder, kernelOf(suite, 'linux-image-arm64'));
  const root = join(folder, 'root');
  if (!existsSync(root)) {
    const partial = join(folder, 'root.partial');
    rmSync(partial, { recursive: true, force: true });
    suite().unpackWhole(PACKAGES, partial);
    for (const name of MOUNT_POINTS) mkdirSync(join(partial, name), { recursive: true });
    addKoffi(join(partial, CNPD, 'node_modules'), folder);
    renameSync(partial, root);
  }
  cpSync(join(REPOSITORY, 'package.json'), join(root, CNPD, 'package.json'));
  rmSync(join(root, CNPD, 'dist'), { recursive: true, force: true });
  cpSync(join(REPOSITORY, 'dist'), join(root, CNPD, 'dist'), { recursive: true });
  writeFileSync(join(root, FIRST), firstProcess(''), { mode: 0o755 });
  const initialRamDisk = join(folder, `initramfs-${version}.gz`);
  const busybox = join(root, 'usr/bin/busybox');
  makeInitialRamDisk(folder, version, initialRamDisk, { names: modules, first: FIRST, busybox });
  return { version, initialRamDisk, kernel: join(folder, 'kernel', 'boot', `vmlinuz-${version}`), arm64: { root } };
}

/** This repository's version of it. */
function addKoffi(target: string, folder: string): void {
  const koffi = join(REPOSITORY, 'node_modules', 'koffi');
  const { version } = JSON.parse(readFileSync(join(koffi, 'package.json'), 'utf8')) as { version: string };
  cpSync(koffi, join(target, 'koffi'), { recursive: true });
  const build = join(target, '@koromix', 'koffi-linux-arm64');
  mkdirSync(build, { recursive: true });
  const name = `@koromix/koffi-linux-arm64@${version}`;
  const archive = join(folder, run('npm', 'pack', '--silent', '--pack-destination', folder, name));
  run('tar', '-xzf', archive, '--strip-components=1', '-C', build);
  rmSync(archive);
}
