// A flood of notifications, seen from its victims: hosts whose own notifications have to come through. Anybody may be
// the receiver of a flow, and then notify its sender; nodes are on the allow-list.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import { buildCnp } from '../../../src/packet/roce/cnp.ts';
import { A, B, DATA_SPORT, DROP, NEXT } from '../support/proxy-under-test.ts';
import {
  CONNECTIONS,
  SENDER_QPN,
  SourceUnderTest,
  fastCnp,
  longHaulIcmpv6,
  longHaulRoce,
} from '../support/source-under-test.ts';

let source: SourceUnderTest;
beforeAll(() => void (source = new SourceUnderTest()));
afterAll(() => source.close());
afterEach(() => void source.records());

/** It has a connection with the same sender. */
const FLOODER = address('2001:db8:bad::1');
const ITS_QPN = { senderQpn: 0x1066, receiverQpn: 0x1067 };
beforeEach(() => void source.teach([...CONNECTIONS, { sender: A, receiver: FLOODER, ...ITS_QPN }]));

const cnp = (from = B, destQpn = SENDER_QPN): Uint8Array =>
  buildCnp({ source: from, destination: A, destQpn, sourcePort: DATA_SPORT });
const receiverFloods = (): void => {
  const own = fastCnp({ source: FLOODER, originalDestination: FLOODER, destQpn: ITS_QPN.receiverQpn });
  for (let i = 0; i < 10; i++) for (const packet of [cnp(FLOODER, ITS_QPN.senderQpn), own]) source.send(packet);
};
const nodeFloods = (): void => {
  for (let i = 0; i < 10; i++) for (const packet of [fastCnp(), longHaulRoce(), longHaulIcmpv6()]) source.send(packet);
};
const outcome = (packet: Uint8Array): readonly [number, ...string[]] => {
  const { verdict, counted } = source.send(packet);
  return [verdict, ...Object.keys(counted).filter((name) => name !== 'source.received')];
};
/** Hardly anything comes after a burst of three. */
const LIMIT = { perSecond: 0.001, burst: 3 };

describe('a receiver that floods about its own flow', () => {
  test.each(['enforce', 'convert', 'pass'] as const)('%s: uses up nothing of what nodes have', (action) => {
    source.configure(action, LIMIT);
    receiverFloods();
    expect(outcome(fastCnp({ source: FLOODER, originalDestination: FLOODER, destQpn: ITS_QPN.receiverQpn }))).toEqual([
      ...[DROP, 'source.rate-limited'],
    ]);
    source.records();
    const taken = {
      enforce: [DROP, 'source.enforced'],
      convert: [NEXT, 'source.converted'],
      pass: [NEXT, 'source.passed'],
    };
    for (const packet of [fastCnp(), longHaulRoce(), longHaulIcmpv6()]) expect(outcome(packet)).toEqual(taken[action]);
    expect(source.records()).toHaveLength(3);
  });

  test('enforce: the CNPs of other receivers reach the host, which obeys them itself', () => {
    source.configure('enforce', LIMIT);
    receiverFloods();
    expect(outcome(cnp())).toEqual([NEXT, 'source.rate-limited']);
  });
});

test('a node that floods uses up nothing of what receivers have', () => {
  source.configure('enforce', LIMIT);
  nodeFloods();
  expect(outcome(longHaulRoce())).toEqual([DROP, 'source.rate-limited']);
  source.records();
  expect(outcome(cnp())).toEqual([DROP, 'source.enforced', 'source.peer']);
  expect(outcome(fastCnp({ source: B }))).toEqual([DROP, 'source.enforced']);
  expect(source.records().map(({ node }) => node)).toEqual([B, B]);
});
