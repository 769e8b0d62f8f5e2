// The system calls of a cnpd that change the kernel's state, out of a trace by strace: of bpf(2), and of netlink.
// Requests in a network namespace of the agent's own, where it tries what the kernel can do, change nothing.

/** Options of strace for such a trace; the file's name follows. */
export const TRACE = ['strace', '-f', '-ttt', '-e', 'trace=bpf,sendto,sendmsg,unshare,setns,mount', '-o'] as const;

const CHANGES =
  /^(?:MAP_(?:CREATE|UPDATE|DELETE)\w*|MAP_LOOKUP_AND_DELETE\w*|MAP_FREEZE|PROG_(?:LOAD|ATTACH|DETACH|BIND_MAP)|LINK_(?:CREATE|UPDATE|DETACH)|OBJ_PIN|BTF_LOAD)$/;
/** After the time, the call. */
const LINE = /^\d+ +([\d.]+) (.*)$/;

export interface Call {
  /** Seconds since 1970. */
  readonly at: number;
  /** `bpf MAP_UPDATE_ELEM`, `netlink RTM_NEWROUTE`, `mount`. */
  readonly name: string;
}

function nameOf(call: string): string | undefined {
  const bpf = /^bpf\(BPF_(\w+)/.exec(call)?.[1];
  if (bpf !== undefined) return CHANGES.test(bpf) ? `bpf ${bpf}` : undefined;
  if (call.startsWith('mount(')) return 'mount';
  const message = /^send(?:to|msg)\(.*nlmsg_type=(RTM_(?:NEW|DEL|SET)\w+)/.exec(call)?.[1];
  return message === undefined ? undefined : `netlink ${message}`;
}

export function stateChanges(trace: string): Call[] {
  const calls: Call[] = [];
  for (const line of trace.split('\n')) {
    const [, at, call] = LINE.exec(line) ?? [];
    const name = call === undefined ? undefined : nameOf(call);
    if (name !== undefined) calls.push({ at: Number(at), name });
  }
  return calls;
}

/** `bpf MAP_UPDATE_ELEM 3, mount 1`; `none`. */
export function tally(calls: readonly Call[]): string {
  const counts = new Map<string, number>();
  for (const { name } of calls) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ') || 'none';
}
