import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readTopology } from '../../lab/lab.ts';
import { evaluateMulticast, violations } from './evaluate.ts';
import { multicastHtml, multicastTable } from './report.ts';
import type { MulticastReport, MulticastResult } from './results.ts';
import { HASH, PACKETS, goodResults, observations } from './runs.fixture.ts';
import { EDGES, GROUP, MULTICAST, RECEIVERS, ROUTERS, RUNS, SOURCE, TREE } from './scene.ts';
import { headline, recovery } from './sentences.ts';
import { places, treeSvg } from './tree.ts';
import { multicastChecks, multicastVerdict } from './verdict.ts';

const VICTIM = 'r3';
const verdictWith = (change: (runs: MulticastResult[]) => void): string[] => {
  const runs = goodResults();
  change(runs);
  return multicastVerdict(runs, VICTIM);
};
const set = (i: number, fields: Partial<MulticastResult>) => (runs: MulticastResult[]) =>
  void (runs[i] = { ...runs[i]!, ...fields });
const setReceiver =
  (i: number, who: string, fields: Partial<MulticastResult['receivers'][number]>) => (runs: MulticastResult[]) =>
    void (runs[i] = {
      ...runs[i]!,
      receivers: runs[i]!.receivers.map((r) => (r.receiver === who ? { ...r, ...fields } : r)),
    });

test('three runs in which all is well have nothing to criticize', () => {
  expect(multicastVerdict(goodResults(), VICTIM)).toEqual([]);
});

test.each<[string, RegExp, (runs: MulticastResult[]) => void]>([
  ['a receiver with other bytes', /group: r4 did not get the bytes/, setReceiver(1, 'r4', { hash: 'b' })],
  ['a receiver that is not complete', /group: r4 got 7 bytes/, setReceiver(1, 'r4', { complete: false, bytes: 7 })],
  ['a copy with a wrong ICRC', /group: r1 got 1 packets with a wrong ICRC/, setReceiver(1, 'r1', { bad: 1 })],
  ['a copy for another Queue Pair', /group-loss: r2 refused 3/, setReceiver(2, 'r2', { refused: 3 })],
  ['a source that did not complete', /unicast: the source did not complete/, set(0, { completionMs: null })],
  ['a receiver that is missing', /group: 0 receivers reported/, set(1, { receivers: [] })],
  ['answers of no connection', /group: the source got 2 answers/, set(1, { foreign: 2 })],
  ['too many bytes on the source’s link', /saved a factor of 4\.4\d/, set(1, { sourceBytes: 4_850_000 })],
  ['too many ACKs', /group: the source got 400 ACKs, expected about 1\/5 of 1225/, set(1, { acks: 400 })],
  ['no ACK', /the source got no ACK/, set(1, { acks: 0 })],
  [
    'two copies of each packet on one link',
    /group: n6 – n4 carried 7814 packets, expected 3907/,
    (runs) => set(1, { links: runs[1]!.links.map((l) => (l.to === 'n4' ? { ...l, down: 2 * PACKETS } : l)) })(runs),
  ],
  [
    'an ACK too early',
    /group: the source got a confirmation/,
    set(1, { violations: ['the source got a confirmation of 16 packets'] }),
  ],
  ['no loss', /nothing was lost in front of r3/, setReceiver(2, 'r3', { lost: 0 })],
  [
    'no NAK',
    /r3 sent no NAK/,
    (runs) => [setReceiver(2, 'r3', { naks: 0 }), set(2, { naks: 0 })].forEach((change) => change(runs)),
  ],
  [
    'more NAKs at the source than receivers sent',
    /group-loss: the source got 71 NAKs, and the receivers sent 70/,
    set(2, { naks: 71 }),
  ],
  ['no repetition', /the source repeated nothing/, set(2, { retransmitted: 0 })],
  ['a run that is missing', /not all three runs/, (runs) => void runs.pop()],
])('%s fails the demo', (_, message, change) => {
  expect(verdictWith(change)).toEqual([expect.stringMatching(message)]);
});

test('RMC-5.3.1-a: a confirmation at the source is compared with what each receiver had confirmed by then', () => {
  const said = (...list: (readonly [number, number])[]) => [{ event: 'confirmations', t: 0, list }];
  const receivers = new Map([
    ['r1', said([10, 16], [20, 32])],
    ['r2', said([11, 16], [30, 32])],
  ]);
  expect(
    violations(
      [
        [12, 16],
        [31, 32],
      ],
      receivers,
    ),
  ).toEqual([]);
  expect(
    violations(
      [
        [12, 16],
        [29, 32],
      ],
      receivers,
    ),
  ).toEqual(['the source got a confirmation of 32 packets when r2 had confirmed 16']);
  expect(violations([[5, 1]], receivers)).toHaveLength(2);
});

