// What the tests of notices share: a port that is congested for good, and waiting for the notice about one packet, or
// for none.
import { expect } from 'vitest';
import { address } from '../../../src/model/address.ts';
import { type CongestedRouter, PROXY6 } from './congested-router.ts';
import { type ReceivedNotice, notices } from './received-notices.ts';
import { NEXT, data, frame } from './packets.ts';
import { is, until } from '../../support/until.ts';

export const KMAX = 100_000;
export const DEPTH = 150_000;

/** Sends a frame through the congested port and returns the notice about it. */
export async function noticeAbout(
  r: CongestedRouter,
  packet: Uint8Array,
  tags?: readonly (readonly [number, number])[],
): Promise<ReceivedNotice> {
  const bytes = frame(packet, tags ? { tags } : {});
  const { retval, data: after } = r.send(bytes);
  expect(retval).toBe(NEXT);
  expect(after).toEqual(bytes);
  await until('a notice', () => notices(r.collected).length, is(1));
  return notices(r.collected)[0]!;
}

/** Lets whatever is under way arrive: triggers one more notice and waits for it. Returns how many came before. */
export async function settled(r: CongestedRouter): Promise<number> {
  const marker = address('2001:db8:77::1');
  const isMarker = (n: ReceivedNotice): boolean => n.notice.tuple.source.value === marker.value;
  r.configure({});
  r.port({ kMax: KMAX });
  r.senders(['2001:db8:77::/48', PROXY6]);
  r.send(frame(data({ source: marker })));
  await until(
    'the notice behind',
    () => notices(r.collected),
    (all) => all.some(isMarker),
  );
  return notices(r.collected).filter((n) => !isMarker(n)).length;
}

export async function nothingCame(r: CongestedRouter): Promise<void> {
  expect(await settled(r)).toBe(0);
}
