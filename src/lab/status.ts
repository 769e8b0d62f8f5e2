// The present state of a lab: read from the kernel, not remembered.
import { existsSync } from 'node:fs';
import { commandLine, isAlive, namespaceOf, processesIn } from './processes.ts';
import { run } from './run.ts';
import { type NodeState, netnsPath, readState } from './state.ts';

interface NodeStatus {
  readonly name: string;
  readonly netns: string;
  readonly present: boolean;
  readonly interfaces: readonly {
    readonly name: string;
    readonly state: string;
    readonly mtu: number;
    readonly addresses: readonly string[];
  }[];
  readonly processes: readonly { readonly pid: number; readonly command: string }[];
}

interface LabStatus {
  readonly lab: string;
  readonly file: string;
  /** `partial`: an `up` that did not end, or something has gone since. */
  readonly status: 'up' | 'partial' | 'down';
  readonly problems: readonly string[];
  readonly nodes: readonly NodeStatus[];
}

interface IpLink {
  readonly ifname: string;
  readonly operstate: string;
  readonly mtu: number;
  readonly addr_info: readonly { readonly local: string; readonly prefixlen: number; readonly scope: string }[];
}

export async function labStatus(lab: string): Promise<LabStatus> {
  const state = readState(lab);
  if (!state) return { lab, file: '', status: 'down', problems: [], nodes: [] };
  const nodes = await Promise.all(state.nodes.map(nodeStatus));
  const problems = [
    ...(state.status === 'starting' ? ['`up` has not ended: it is still at work, or was killed'] : []),
    ...nodes.filter((n) => !n.present).map((n) => `the namespace of ${n.name} is gone`),
    ...state.nodes.filter(({ holder }) => holder && !isAlive(holder)).map((n) => `the mounts of ${n.name} are gone`),
    ...state.helpers.filter((h) => !isAlive(h)).map((h) => `${h.role} (pid ${h.pid}) is gone`),
    ...state.nodes.flatMap((n, i) =>
      n.interfaces
        .filter((name) => !nodes[i]!.interfaces.some((link) => link.name === name))
        .map((name) => `${n.name} has lost ${name}`),
    ),
  ];
  return { lab, file: state.file, status: problems.length > 0 ? 'partial' : 'up', problems, nodes };
}

async function nodeStatus(node: NodeState): Promise<NodeStatus> {
  const path = netnsPath(node.container);
  const common = { name: node.name, netns: node.container };
  if (!existsSync(path)) return { ...common, present: false, interfaces: [], processes: [] };
  const links = await run(['ip', '-n', node.container, '-j', 'address', 'show']);
  const interfaces = links.code === 0 ? (JSON.parse(links.stdout || '[]') as IpLink[]) : [];
  return {
    ...common,
    present: links.code === 0,
    interfaces: interfaces.map((l) => ({
      name: l.ifname,
      state: l.operstate,
      mtu: l.mtu,
      addresses: l.addr_info.filter((a) => a.scope === 'global').map((a) => `${a.local}/${a.prefixlen}`),
    })),
    processes: processesIn(new Set([namespaceOf('net', path)!]))
      .filter(({ pid }) => pid !== node.holder?.pid)
      .map(({ pid }) => ({ pid, command: commandLine(pid) })),
  };
}

export function statusTable(lab: LabStatus): string {
  const lines = [`${lab.lab}: ${lab.status}${lab.file && ` (${lab.file})`}`, ...lab.problems.map((p) => `  ! ${p}`)];
  for (const node of lab.nodes) {
    lines.push(`  ${node.name}  netns ${node.netns}${node.present ? '' : '  GONE'}`);
    for (const l of node.interfaces)
      lines.push(`    ${l.name.padEnd(12)} ${l.state.padEnd(8)} mtu ${l.mtu}  ${l.addresses.join(' ')}`.trimEnd());
    for (const p of node.processes) lines.push(`    pid ${String(p.pid).padEnd(8)} ${p.command.slice(0, 100)}`);
  }
  return `${lines.join('\n')}\n`;
}
