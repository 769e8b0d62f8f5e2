// Loaded into the measured agent with `node --import`: on its parent's order it notes how late a timer of one
// millisecond comes, which is how long anything else in the process waits for its turn. Costs nothing until ordered to
// start; keeps nothing alive.
import { readFileSync } from 'node:fs';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { LoopReport } from './loop-report.ts';

const TICK_MS = 1;
let gaps: number[] = [];
let cpu: number[] = [];
let main: number[] = [];
let last = 0;
let lastCpu = 0;
let lastMain = 0;
let timer: NodeJS.Timeout | undefined;
let histogram: IntervalHistogram | undefined;

/** Of all threads so far, ms. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Of the main thread so far, ms. */
const mainMs = (): number => Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[0]) / 1e6;

function start(): void {
  [gaps, cpu, main] = [[], [], []];
  last = performance.now();
  lastCpu = cpuMs();
  lastMain = mainMs();
  histogram = monitorEventLoopDelay({ resolution: TICK_MS });
  histogram.enable();
  timer = setInterval(() => {
    const [now, used, ran] = [performance.now(), cpuMs(), mainMs()];
    gaps.push(now - last);
    cpu.push(used - lastCpu);
    main.push(ran - lastMain);
    [last, lastCpu, lastMain] = [now, used, ran];
  }, TICK_MS).unref();
}

function stop(): LoopReport {
  clearInterval(timer);
  histogram?.disable();
  return { gaps, cpu, main, perfHooksP99Ms: (histogram?.percentile(99) ?? 0) / 1e6 };
}

process.on('message', (order) => {
  if (order === 'start') start();
  if (order === 'stop') process.send!(stop());
});
process.channel?.unref();
