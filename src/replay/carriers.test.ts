// What is recorded of BGP, and of OSPF's content, replays to the same views; so does what a real daemon recorded.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { is, until } from '../../test/support/until.ts';
import { OPTIONS, fixture } from '../carriers/bgp/carrier.fixture.ts';
import { ABOUT, declaration as bgpDeclaration, nhc, path, pnc, route } from '../carriers/bgp/content.fixture.ts';
import { OWN_IDENTIFIER } from '../carriers/bgp/gobgp/gobgp.ts';
import { type AnyVersion, ContentNet, declaration, senderPrefix } from '../carriers/ospf/content.fixture.ts';
import { beginContentTape } from '../carriers/ospf/recorded.ts';
import { formatAddress } from '../model/address.ts';
import { manualClock } from '../model/clock.ts';
import { LIMITS, recordings } from '../recorder/recorder.fixture.ts';
import { replayCommand } from './command.ts';
import { replay } from './replay.ts';
import { replayedState } from './state.ts';

const { recorder: newRecorder } = recordings();

test('BGP: own paths, what is learned, and what gobgpd refused', async () => {
  const clock = manualClock();
  const { recorder } = newRecorder(clock);
  await recorder.start(LIMITS);
  const { calls, answers, carrier, counters, listener } = fixture(undefined, { clock, recorder });
  carrier.originate(bgpDeclaration({ '2001:db8:a::/48': '2001:db8::1', '10.1.0.0/16': '192.0.2.1' }));
  await carrier.start();
  listener.lost({ code: 'not-there', reason: 'connection refused' }, 2000);
  clock.advance(2000);
  listener.connected(ABOUT);
  listener.listed([]);
  await until('its path is put in', () => calls.length, is(2));
  answers.shift()!();
  await until('and taken', () => counters.get('bgp.own.added'), is(1));
  const attribute = nhc('2001:db8::1', pnc('2001:db8::1'));
  listener.routes([
    route('2001:db8:a::/48', path('2001:db8::1', { neighbor: undefined, identifier: OWN_IDENTIFIER, nhc: attribute })),
    route(
      '2001:db8:b::/48',
      path('2001:db8::2', { neighbor: '192.0.2.2', nhc: nhc('2001:db8::2', pnc('2001:db8::2')) }),
    ),
  ]);
  clock.advance(1000);
  const { file } = await recorder.stop();
  const replayed = replay(file!);
  const { policy: _, ...session } = carrier.session();
  const ofClock = (text: string): number => Date.parse(text) % 86_400_000;
  const state = await replayedState(file!, replayed).bgp();
  const again = (await state.session)[0]!;
  expect({ ...again, since: ofClock(again.since) }).toMatchObject({
    ...session,
    since: (ofClock(session.since) + 1_800_000_000_000) % 86_400_000,
  });
  const timeless = (rows: readonly object[]) => rows.map((row) => ({ ...row, since: '' }));
  expect(timeless(await state.paths)).toEqual(timeless(await carrier.paths()));
  expect((await state.paths).map(({ prefix }) => prefix).sort()).toEqual(['2001:db8:a::/48', '2001:db8:b::/48']);
  expect(Object.fromEntries(replayed.counters)).toEqual(Object.fromEntries(counters));
  const learned = replayed.table.entries().filter(({ carrier: from }) => from === 'bgp');
  expect(learned).toMatchObject([{ prefix: '2001:db8:b::/48', proxy: '2001:db8::2', best: true }]);
  expect(replayed.machines.bgp!.target).toBe(OPTIONS.gobgp.target);
});

test.each<AnyVersion>([2, 3])('OSPFv%d: what its content has learned', async (version) => {
  const net = new ContentNet(version);
  const { recorder } = newRecorder({ ...manualClock(), now: () => net.now });
  await recorder.start(LIMITS);
  const [a, b] = [net.agent(1, [0, 7], {}, []), net.agent(2, [0, 7])];
  const tape = beginContentTape(recorder, 0, { ...a.content.config, interfaces: ['cnpd-ospf0', 'cnpd-ospf1'] })!;
  const handle = a.event.bind(a);
  a.event = (event) => (tape.event(a.now, event), handle(event));
  net.join(a, 0);
  net.join(a, 7);
  net.declare(a, declaration(version, [1]));
  net.declare(b, declaration(version, [2, 3], 2));
  net.run(60_000);
  net.kill(b);
  net.run(1000);
  const { file } = await recorder.stop();
  const { table, counters } = replay(file!);
  const name = `ospfv${version}` as const;
  const learned = table.entries().filter(({ carrier }) => carrier === name);
  const reports = [...a.reports.values()].flatMap(({ source, advertisements }) =>
    advertisements.flatMap((one) =>
      one.kind === 'sender-prefix' ? [`${source} ${one.proxy ? formatAddress(one.proxy) : null}`] : [],
    ),
  );
  expect(learned.map(({ source, proxy }) => `${source} ${proxy}`).sort()).toEqual(reports.sort());
  expect(new Set(learned.map(({ prefix }) => prefix))).toEqual(
    new Set([senderPrefix(version, 2), senderPrefix(version, 3)]),
  );
  expect(learned.every(({ heldUntil }) => heldUntil !== undefined)).toBe(true);
  expect(Object.fromEntries(counters)).toEqual(Object.fromEntries(a.counters));
});

test('a recording of a daemon beside real FRR, with keys: the proxies that it had learned', async () => {
  const file = fileURLToPath(new URL('recorded-isis.fixture.jsonl', import.meta.url));
  let [out, err] = ['', ''];
  const streams = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) };
  expect(await replayCommand(file, [], { output: 'json', partial: false }, streams)).toBe(0);
  const { recording, views } = JSON.parse(out) as {
    recording: object;
    views: Record<string, Record<string, unknown>[]>;
  };
  expect([recording, err]).toEqual([{ file, cnpd: '0.4.0', events: { isis: 22 }, end: 'stopped' }, '']);
  expect(views['isis neighbors']).toMatchObject([{ 'system-id': '0000.0000.0003', state: 'up', hostname: 'far' }]);
  const own = views['isis database']!.filter((row) => row['own'] === true);
  expect(own).toMatchObject([{ 'lsp-id': '0000.0000.c003.00-00', checksum: '0x2f67', sequence: 0x0cfd0541 }]);
  const proxied = views['senders']!.filter((row) => row['proxy'] !== undefined);
  expect(proxied.map((row) => [row['prefix'], row['proxy'], row['originator'], row['best']])).toEqual([
    ['198.51.100.0/24', '2001:db8:ffff::1', 'L2 0000.0000.c001', true],
    ['2001:db8:1::/64', '2001:db8:ffff::1', 'L2 0000.0000.c001', true],
  ]);
});
