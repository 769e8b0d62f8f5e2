// Scrapes a URL a number of times, each time over a new connection as after a pause, and prints for each how long it
// took and how much came. It runs where the server can be reached, and not in the server's process.
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Scrape } from './scrapes.ts';

const [url, rounds] = process.argv.slice(2) as [string, string];
const ACCEPT = 'application/openmetrics-text;version=1.0.0';
/** More than the server waits between two expositions, so that each scrape gets one at once. */
const PAUSE_MS = 150;

const scrape = (): Promise<Scrape> =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    get(url, { agent: false, headers: { accept: ACCEPT } }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => {
        const ms = performance.now() - began;
        const text = String(Buffer.concat(parts));
        if (answer.statusCode !== 200) return reject(new Error(`${url}: ${answer.statusCode}`));
        resolve({ ms, bytes: text.length, series: text.split('\n').filter((line) => /^cnpd_/.test(line)).length });
      });
    }).on('error', reject);
  });

const scrapes: Scrape[] = [];
for (let i = 0; i < Number(rounds); i++) {
  scrapes.push(await scrape());
  await delay(PAUSE_MS);
}
process.stdout.write(JSON.stringify(scrapes));
