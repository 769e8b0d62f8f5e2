// Advertisements of the learned table as the northbound shows them.
import { formatAddress } from '../model/address.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import type { SenderState } from '../model/state.ts';
import type { Steps } from '../model/work.ts';
import type { Advertised } from './advertised.ts';
import { type Advertisement, comparePreference } from './preference.ts';
import type { PrefixTrie } from './trie.ts';

/** LearnedTable.rows(). */
export function* senderRows(
  trie: PrefixTrie,
  advertised: Advertised,
  { toWall, atOnce }: { readonly toWall: number; readonly atOnce: number },
): Steps<SenderState[]> {
  const four: SenderState[] = [];
  const six: SenderState[] = [];
  for (const nodes of trie.walk(atOnce)) {
    for (const node of nodes) {
      const head = advertised.first(node);
      if (!head) continue;
      const prefix = trie.prefix(node);
      const out = prefix.address.family === 4 ? four : six;
      for (const state of senderStates(head, prefix, toWall, advertised.claim(node))) out.push(state);
    }
    yield;
  }
  return four.concat(six);
}

/**
 * The advertisements of one prefix that count, the preferred one first.
 * @param head the first of the prefix's list
 * @param toWall the difference from the clock's time to the time of day, milliseconds
 * @param claim the one that says what the senders understand
 */
function senderStates(
  head: Advertisement,
  prefix: Prefix,
  toWall: number,
  claim: Advertisement | undefined,
): SenderState[] {
  const all: Advertisement[] = [];
  for (let a: Advertisement | undefined = head; a; a = a.next)
    if (a.source.originator.reachability !== 'dormant') all.push(a);
  const text = formatPrefix(prefix);
  return all.sort(comparePreference).map((a, i) => ({
    ...senderState(a, text, i === 0, toWall),
    ...(a.supports && { supports: [...a.supports], supportsInForce: a === claim }),
  }));
}

const senderState = (a: Advertisement, prefix: string, best: boolean, toWall: number): SenderState => ({
  prefix,
  proxy: a.proxy ? formatAddress(a.proxy) : null,
  best,
  pnc: a.pnc,
  metric: a.metric,
  carrier: a.source.originator.carrier,
  originator: a.source.originator.name,
  source: a.source.name,
  since: new Date(a.since).toISOString(),
  ...(a.source.originator.reachability === 'held' && {
    heldUntil: new Date(a.source.originator.heldUntil + toWall).toISOString(),
  }),
});
