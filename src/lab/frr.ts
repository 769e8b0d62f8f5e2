// FRR in a node, as its init script would start it: the daemons that /etc/frr/daemons names, then the integrated
// configuration. watchfrr is not run: a daemon that dies in a lab should be seen, not restarted. Pure: it only writes
// the script.
import { splitWords, quoteWord as q } from './shell.ts';

// FRR's own order (frrcommon.sh): zebra first.
const ORDER = [
  'zebra',
  'mgmtd',
  'staticd',
  'bgpd',
  'ripd',
  'ripngd',
  'ospfd',
  'ospf6d',
  'isisd',
  'babeld',
  'pimd',
  'pim6d',
  'ldpd',
  'nhrpd',
  'eigrpd',
  'sharpd',
  'pbrd',
  'bfdd',
  'fabricd',
  'vrrpd',
  'pathd',
];
/** Started whatever the file says. */
const ALWAYS = new Set(['zebra', 'staticd', 'mgmtd']);
/** They exist only since FRR 9 and 10: an older package has no such program. */
const OPTIONAL = new Set(['mgmtd']);

interface FrrDaemon {
  readonly name: string;
  readonly options: readonly string[];
  readonly optional: boolean;
}

interface FrrPlan {
  readonly daemons: readonly FrrDaemon[];
  readonly loadConfiguration: boolean;
}

/**
 * The root of another FRR than this machine's, as test/frr10/build.sh makes it: CNPD_FRR, for nodes whose name matches
 * CNPD_FRR_NODES (default: all). Undefined: this machine's.
 */
export function otherFrr(node: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { CNPD_FRR: root, CNPD_FRR_NODES: nodes = '' } = env;
  return root !== undefined && root !== '' && new RegExp(nodes).test(node) ? root : undefined;
}

/** Commands that put another FRR over this machine's, in a mount namespace. */
export const frrMounts = (root: string): string[] =>
  [
    [`${root}/started`, '/usr/lib/frr'],
    [`${root}/started/vtysh`, '/usr/bin/vtysh'],
    [`${root}/usr/share/yang`, '/usr/share/yang'],
  ].map(([source, target]) => `mount -n --bind ${q(source!)} ${target!}`);

/** Reads Debian's `daemons` file, which is a list of shell assignments. Unknown keys are FRR's own business. */
export function parseDaemons(text: string): FrrPlan {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^\s*([A-Za-z0-9_]+)=(.*)$/.exec(line);
    if (match) values.set(match[1]!, (splitWords(match[2]!.replace(/\s+#.*$/, '')) ?? []).join(' '));
  }
  const words = (key: string): string[] => splitWords(values.get(key) ?? '') ?? [];
  const profile = values.get('frr_profile');
  const enabled = ORDER.filter((name) => ALWAYS.has(name) || values.get(name) === 'yes');
  return {
    loadConfiguration: values.get('vtysh_enable') !== 'no',
    daemons: enabled.map((name) => ({
      name,
      optional: OPTIONAL.has(name),
      options: [...(profile ? ['-F', profile] : []), ...words(`${name}_options`), ...words('frr_global_options')],
    })),
  };
}

/** To be run by /bin/sh in the node. */
export function frrScript(plan: FrrPlan): string {
  const start = plan.daemons.map(({ name, options, optional }) => {
    const program = `/usr/lib/frr/${name}`;
    const command = [program, '-d', ...options.map(q)].join(' ');
    return optional ? `if [ -x ${program} ]; then ${command}; fi` : command;
  });
  return [
    'set -e',
    ...start,
    ...(plan.loadConfiguration ? ['if [ -e /etc/frr/frr.conf ]; then vtysh -b; fi'] : []),
  ].join('\n');
}
