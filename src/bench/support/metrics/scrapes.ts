// What a scraper has seen (scraper.process.ts).
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { Netns } from '../../../kernel/netns.ts';
import { dist } from '../bench.ts';

export interface Scrape {
  readonly ms: number;
  readonly bytes: number;
  readonly series: number;
}

/** The first rounds, in which V8 compiles, are not among them. */
const WARM_UP = 5;

/** @param netns where the scraper runs; absent: here */
export function scrapes(url: string, rounds: number, netns?: Netns, warmUp = WARM_UP): Promise<Scrape[]> {
  const argv = [join(dist(), 'scraper.js'), url, String(warmUp + rounds)];
  return new Promise((resolve, reject) => {
    const begin = () =>
      void execFile(process.execPath, argv, { maxBuffer: 1 << 24 }, (error, stdout) =>
        error ? reject(error) : resolve((JSON.parse(stdout) as Scrape[]).slice(warmUp)),
      );
    if (netns) netns.run(begin);
    else begin();
  });
}