test('a run becomes what its endpoints and interfaces counted', () => {
  const unicast = evaluateMulticast(RUNS[0]!, PACKETS, observations(RUNS[0]!));
  expect(unicast).toMatchObject({
    hash: HASH,
    sent: 5 * PACKETS,
    acks: 5 * 245,
    completionMs: 246,
    sourceBytes: 5 * PACKETS * 1102,
    violations: [],
  });
  expect(unicast.links.find(({ to }) => to === 'n1')).toEqual({
    from: 'n4',
    to: 'n1',
    down: 2 * PACKETS,
    up: 490,
    bytes: 2 * PACKETS * 1102,
  });
  expect(unicast.confirmed.at(-1)).toEqual([246, 5 * PACKETS]);
  expect(() => evaluateMulticast(RUNS[0]!, PACKETS, { ...observations(RUNS[0]!), source: [] })).toThrow(
    'the source reported no summary',
  );
});

test('the drawn tree has each node below its parent, and on each link what it carried', () => {
  const at = places(TREE.map(({ from, to }) => ({ from: from.node, to: to.node })));
  for (const { from, to } of TREE) expect(at.get(to.node)!.y, to.node).toBeGreaterThan(at.get(from.node)!.y);
  expect(new Set([...at.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(12);
  const svg = treeSvg('a tree', goodResults()[1]!.links, PACKETS);
  expect(svg.match(/↓ 3907/g)).toHaveLength(11);
  expect(svg.match(/↑ 245/g)).toHaveLength(11);
});

test('table and report name every run; the report has all trees and every failure', () => {
  const runs = goodResults();
  expect(multicastTable(runs).trim().split('\n')).toHaveLength(4);
  const report: MulticastReport = {
    version: 1,
    scene: 'multicast',
    title: 'a <title>',
    path: 'a path',
    startedAt: 'now',
    ok: false,
    failures: ['one & two'],
    checks: [...multicastChecks(runs, VICTIM), { claim: 'three', failures: ['not < three'] }],
    evidence: ['members are known'],
    bytes: 4e6,
    runs,
  };
  const html = multicastHtml(report);
  expect(html).toContain('a &lt;title&gt;');
  expect(html).toContain('one &amp; two');
  expect(html.match(/<svg/g)).toHaveLength(4);
  expect(html.match(/✓/g)).toHaveLength(9);
  expect(html).toContain('✗</b>three<br><span>not &lt; three');
  expect(html).not.toMatch(/<script|https?:/);
});

test('the description of the scene is that of its topology and its cnpd.yaml files', () => {
  const { nodes, links } = readTopology(MULTICAST.file);
  expect(nodes.map(({ name }) => name).sort()).toEqual(
    [SOURCE.node, ...ROUTERS, ...RECEIVERS.map(({ node }) => node)].sort(),
  );
  const ends = (a: { node: string; interface: string }, b: { node: string; interface: string }): string =>
    `${a.node}:${a.interface}-${b.node}:${b.interface}`;
  expect(links.map(({ a, b }) => ends(a, b)).sort()).toEqual(TREE.map(({ from, to }) => ends(from, to)).sort());
  const groupOf = (node: string): Record<string, unknown> =>
    (parse(readFileSync(join(dirname(MULTICAST.file), node, 'cnpd.yaml'), 'utf8')) as { groups: never[] }).groups[0]!;
  expect(groupOf('n6')).toMatchObject({
    name: GROUP.name,
    'proxy-address': GROUP.proxyAddress,
    'designated-qpn': GROUP.designatedQpn,
    source: { address: SOURCE.address, qpn: SOURCE.qpn },
  });
  for (const [edge, hosts] of Object.entries(EDGES)) {
    const members = RECEIVERS.filter(({ node }) => hosts.includes(node));
    expect(groupOf(edge)).toMatchObject({ receivers: members.map(({ address, qpn }) => ({ address, qpn })) });
  }
});

test('the headline compares the group with the connections; the recovery has what was lost and repeated', () => {
  const runs = goodResults();
  expect(headline(runs, 4e6)).toBe(
    '5 receivers, 4.0 MB for each. Sent to their group, the data crossed the source’s link once instead of 5 times: ' +
      '4.3 MB in place of 21.5 MB, headers included. The source got 245 ACKs in place of 1,225 (1/5.0), and all had ' +
      'everything after 0.2 s in place of 0.2 s.',
  );
  expect(headline(runs.slice(0, 1), 4e6)).toMatch(/not all made/);
  expect(recovery(runs)).toMatch(
    /^In front of r3, 80 packets were lost on purpose\. r3 sent 70 NAKs, the source got 70/,
  );
  expect(recovery(runs)).toMatch(/repeated 900 packets.*5 of 5 receivers have equal copies/);
  expect(recovery(runs)).toMatch(/loss costs a group more\. Its \d\.\d MB .* compare with 21\.5 MB of the connections/);
  expect(recovery(runs.slice(0, 2))).toBe('');
});

test('repetitions on a busy machine are no failure: the saving is of what was sent for the first time', () => {
  const busy = (runs: MulticastResult[]): void => {
    const group = runs[1]!;
    const links = group.links.map((l) => ({ ...l, down: l.down + 2000, bytes: l.bytes + 2000 * 1102 }));
    runs[1] = { ...group, sent: group.sent + 2000, retransmitted: 2000, links, sourceBytes: links[0]!.bytes };
  };
  expect(verdictWith(busy)).toEqual([]);
});
