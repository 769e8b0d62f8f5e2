// What gobgpd's APIs really say, recorded: two neighbors on a loopback interface, paths of both families with and
// without attribute 39, a change and a withdrawal. With UPDATE_GOBGP=1 the messages are written to
// src/carriers/bgp/gobgp/, where unit tests decode them; without, what is recorded there must mean what the daemon
// reports now.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GobgpApi } from '../../src/carriers/bgp/gobgp/api.ts';
import { Channel } from '../../src/carriers/bgp/gobgp/channel.edge.ts';
import { GET_BGP_REQUEST, LIST_PEER_REQUEST } from '../../src/carriers/bgp/gobgp/messages.ts';
import { type Recording, meaning } from '../../src/carriers/bgp/gobgp/recording.fixture.ts';
import { v3 } from '../../src/carriers/bgp/gobgp/v3.ts';
import { v4 } from '../../src/carriers/bgp/gobgp/v4.ts';
import { address } from '../../src/model/address.ts';
import { prefix } from '../../src/model/prefix.ts';
import { BINARIES, type GobgpBinary, GobgpNetwork, Listening, needsCli } from './support/gobgp.ts';
import { atLeast, until } from '../support/until.ts';

const APIS: Readonly<Record<GobgpBinary['name'], GobgpApi>> = { v3, v4 };
const file = (name: string): string =>
  new URL(`../../src/carriers/bgp/gobgp/recorded-${name}.json`, import.meta.url).pathname;
const NHC = Buffer.from('0002011020010db8000000000000000000000009ffdc0004c0000201', 'hex');

let net: GobgpNetwork;
beforeAll(() => void (net = new GobgpNetwork('t-gobgp-rec')));
afterAll(() => net?.remove());

async function record(binary: GobgpBinary): Promise<Recording> {
  const api = APIS[binary.name];
  const neighbor = (n: number) => ({
    as: 65001,
    address: `127.0.0.${n}`,
    neighbors: [{ address: `127.0.0.${3 - n}`, as: 65001 }],
  });
  const [near, far] = [net.start(binary, neighbor(1)), net.start(binary, neighbor(2))];
  const [here, there] = await Promise.all([new Listening(near.target).ready(), new Listening(far.target).ready()]);
  await there.client.add([
    {
      prefix: prefix('2001:db8:1::/64'),
      nextHop: address('2001:db8::9'),
      nhc: NHC,
      communities: [0xffff_ff01],
      largeCommunities: [[65001, 2, 3]],
    },
  ]);
  far.cli('global', 'rib', 'add', '10.2.0.0/16', 'nexthop', '192.0.2.7', 'aspath', '65010,{65020,65021}', 'med', '50');
  await here.client.add([
    { prefix: prefix('10.2.0.0/16'), nextHop: address('192.0.2.9'), nhc: NHC, communities: [], largeCommunities: [] },
  ]);
  await until(
    'everything is there',
    () => [here.hops('10.2.0.0/16').length, here.hops('2001:db8:1::/64').length] as const,
    ([a, b]) => a > 0 && b > 0,
  );
  await until(
    'the session counts it',
    () => here.client.peers(),
    (peers) => peers?.some((peer) => peer.received === 2),
  );
  const channel = await Channel.open({ target: near.target, maxMessageBytes: 1 << 20 });
  const path = (method: string): string => `/${api.service}/${method}`;
  const all = (method: string, request: Uint8Array): Promise<string[]> =>
    new Promise((resolve, reject) => {
      const messages: string[] = [];
      channel.stream(path(method), request, {
        data: (bytes) => messages.push(bytes.toString('hex')),
        done: (error) => (error ? reject(error) : resolve(messages)),
      });
    });
  const watch: string[] = [];
  channel.stream(path('WatchEvent'), api.watchRequest('best'), {
    data: (bytes) => watch.push(bytes.toString('hex')),
    done: () => {},
  });
  await until('the watch', () => watch.length, atLeast(2));
  await there.client.add([
    {
      prefix: prefix('2001:db8:1::/64'),
      nextHop: address('2001:db8::a'),
      nhc: NHC,
      communities: [],
      largeCommunities: [],
    },
  ]);
  await until('a change', () => watch.length, atLeast(3));
  const recording = {
    getBgp: (await channel.call(path('GetBgp'), GET_BGP_REQUEST, 10_000)).toString('hex'),
    list: [...(await all('ListPath', api.listRequest(4, []))), ...(await all('ListPath', api.listRequest(6, [])))],
    peers: await all('ListPeer', LIST_PEER_REQUEST),
  };
  await there.client.withdraw([prefix('2001:db8:1::/64')]);
  await until('a withdrawal', () => watch.length, atLeast(4));
  channel.close();
  await Promise.all([here.client.close(), there.client.close()]);
  await net.stopAll();
  return {
    daemon: execFileSync(binary.gobgpd, ['--version'], { encoding: 'utf8' }).trim(),
    how: 'UPDATE_GOBGP=1 npx vitest run --project e2e test/e2e/gobgp-recording.test.ts',
    ...recording,
    watch,
  };
}

describe.each(BINARIES)('gobgpd $name', (binary) => {
  test('what is recorded for the unit tests means what the daemon reports', async (context) => {
    needsCli(binary, context);
    const now = await record(binary);
    if (process.env['UPDATE_GOBGP']) writeFileSync(file(binary.name), `${JSON.stringify(now, null, 2)}\n`);
    const recorded = JSON.parse(readFileSync(file(binary.name), 'utf8')) as Recording;
    expect(meaning(APIS[binary.name], now)).toEqual(meaning(APIS[binary.name], recorded));
    expect(recorded.daemon).toMatch(/gobgpd version \d/);
  });
});
