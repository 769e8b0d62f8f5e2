// Who notifies whom: the notifications that are new in a node's list, and the way each takes through the lab. Pure.
import { formatAddress, parseAddress } from '../model/address.ts';
import { parsePrefix, prefixContains } from '../model/prefix.ts';
import type { NotificationView } from './model.ts';
import type { Directory } from './network.ts';
import { type Row, type Rows, textOf } from './rows.ts';

/** Notifications that look the same, before their way is known. */
export interface Sent extends Omit<NotificationView, 'path'> {
  readonly from: string;
  /** Addresses on the way: END.CON, if there is one, and the last is where it ends. */
  readonly to: readonly string[];
  /** Whom it is about. */
  readonly sender: string;
}

interface Network {
  readonly directory: Directory;
  /** Nodes that take notifications for senders, and the prefixes of those. */
  readonly takers: readonly { readonly node: string; readonly prefixes: readonly string[] }[];
  /** Nodes from one to the owner of an address, as `Routes.way`. */
  readonly way: (from: string, address: string, owner: string) => Promise<readonly string[]>;
}

/** The address of the proxy that a node asks for a sender: that of the longest prefix. */
function proxyFor(rows: Rows, sender: string): string {
  const address = parseAddress(sender);
  let best = { length: -1, proxy: '' };
  for (const row of rows.list('cnpd/senders')) {
    const prefix = parsePrefix(textOf(row, 'prefix'));
    if (!address || !prefix || row['best'] !== true || !prefixContains(prefix, address)) continue;
    if (prefix.length > best.length) best = { length: prefix.length, proxy: textOf(row, 'proxy') };
  }
  return best.proxy;
}

/** A way that passes a node that takes notifications for this sender ends there. */
function untilTaken(path: readonly string[], sender: string, takers: Network['takers']): readonly string[] {
  const address = parseAddress(sender);
  const end = path.findIndex((node, i) => {
    const taker = i > 0 && takers.find((one) => one.node === node);
    return (
      taker &&
      taker.prefixes.some((text) => {
        const prefix = parsePrefix(text);
        return prefix && address && prefixContains(prefix, address);
      })
    );
  });
  return end < 0 ? path : path.slice(0, end + 1);
}

/** A text that is no address, or an address that no node of the lab has, ends the way before it. */
async function pathOf({ from, to, sender }: Sent, { directory, takers, way }: Network): Promise<readonly string[]> {
  const path = [from];
  for (const text of to) {
    const [address, owner] = [parseAddress(text), directory.nameOf(text)];
    if (!address || owner === '') return [from];
    path.push(...(await way(path.at(-1)!, formatAddress(address), owner)).slice(1));
  }
  return untilTaken(path, sender, takers);
}

/** Of equal ones the first, and their number. */
function together<T extends { readonly count: number }>(all: readonly T[], keyOf: (one: T) => unknown): T[] {
  const found = new Map<string, T>();
  for (const one of all) {
    const key = JSON.stringify(keyOf(one));
    const same = found.get(key);
    found.set(key, same ? { ...same, count: same.count + one.count } : one);
  }
  return [...found.values()];
}

/** Each with its way; those that take the same way are one. */
export async function onTheirWays(sent: readonly Sent[], network: Network): Promise<NotificationView[]> {
  const views = await Promise.all(
    sent.map(async (one): Promise<NotificationView> => {
      const { from: _, to: __, sender: ___, ...rest } = one;
      return { path: await pathOf(one, network), ...rest };
    }),
  );
  return together(views, ({ path, format, reason, port }) => [path, format, reason, port]);
}

/** Follows the list of one node, and the flows for which it is the proxy. */
export class NotificationFeed {
  readonly #node: string;
  #sequence = -1;
  /** By flow: how many CNPs the proxy has sent. */
  readonly #sent = new Map<string, number>();

  constructor(node: string) {
    this.#node = node;
  }

  /** What is there is no news, such as after a restart. */
  begin(rows: Rows): void {
    this.#sequence = Math.max(0, ...rows.list('cnpd/notifications').map((row) => Number(row['sequence'])));
    this.#sent.clear();
    this.#proxied(rows);
  }

  /** What is new since the last call. */
  news(rows: Rows, at: number): Sent[] {
    const listed = this.#fresh(rows).map((row): Sent => {
      const [format, sender, through] = [textOf(row, 'format'), textOf(row, 'source'), textOf(row, 'end-con')];
      return {
        ...{ from: this.#node, sender, format, count: 1, at },
        to: format === 'proxy' ? [proxyFor(rows, sender)] : [...(through === '' ? [] : [through]), sender],
        reason: textOf(row, 'action') || textOf(row, 'reason'),
        port: textOf(row, 'port'),
        queueBytes: Number(row['queue-bytes'] ?? 0),
      };
    });
    const proxied = this.#proxied(rows).map(({ sender, count }): Sent => {
      const about = { format: 'standard-cnp', reason: 'asked', port: '', queueBytes: 0 };
      return { from: this.#node, to: [sender], sender, ...about, count, at };
    });
    return together([...listed, ...proxied], ({ to, sender, format, reason, port }) => [
      ...[to, sender, format, reason, port],
    ]);
  }

  /** The leaves of an entry may come in several messages: it counts when it is whole. */
  #fresh(rows: Rows): Row[] {
    const fresh = rows
      .list('cnpd/notifications')
      .filter(
        (row) =>
          Number(row['sequence']) > this.#sequence &&
          ['source', 'format', 'queue-bytes'].every((leaf) => row[leaf] !== undefined),
      )
      .toSorted((a, b) => Number(a['sequence']) - Number(b['sequence']));
    const last = fresh.at(-1);
    if (last) this.#sequence = Number(last['sequence']);
    return fresh;
  }

  #proxied(rows: Rows): { readonly sender: string; readonly count: number }[] {
    const flows = rows.list('cnpd/flows').filter((row) => row['port'] === 'proxy');
    const keys = new Set<string>();
    const grown = flows.flatMap((row) => {
      const key = JSON.stringify([row['source'], row['destination'], row['destination-qpn']]);
      keys.add(key);
      const [before, now] = [this.#sent.get(key) ?? 0, Number(row['notifications'] ?? 0)];
      this.#sent.set(key, now);
      return now > before ? [{ sender: textOf(row, 'source'), count: now - before }] : [];
    });
    for (const key of this.#sent.keys()) if (!keys.has(key)) this.#sent.delete(key);
    return grown;
  }
}
