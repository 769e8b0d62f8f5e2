// A gobgpd that hangs, as the operator sees it: every view of the cnpctl program answers with what cnpd knows, while
// gobgpd is stopped and cannot have had a part in it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BOTH, BgpNetwork, speaker } from './support/bgp.ts';
import { LOOPBACK, proxy } from './support/line.ts';
import type { Router, Row } from './support/network.ts';
import { is, until } from '../support/until.ts';

/**
 * Seconds that cnpctl waits for cnpd. cnpd gives gobgpd ten to answer, or sixty: an answer that waits for that is none.
 */
const PATIENCE = '5';
const HANGS = 'gobgpd does not answer (for';
const TARGET = '127.0.0.1:50051';

let bgp: BgpNetwork;
let leaf: Router;

beforeAll(async () => {
  bgp = await BgpNetwork.up('hangs', 'leaf');
  leaf = bgp.router('leaf');
  await leaf.start({ ...speaker('leaf'), ...proxy('leaf') });
});
afterAll(() => bgp.down());

interface Status {
  readonly problems?: readonly { readonly feature: string; readonly problem: string; readonly remedy: string }[];
}

/** What a view prints, as JSON and as a table. @throws when it has no answer */
async function view<T>(...words: string[]): Promise<{ readonly json: T; readonly table: string }> {
  const outputs = await Promise.all(
    [['-o', 'json'], []].map(async (format) => {
      const { stdout, stderr } = await leaf.ctl('--timeout', PATIENCE, ...format, 'show', ...words);
      expect(stderr, words.join(' ')).toBe('');
      return stdout;
    }),
  );
  return { json: JSON.parse(outputs[0]!) as T, table: outputs[1]! };
}

test('while gobgpd is stopped, cnpctl’s views answer with what cnpd knows, and name the problem; afterwards nothing is lost', async () => {
  await until(
    'its paths are in gobgpd, and the reflector is a neighbor',
    async () => ({ session: await leaf.get('bgp', 'session'), peers: await leaf.get('bgp', 'peers') }),
    (seen) => seen.session[0]?.['originated'] === 2 && seen.peers.some((row) => row['state'] === 'established'),
    90_000,
  );
  const peers = (rows: readonly Row[]): unknown[] => rows.map((row) => [row['address'], row['as']]).sort();
  const known = peers(await leaf.show('bgp', 'peers'));
  bgp.gobgpd.leaf.signal('SIGSTOP');
  try {
    await until('it is stopped', () => bgp.gobgpd.leaf.runState(), is('T'));
    // At once, before it is known that anything is wrong.
    expect(peers((await view<Row[]>('bgp', 'peers')).json)).toEqual(known);
    await until(
      'it is reported',
      async () => (await view<Status>('status')).json.problems,
      (problems) => problems?.some(({ problem }) => problem.startsWith('gobgpd does not answer')),
    );
    const session = await view<Row[]>('bgp', 'session');
    expect(session.json).toMatchObject([
      { target: TARGET, state: 'ready', originated: 2, wanted: 2, silent: expect.any(Number) },
    ]);
    expect(session.json[0]!['reason']).toMatch(/^gobgpd does not answer \(for \d+ s\)$/);
    expect(session.table).toContain(TARGET);
    expect(session.table).toContain(HANGS);
    const shown = await view<Row[]>('bgp', 'peers');
    expect(peers(shown.json)).toEqual(known);
    expect(shown.table).toContain('2001:db8:0:1::2');
    expect(shown.table).toContain(HANGS);
    const paths = await view<Row[]>('bgp', 'paths');
    expect(
      paths.json
        .filter((row) => row['status'] === 'originated')
        .map((row) => row['prefix'])
        .sort(),
    ).toEqual([...BOTH].sort());
    for (const prefix of [...BOTH, HANGS]) expect(paths.table).toContain(prefix);
    const status = await view<Status>('status');
    expect(status.json.problems).toContainEqual({
      code: 'bgp.silent',
      feature: 'bgp',
      problem: expect.stringContaining(HANGS),
      remedy: expect.stringContaining('gobgp global'),
    });
    expect(status.table).toContain(HANGS);
    expect((await view<Row[]>('proxies')).json).toMatchObject([{ address: LOOPBACK.leaf.ipv6 }]);
    expect(await bgp.gobgpd.leaf.runState()).toBe('T');
  } finally {
    bgp.gobgpd.leaf.signal('SIGCONT');
  }
  await until(
    'it is over',
    async () => (await leaf.show<Status>('status')).problems ?? [],
    (problems) => !problems.some(({ feature }) => feature === 'bgp'),
    90_000,
  );
  expect(await leaf.counter('bgp.session.lost')).toBe(0);
});
