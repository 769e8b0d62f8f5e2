// Many paths through one AddPathStream: a few in each message, encoded while gobgpd works on the ones before, no faster
// than it takes them.
import { once } from 'node:events';
import type { Steps } from '../../../model/work.ts';
import type { Channel } from './channel.edge.ts';

/** To begin with, and for each item: twenty times what gobgpd takes when it has nothing else to do. */
const LEAST_MS = 30_000;
const ITEM_MS = 2;

/**
 * Throws CallError, the connection's or gobgpd's, which takes nothing more of a stream in which it has found a
 * fault.
 */
export function* upload<T>(
  channel: Channel,
  path: string,
  items: readonly T[],
  aMessage: number,
  encode: (some: readonly T[]) => Uint8Array,
): Steps {
  const { call, end } = channel.upload(path, LEAST_MS + ITEM_MS * items.length);
  let over = false;
  const ended = end.finally(() => (over = true));
  ended.catch(() => {});
  for (let i = 0; i < items.length && !over; i += aMessage) {
    if (call.write(encode(items.slice(i, i + aMessage)))) yield;
    else yield Promise.race([once(call, 'drain'), ended]);
  }
  if (!over) call.end();
  yield ended;
}
