// A gobgpd that is busy: it answers too late, and what it has to tell comes all the same. It is stopped and let go on
// by turns, so that each question is answered after its time is over, while a neighbor of it announces routes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OwnPath } from '../../src/carriers/bgp/gobgp/gobgp.ts';
import { address } from '../../src/model/address.ts';
import { prefix } from '../../src/model/prefix.ts';
import { BINARIES, GobgpNetwork, Listening } from './support/gobgp.ts';
import { is, until } from '../support/until.ts';

/** A question has been given up: after ten seconds (src/carriers/bgp/gobgp/calls.edge.ts). */
const LATE_MS = 10_500;
const LIMIT_MS = 90_000;
const ROUTES = 4000;

const path = (text: string): OwnPath => ({
  prefix: prefix(text),
  nextHop: address('192.0.2.9'),
  nhc: Buffer.from('000101' + '04' + 'c0000209' + 'ffdc0004c0000201', 'hex'),
  communities: [],
  largeCommunities: [],
});

let networks: GobgpNetwork[];
beforeAll(() => void (networks = BINARIES.map(({ name }) => new GobgpNetwork(`t-busy-${name}`))));
afterAll(async () => {
  for (const network of networks) await network.remove();
});

test.concurrent.each(BINARIES.map((binary, n) => ({ ...binary, n })))(
  'gobgpd $name that answers late, again and again, and whose events arrive is not taken for dead: no route is forgotten',
  async ({ n, ...binary }) => {
    const near = networks[n]!.start(binary, {
      as: 65001,
      address: '127.0.0.1',
      neighbors: [{ address: '127.0.0.2', as: 65001 }],
    });
    const far = networks[n]!.start(binary, {
      as: 65001,
      address: '127.0.0.2',
      neighbors: [{ address: '127.0.0.1', as: 65001 }],
    });
    const [heard, there] = [near, far].map(({ target }) => new Listening(target)) as [Listening, Listening];
    try {
      await Promise.all([heard.ready(), there.ready()]);
      // Of the attempts before gobgpd listened.
      heard.lost.length = 0;
      await there.client.add(Array.from({ length: ROUTES }, (_, i) => path(`10.${i >> 8}.${i & 255}.0/24`)));
      await until('all are learned', () => heard.routes.size, is(ROUTES), LIMIT_MS);
      for (let turn = 1; turn <= 2; turn++) {
        near.signal('SIGSTOP');
        try {
          await until(
            'a question is not answered in time',
            () => ({ silentMs: heard.client.silentMs(), lost: heard.lost }),
            ({ silentMs, lost }) => silentMs > LATE_MS || lost.length > 0,
            LIMIT_MS,
          );
          await there.client.add([path(`172.16.${turn}.0/24`)]);
        } finally {
          near.signal('SIGCONT');
        }
        await until(
          'what it has to tell comes',
          () => ({ routes: heard.routes.size, lost: heard.lost }),
          ({ routes, lost }) => routes === ROUTES + turn || lost.length > 0,
          LIMIT_MS,
        );
        expect({ lost: heard.lost, listed: heard.listed, routes: heard.routes.size }).toEqual({
          lost: [],
          listed: 1,
          routes: ROUTES + turn,
        });
      }
    } finally {
      for (const { client } of [heard, there]) await client.close();
    }
  },
);
