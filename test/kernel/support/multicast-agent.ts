// The dataplane of one router with End.MT groups, in a namespace, on a clock that the test moves.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountBpffs, unmountBpffs } from '../../../src/kernel/bpf/bpffs.ts';
import { interfaceIndex } from '../../../src/kernel/ffi/libc.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { address, formatAddress } from '../../../src/model/address.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { silentLog } from '../../../src/model/log.ts';
import { ManualWork } from '../../../src/model/work.fixture.ts';
import { type DesiredState, NO_SENDER_PROXIES } from '../../../src/plan/desired.ts';
import type {
  HeadEndPlan,
  MulticastBranchPlan,
  MulticastGroupPlan,
  MulticastListPlan,
  MulticastPlan,
} from '../../../src/plan/multicast-plan.ts';
import { Dataplane } from '../../../src/reconcile/dataplane.ts';
import { ip } from '../../support/netns.ts';

export const GROUP = '2001:db8:99::1';
export const EDGE_SID = address('fc00:1::200');
export const ROOT_SID = address('fc00:1::100');
export const CHILD_SIDS = [address('fc00:2::200'), address('fc00:3::100')];
export const digest = (n: number): Uint8Array => new Uint8Array(8).fill(n);
export const receiver = (n: number): MulticastBranchPlan => ({
  kind: 'receiver',
  address: address(`2001:db8:b::${n}`),
  qpn: 100 + n,
  psnDelta: n,
});
const children: readonly MulticastBranchPlan[] = [
  { kind: 'local' },
  ...CHILD_SIDS.map((sid) => ({ kind: 'child' as const, sid })),
];

export const group = (id = GROUP, change: Partial<MulticastGroupPlan> = {}): MulticastGroupPlan => ({
  ...{
    id,
    proxyAddress: address(id),
    designatedQpn: 17,
    edgeSid: EDGE_SID,
    replicationSid: ROOT_SID,
    rootSid: ROOT_SID,
  },
  ...{ source: { address: address('2001:db8:a::2'), qpn: 99 }, cnpWindowNs: 50_000, keepSource: false },
  ...{ copiesPerSecond: 0, copiesBurst: 64 },
  ...change,
});
/** This router's parts of a tree with these receivers of its own: `n` names members and tree. */
export const lists = (n: number, receivers: readonly MulticastBranchPlan[], id = GROUP): MulticastListPlan[] => [
  {
    ...{ id: `edge ${id} ${n}`, group: id, role: 'edge', digest: digest(n), branches: receivers, parent: null },
  },
  {
    ...{ id: `tree ${id} ${n}`, group: id, role: 'branching', digest: digest(0x80 + n), branches: children },
    parent: null,
  },
];
export const headEnd = (n: number, id = GROUP): HeadEndPlan => ({
  ...{ id, proxyAddress: address(id), replicationSid: ROOT_SID, mtu: 1500, endMtTlvs: [] },
  ...{ membersDigest: digest(n), treeDigest: digest(0x80 + n) },
});

export class MulticastAgent {
  readonly ns = Netns.create();
  readonly directory = mkdtempSync(join(tmpdir(), 't-multicast-'));
  readonly bpfDir = join(this.directory, 'bpf');
  readonly linksDir = join(this.bpfDir, 'links');
  readonly counted = new Map<string, number>();
  clock = manualClock(1000);
  readonly #work = new ManualWork();
  dataplane: Dataplane;

  constructor() {
    mountBpffs(this.bpfDir);
    mkdirSync(this.linksDir);
    ip(this.ns, 'link add t-mc-core type veth peer name t-mc-far');
    ip(this.ns, 'link set lo up');
    this.dataplane = this.#start();
  }

  #start(objectDir = new URL('../../../dist/bpf', import.meta.url).pathname): Dataplane {
    const count = (name: string, by = 1): void => void this.counted.set(name, (this.counted.get(name) ?? 0) + by);
    const dependencies = { clock: this.clock, work: this.#work, log: silentLog, count };
    return new Dataplane({ bpfDir: this.bpfDir, linksDir: this.linksDir, objectDir }, dependencies);
  }

  plan(change: Partial<MulticastPlan> = {}): MulticastPlan {
    const port = { interface: 't-mc-core', ifindex: this.ns.run(() => interfaceIndex('t-mc-core')), isCore: true };
    return {
      ...{ endMtTlv: 124, treeTlv: 125, settleMs: 500, stallMs: 2000, dropStalled: false },
      ...{ fastCnpOption: 0x9e, fastCnpIoamOption: 0xbe, notifiers: [] },
      sids: [
        { id: 'edge', sid: EDGE_SID, kind: 'edge' },
        { id: 'replication', sid: ROOT_SID, kind: 'replication' },
      ],
      routers: [EDGE_SID, ROOT_SID, ...CHILD_SIDS].map((sid, i) => ({ id: `router ${i}`, sid })),
      ports: [{ id: 't-mc-core', ...port }],
      groups: [group()],
      lists: lists(1, [receiver(1), receiver(2)]),
      discards: [],
      headEnds: [headEnd(1)],
      ...change,
    };
  }

  apply(multicast: MulticastPlan | undefined): void {
    const groupSids = [EDGE_SID, ROOT_SID].map(formatAddress);
    const desired = {
      ...{ ports: [], senderProxies: NO_SENDER_PROXIES, senderPolicies: [], senderCapabilities: [], endConSids: [] },
      ...{ guards: [], problems: [], groupSids, multicast },
    } as unknown as DesiredState;
    this.ns.run(() => this.dataplane.apply(desired));
  }

  advance(ms: number): void {
    this.ns.run(() => {
      this.clock.advance(ms);
      this.#work.settle();
    });
  }

  /** As after kill -9: nothing is closed in order. @param objectDir where the compiled programs are */
  restart(objectDir?: string): void {
    this.dataplane.close();
    this.clock = manualClock(1000);
    this.dataplane = this.ns.run(() => this.#start(objectDir));
  }

  close(): void {
    this.dataplane.close();
    unmountBpffs(this.bpfDir);
    this.ns.close();
    rmSync(this.directory, { recursive: true });
  }
}
