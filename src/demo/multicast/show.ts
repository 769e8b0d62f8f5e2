// `npm run demo -- multicast`: the same bytes for five receivers, by five connections and by one to their group.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab } from '../../lab/lab.ts';
import type { Evidence } from '../results.ts';
import { type Row, until, waitForRoutes, waitForRows } from '../routers.ts';
import type { Show, Stage } from '../show.ts';
import { evaluateMulticast } from './evaluate.ts';
import { multicastHtml, multicastTable } from './report.ts';
import type { MulticastReport, MulticastResult } from './results.ts';
import { EDGES, GROUP, MULTICAST, RECEIVERS, ROOT, ROUTERS, ROUTES, RUNS, SOURCE, TRANSFER } from './scene.ts';
import { makeMulticastRun } from './traffic.ts';
import { multicastVerdict } from './verdict.ts';

/** All members, each in force: the source's row and the receivers'. */
function members(rows: readonly Row[]): readonly Row[] | undefined {
  const found = [SOURCE, ...RECEIVERS].map(({ address }) =>
    rows.find(
      (row) => row['group'] === GROUP.proxyAddress && row['address'] === address && row['status'] === 'in force',
    ),
  );
  const all = found.filter((row) => row !== undefined);
  return all.length === found.length && all[0]!['role'] === 'source' ? all : undefined;
}

/** Waits until the root and every edge know all members. @throws Error when they do not */
export async function waitForMembers(lab: Lab, signal: AbortSignal): Promise<Evidence> {
  const nodes = [ROOT, ...Object.keys(EDGES)];
  const [atRoot] = await Promise.all(nodes.map((node) => waitForRows(lab, node, ['groups', GROUP.proxyAddress, 'members'], members, signal)));
  const carrier = String(atRoot!.at(-1)!['carrier']);
  const edges = Object.entries(EDGES).map(([edge, hosts]) => `${edge} for ${hosts.join(' and ')}`);
  const sentence =
    `root and edges have learned the members of ${GROUP.proxyAddress} over ${carrier}: ` +
    `${ROOT} is the root, copies are made by ${edges.join(', ')}`;
  return { sentences: [sentence], failures: [] };
}

/** Waits until the root's kernel sends what is for the Proxy Address into the tree. @throws Error when it does not */
export async function waitForTree(lab: Lab, signal: AbortSignal): Promise<void> {
  await until(`the route from ${ROOT} into the tree of ${GROUP.proxyAddress}`, signal, async () => {
    const { stdout } = await lab.exec(ROOT, ['ip', '-6', 'route', 'show', 'table', 'all', GROUP.proxyAddress]);
    return stdout.includes('encap seg6') ? {} : `${ROOT} has none: ${stdout.trim() || 'no route at all'}`;
  });
}

async function play(lab: Lab, { signal, say, output, startedAt }: Stage): Promise<readonly string[]> {
  await waitForRoutes(lab, { routes: ROUTES }, signal);
  say('the routers have their routes');
  const learned = await waitForMembers(lab, signal);
  for (const sentence of learned.sentences) say(sentence);
  const packets = Math.ceil(TRANSFER.bytes / TRANSFER.payloadSize);
  const runs: MulticastResult[] = [];
  for (const [i, run] of RUNS.entries()) {
    if (run.name !== 'unicast') await waitForTree(lab, signal);
    say(`run ${i + 1} of ${RUNS.length}: ${run.title}`);
    const result = evaluateMulticast(run, packets, await makeMulticastRun(lab, run, signal));
    say(
      `  ${run.name}: ${result.completionMs === null ? 'not completed' : `completed in ${result.completionMs.toFixed(0)} ms`}, ` +
        `${(result.sourceBytes / 1e6).toFixed(2)} MB on the source's link, ${result.acks} ACKs at the source`,
    );
    runs.push(result);
  }
  const victim = RUNS.find(({ loss }) => loss)!.loss!.receiver;
  const failures = [...learned.failures, ...multicastVerdict(runs, victim)];
  const report: MulticastReport = {
    version: 1,
    scene: MULTICAST.name,
    title: MULTICAST.title,
    path: MULTICAST.path,
    startedAt: startedAt.toISOString(),
    ok: failures.length === 0,
    failures,
    evidence: learned.sentences,
    bytes: TRANSFER.bytes,
    runs,
  };
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, 'report.json'), `${JSON.stringify(report)}\n`);
  writeFileSync(join(output, 'report.html'), multicastHtml(report));
  process.stdout.write(`\n${multicastTable(runs)}\n`);
  return failures;
}

export const multicast: Show = { ...MULTICAST, routers: ROUTERS, play };
