// Metrics of the process and of the scrape itself.
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { type Family, flag, one } from './family.ts';

export interface ProcessNumbers {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** Since the start of the process, milliseconds. */
  readonly loop: Pick<EventLoopUtilization, 'active' | 'idle'>;
}

export function processNumbers(): ProcessNumbers {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: rss,
    heapBytes: heapUsed,
    loop: performance.eventLoopUtilization(),
  };
}

export const PROCESS: readonly Family<ProcessNumbers>[] = [
  {
    name: 'cnpd_process_cpu_seconds',
    type: 'counter',
    unit: 'seconds',
    help: 'Processor time of all threads.',
    labels: [],
    samples: ({ cpuSeconds }) => [one(cpuSeconds)],
  },
  {
    name: 'cnpd_process_resident_memory_bytes',
    type: 'gauge',
    unit: 'bytes',
    help: 'Resident memory.',
    labels: [],
    samples: ({ residentBytes }) => [one(residentBytes)],
  },
  {
    name: 'cnpd_process_heap_bytes',
    type: 'gauge',
    unit: 'bytes',
    help: 'Heap of JavaScript in use.',
    labels: [],
    samples: ({ heapBytes }) => [one(heapBytes)],
  },
  {
    name: 'cnpd_event_loop_seconds',
    type: 'counter',
    unit: 'seconds',
    help: 'Time of the event loop, at work and waiting.',
    labels: [{ name: 'state', bound: 'active, idle' }],
    samples: ({ loop }) => [one(loop.active / 1000, 'active'), one(loop.idle / 1000, 'idle')],
  },
];

/** What became of a scrape: the name of each section, and whether it could be read. */
export type SectionResults = readonly { readonly section: string; readonly isRead: boolean }[];

export interface ScrapeResult {
  readonly sections: SectionResults;
  readonly leftOut: number;
}

export const SCRAPE: readonly Family<ScrapeResult>[] = [
  {
    name: 'cnpd_scrape_section_read',
    type: 'gauge',
    help: 'Whether a section of this scrape could be read; else its metrics are missing.',
    labels: [
      {
        name: 'section',
        bound: 'daemon, stages, carriers, learned, ports, flow-control, holds, groups, tables, rtt, process, counters',
      },
    ],
    samples: ({ sections }) => sections.map(({ section, isRead }) => one(flag(isRead), section)),
  },
  {
    name: 'cnpd_scrape_series_left_out',
    type: 'gauge',
    help: 'Series beyond the limit of a scrape.',
    labels: [],
    samples: ({ leftOut }) => [one(leftOut)],
  },
];
