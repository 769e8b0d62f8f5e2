// `npm run bench`: the figures of docs/explanation/performance.md, each beside a reference measured in the same run.
// Prints a table, writes out/bench/report.json. A figure that falls short is printed as such and is no failure; exit
// status 1 says that something could not be measured, 2 wrong usage.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { type Figure, dist, runFigure } from './support/bench.ts';
import { bgpOrigination } from './figures/bgp-origination.ts';
import { bgpChanges, bgpPaths } from './figures/bgp-changes-and-paths.ts';
import { controlPackets } from './figures/control-packets.ts';
import { departureTimes } from './figures/departure-times.ts';
import { eventLoop } from './figures/event-loop.ts';
import { feedback } from './figures/feedback.ts';
import { heldFlows } from './figures/held-flows.ts';
import { sourceInstructions } from './figures/source-instructions.ts';
import { sourceLoad } from './figures/source-load.ts';
import { mapUpdates } from './figures/map-updates.ts';
import { metricsScrape } from './figures/metrics-scrape.ts';
import { multicastAnswers } from './figures/multicast-answers.ts';
import { multicastChanges } from './figures/multicast-changes.ts';
import { multicastCopies } from './figures/multicast-copies.ts';
import { multicastModel } from './figures/multicast-model.ts';
import { multicastScale } from './figures/multicast-scale.ts';
import { multicastTransfer } from './figures/multicast-transfer.ts';
import { noticeBuild } from './figures/notice-build.ts';
import { noticeToCnp } from './figures/notice-to-cnp.ts';
import { ospfExchange } from './figures/ospf-exchange.ts';
import { overload } from './figures/overload.ts';
import { pauseStorm } from './figures/pause-storm.ts';
import { packetCost } from './figures/packet-cost.ts';
import { type Failure, type Report, type Row, table } from './support/report.ts';
import { srv6 } from './figures/srv6.ts';
import { onChange, subscribe } from './figures/subscribe.ts';
import { memory } from './figures/memory.ts';
import { restart } from './figures/restart.ts';
import { startUp } from './figures/start-up.ts';
import { groupPlans } from './figures/group-plans.ts';
import { isisSenders } from './figures/isis-senders.ts';
import { ospfSenders } from './figures/ospf-senders.ts';
import { messageOf } from '../model/error-text.ts';

// Where this names a file, each start of Node.js reads all the authorities in it: of the agents, and of the references.
// That is the machine's doing; nothing that is measured meets a server of others.
delete process.env['NODE_EXTRA_CA_CERTS'];

const FIGURES: readonly Figure[] = [
  packetCost,
  srv6,
  heldFlows,
  departureTimes,
  sourceInstructions,
  sourceLoad,
  pauseStorm,
  multicastCopies,
  multicastAnswers,
  noticeBuild,
  noticeToCnp,
  mapUpdates,
  startUp,
  restart,
  memory,
  isisSenders,
  ospfSenders,
  groupPlans,
  multicastScale,
  multicastChanges,
  multicastTransfer,
  eventLoop,
  metricsScrape,
  ospfExchange,
  bgpOrigination,
  bgpChanges,
  bgpPaths,
  feedback,
  overload,
  subscribe,
  onChange,
  controlPackets,
  multicastModel,
];
const startedAt = performance.now();
const seconds = (): number => (performance.now() - startedAt) / 1000;
const say = (text: string): void => void process.stderr.write(`[${seconds().toFixed(1).padStart(6)} s] ${text}\n`);

function write(rows: readonly Row[], failures: readonly Failure[], loadBefore: number): string {
  const directory = join(dist(), '../out/bench');
  const machine = {
    kernel: release(),
    node: process.version,
    cpus: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    loadBefore,
  };
  const report: Report = { version: 1, machine, seconds: Math.round(seconds()), rows, failures };
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'report.json');
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
  return path;
}

async function run(names: readonly string[]): Promise<number> {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort(new Error('interrupted')));
  const loadBefore = loadavg()[0]!;
  const rows: Row[] = [];
  const failures: Failure[] = [];
  for (const figure of FIGURES.filter((f) => names.length === 0 || names.includes(f.name))) {
    if (controller.signal.aborted) break;
    say(`${figure.name}: ${figure.title}`);
    try {
      rows.push(...(await runFigure(figure, { signal: controller.signal, say: (text) => say(`  ${text}`) })));
    } catch (error) {
      failures.push({
        figure: figure.name,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      say(`  could not be measured: ${messageOf(error)}`);
    }
  }
  process.stdout.write(`\n${table(rows)}\n\n`);
  for (const { figure, error } of failures) process.stdout.write(`${figure} could not be measured: ${error}\n`);
  process.stdout.write(
    `${seconds().toFixed(0)} s; load of the machine before: ${loadBefore.toFixed(1)} on ${cpus().length} CPUs; ` +
      `${write(rows, failures, loadBefore)}\n`,
  );
  return failures.length > 0 || controller.signal.aborted ? 1 : 0;
}

async function main(argv: readonly string[]): Promise<number> {
  let status = 0;
  const program = new Command('bench')
    .description('measures what docs/explanation/performance.md reports; needs root')
    .exitOverride()
    .option('--only <name...>', `only these: ${FIGURES.map((f) => f.name).join(', ')}`)
    .action(async ({ only = [] }: { only?: string[] }) => {
      const unknown = only.filter((name) => !FIGURES.some((f) => f.name === name));
      if (unknown.length > 0)
        program.error(`no figure named ${unknown.join(', ')}; there are ${FIGURES.map((f) => f.name).join(', ')}`);
      status = await run(only);
    });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

process.exitCode = await main(process.argv.slice(2));
