// The scene containerlab/rdma-multicast for the bench: real FRR, a real cnpd at every router. Members come and go over
// the agents' own sockets, and what the agents have programmed is read from their pinned maps, both through the nodes'
// file systems.
import { join } from 'node:path';
import { BpfMap } from '../../../kernel/bpf/map.ts';
import { MULTICAST_MAPS } from '../../../kernel/dataplane/multicast.ts';
import { type Lab, labDown, labUp } from '../../../lab/lab.ts';
import { MULTICAST, ROUTERS, ROUTES } from '../../../demo/multicast/scene.ts';
import { waitForMembers } from '../../../demo/multicast/show.ts';
import { waitForRoutes } from '../../../demo/routers.ts';
import { GNMI_SOCKET, RUN_DIR, setSocketOf } from '../../../model/paths.ts';
import { type NorthboundClient, connectNorthbound } from '../../../northbound/client.ts';
import { type Bench, until } from '../bench.ts';

const LAB = 't-bench-mc';
const CNPCTL = '/opt/cnpd/dist/cnpctl.js';
const CONVERGED_MS = 60_000;

export interface MulticastAgent {
  readonly pid: number;
  /** On the socket that takes members. */
  readonly client: NorthboundClient;
  /** Lists that the programs can find. */
  readonly lists: BpfMap;
}

export interface MulticastLab {
  readonly lab: Lab;
  /** By node. */
  readonly agents: ReadonlyMap<string, MulticastAgent>;
}

async function agentOf(bench: Bench, lab: Lab, node: string): Promise<MulticastAgent> {
  // Its exit status says whether there are problems, such as hosts that send nothing yet.
  const { stdout } = await lab.exec(node, [CNPCTL, 'show', 'status', '-o', 'json']);
  const status = JSON.parse(stdout) as { pid: number };
  const root = `/proc/${status.pid}/root`;
  const client = connectNorthbound({ socket: join(root, setSocketOf(GNMI_SOCKET)), timeoutMs: 10_000 });
  const lists = BpfMap.openPinned(join(root, RUN_DIR, 'bpf', MULTICAST_MAPS.listIds));
  bench.finally(() => {
    client.close();
    lists.close();
  });
  return { pid: status.pid, client, lists };
}

/** Up and converged: every router knows the members of cnpd.yaml. Taken down when the figure ends. */
export async function multicastLab(bench: Bench): Promise<MulticastLab> {
  await labDown(LAB);
  bench.finally(() => labDown(LAB));
  const lab = await labUp(MULTICAST.file, { name: LAB, signal: bench.signal });
  await waitForRoutes(lab, { routes: ROUTES }, bench.signal);
  await waitForMembers(lab, bench.signal);
  const agents = new Map<string, MulticastAgent>();
  for (const node of ROUTERS) agents.set(node, await agentOf(bench, lab, node));
  return { lab, agents };
}

/** Until the root's kernel sends what is for this Proxy Address into a tree. */
export const treeOf = (bench: Bench, lab: Lab, root: string, proxy: string): Promise<void> =>
  until(
    `the route into the tree of ${proxy}`,
    async () =>
      (await lab.exec(root, ['ip', '-6', 'route', 'show', 'table', 'all', proxy])).stdout.includes('encap seg6'),
    bench.signal,
    CONVERGED_MS,
  );

/** The keys of a map, as text. */
export const keysOf = (map: BpfMap): Set<string> =>
  new Set([...map.keys()].map((key) => Buffer.from(key).toString('hex')));
