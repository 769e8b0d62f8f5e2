// Authentication of OSPF with BIRD, every algorithm of both versions: RFC 5709 and RFC 7166. What FRR has is in
// ospf-frr.test.ts and ospf-trouble.test.ts: keyed MD5 in ospfd, and HMAC-SHA-256 in Debian's ospf6d, which is built
// without OpenSSL and refuses the others.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Poller } from '../../src/kernel/poller.ts';
import { LINK, OspfAgent, VERSIONS } from './support/ospf.ts';
import { BirdRouter } from './support/ospf-carrier.ts';
import { is, matches, moreThan, until } from '../support/until.ts';

const ALGORITHMS = ['hmac-sha-1', 'hmac-sha-256', 'hmac-sha-384', 'hmac-sha-512'] as const;
type Algorithm = (typeof ALGORITHMS)[number];
const KEY = 's3cret';
const OWN = '192.0.2.101';
const LIMIT = 60_000;

let poller: Poller;
let agent: OspfAgent | undefined;
let bird: BirdRouter;
let errors: unknown[];

beforeEach(() => {
  [agent, errors] = [undefined, []];
  poller = Poller.open({ onError: (error) => errors.push(error) });
  bird = new BirdRouter(`t-ospfauth-${process.pid}-bird`);
});
afterEach(async () => {
  await agent?.remove();
  poller.close();
  await bird.remove();
  expect(errors).toEqual([]);
});

describe.each(VERSIONS)('%s with BIRD', (_name, version) => {
  /** @param key ours; BIRD has KEY */
  async function start(algorithm: Algorithm, key: string): Promise<OspfAgent> {
    const more =
      `authentication cryptographic; password "${KEY}" { id 7; ` +
      `algorithm ${algorithm.replace('hmac-sha-', 'hmac sha')}; };`;
    bird.start('192.0.2.1', [LINK], { version: version.version, more });
    const keys = [{ id: 7, algorithm, secret: new TextEncoder().encode(key) }];
    return (agent = await OspfAgent.start(
      version,
      bird,
      { routerId: OWN, area: { keys, retransmitMs: 1000 } },
      poller,
    ));
  }

  test.each(ALGORITHMS)('%s: Full on both sides, and no packet is refused', async (algorithm) => {
    const a = await start(algorithm, KEY);
    await until('we say Full', () => a.state, is('full'), LIMIT);
    await until('BIRD shows Full', () => bird.show('ospf neighbors'), matches(/192\.0\.2\.101\s.*Full/), LIMIT);
    expect([...a.counters.keys()].filter((name) => name.includes('.authentication.'))).toEqual([]);
  });

  test('a wrong key is refused on both sides, and counted', async () => {
    const a = await start('hmac-sha-256', 'other');
    await until('counted', () => a.count(`${version.name}.authentication.wrong`), moreThan(2), LIMIT);
    expect(a.state).toBe('none');
    expect(bird.show('ospf neighbors')).not.toContain(OWN);
  });
});
