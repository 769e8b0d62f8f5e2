// The script that turns a fresh pair of mount and UTS namespaces into a node: private directories over those of this
// machine, the binds of the topology, sysctls. Pure: it only writes the script. What a node writes stays in the node,
// because the directories that programs write to are overlays (upper layer in the lab's tmpfs), and /run is empty as in
// a container. /tmp, /home and /usr are the machine's own.
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { frrMounts } from './frr.ts';
import { quoteWord as q } from './shell.ts';
import type { Bind, NodeSpec } from './topology.ts';

const OVERLAYS = ['/etc', '/var', '/opt', '/usr/local', '/root'] as const;
/** Where the sources of binds are held, once /run is the node's own. */
const STAGE = '/run/.stage';
/** Never overlaid: they are not file systems of their own right, or are already private. */
const SPECIAL = ['/dev', '/proc', '/sys', '/run'] as const;

export interface Paths {
  readonly exists: (path: string) => boolean;
  readonly isDirectory: (path: string) => boolean;
}

const topOf = (path: string): string => `/${path.split('/')[1] ?? ''}`;
const beneath = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`);

/** Why a bind cannot be made, or undefined. */
export function bindProblem(bind: Bind, paths: Paths): string | undefined {
  if (!paths.exists(bind.source)) return `the source ${bind.source} does not exist`;
  const top = topOf(bind.target);
  if (bind.target === '/') return 'the root directory cannot be replaced';
  if (top !== '/run' && (SPECIAL as readonly string[]).includes(top) && !paths.exists(bind.target))
    return `${bind.target} does not exist and cannot be created`;
  if (!paths.exists(top))
    return (
      `${top} does not exist on this machine and cannot be created without touching it: ` +
      'bind beneath a directory that exists'
    );
  return undefined;
}

/** Directories that become overlays: the usual ones, and whichever hold a bind target that does not exist yet. */
export function overlaysFor(binds: readonly Bind[], paths: Paths): string[] {
  const present = new Set<string>(OVERLAYS.filter((d) => paths.exists(d)));
  for (const { target } of binds) {
    const top = topOf(target);
    if (
      paths.exists(target) ||
      (SPECIAL as readonly string[]).includes(top) ||
      [...present].some((d) => beneath(target, d))
    )
      continue;
    present.add(top);
  }
  const list = [...present];
  return list.filter((d) => !list.some((other) => other !== d && beneath(d, other)));
}

function bindLines(bind: Bind, index: number, paths: Paths): string[] {
  const directory = (path: string): string => `[ -d ${q(path)} ] || mkdir -p ${q(path)}`;
  const create = paths.isDirectory(bind.source)
    ? directory(bind.target)
    : `${directory(dirname(bind.target))}; [ -e ${q(bind.target)} ] || : > ${q(bind.target)}`;
  const lines = [create, `mount -n --bind ${STAGE}/${index} ${q(bind.target)}`];
  if (bind.readOnly) lines.push(`mount -n -o remount,bind,ro ${q(bind.target)}`);
  return lines;
}

/** One program for all of them, and none for nothing: a lab has many nodes, and each start takes milliseconds. */
const together = (command: string, words: readonly string[]): string[] =>
  words.length === 0 ? [] : [[command, ...words.map(q)].join(' ')];

/** A tmpfs that becomes /run, with the sources of the binds in it, and the overlays. */
function mountLines(node: NodeSpec, root: string, paths: Paths): string[] {
  const run = join(root, 'run');
  const overlays = overlaysFor(node.binds, paths).map((lower, i) => ({
    lower,
    upper: join(root, `upper${i}`),
    work: join(root, `work${i}`),
  }));
  const binds = node.binds.map(({ source }, i) => ({
    source,
    staged: join(run, '.stage', String(i)),
    isDirectory: paths.isDirectory(source),
  }));
  const stage = [join(run, '.stage'), ...binds.flatMap(({ isDirectory, staged }) => (isDirectory ? [staged] : []))];
  return [
    ...together('mkdir -p', [run, ...overlays.flatMap(({ upper, work }) => [upper, work])]),
    `mount -n -t tmpfs -o mode=755 cnpd-lab ${q(run)}`,
    ...together('mkdir -p', [join(run, 'lock'), ...stage]),
    // Sources are held open under another name before anything can hide them.
    ...binds.flatMap(({ source, staged, isDirectory }) => [
      ...(isDirectory ? [] : [`: > ${q(staged)}`]),
      `mount -n --bind ${q(source)} ${q(staged)}`,
    ]),
    ...overlays.map(
      ({ lower, upper, work }) =>
        `mount -n -t overlay cnpd-lab -o ${q(`lowerdir=${lower},upperdir=${upper},workdir=${work}`)} ${lower}`,
    ),
    `mount -n --move ${q(run)} /run`,
  ];
}

/**
 * The script runs as root inside the node's new namespaces.
 * @param directory of the lab, a private tmpfs
 * @param frr the root of another FRR than this machine's
 */
export function nodeScript(node: NodeSpec, directory: string, paths: Paths, frr?: string): string {
  const lines = [
    'set -eu',
    `hostname ${q(node.name)}`,
    // Other namespaces must not be kept alive by this one's copy of their mounts.
    'umount -n -l -R /run/netns 2>/dev/null || :',
    ...mountLines(node, join(directory, 'fs', node.name), paths),
    'mount -n -t sysfs sysfs /sys',
    // FRR's own directories: empty configuration, private sockets, owner as the package sets it.
    'if id frr >/dev/null 2>&1; then',
    '  mkdir -p /run/frr /var/log/frr /var/tmp/frr /etc/frr',
    '  mount -n -t tmpfs -o mode=755 cnpd-lab /etc/frr',
    "  echo 'service integrated-vtysh-config' > /etc/frr/vtysh.conf",
    '  chown frr:frr /run/frr /var/log/frr /var/tmp/frr /etc/frr',
    'fi',
    ...(frr === undefined ? [] : frrMounts(frr)),
    ...node.binds.flatMap((b, i) => bindLines(b, i, paths)),
    ...together(
      'umount -n',
      node.binds.map((_bind, i) => `${STAGE}/${i}`),
    ),
    `rm -r ${STAGE}`,
    ...together(
      'sysctl -q -w',
      Object.entries(node.sysctls).map(([key, value]) => `${key}=${value}`),
    ),
    'ip link set lo up',
  ];
  return `${lines.join('\n')}\n`;
}

export const machinePaths: Paths = {
  exists: existsSync,
  isDirectory: (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false,
};
