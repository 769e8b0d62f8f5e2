// Who notifies whom: the notifications that are new in a node's list, and the way each takes through the lab. Pure.
import { parseAddress } from '../model/address.ts';
import { parsePrefix, prefixContains } from '../model/prefix.ts';
import type { NotificationView } from './model.ts';
import { type Directory, type Link, way } from './network.ts';
import { type Row, type Rows, textOf } from './rows.ts';

interface Network {
  readonly links: readonly Link[];
  readonly directory: Directory;
  /** Nodes that take notifications for senders, and the prefixes of those. */
  readonly takers: readonly { readonly node: string; readonly prefixes: readonly string[] }[];
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

function pathOf(from: string, row: Row, rows: Rows, { links, directory, takers }: Network): readonly string[] {
  const sender = textOf(row, 'source');
  if (textOf(row, 'format') === 'proxy') return way(links, from, directory.nameOf(proxyFor(rows, sender))) ?? [from];
  const to = directory.nameOf(sender);
  const through = directory.nameOf(textOf(row, 'end-con'));
  const path =
    through === ''
      ? way(links, from, to)
      : [...(way(links, from, through) ?? []), ...(way(links, through, to) ?? []).slice(1)];
  return untilTaken(path && path.length > 0 ? path : [from], sender, takers);
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

  /** What is new since the last call; of equal ones the first, and their number. */
  news(rows: Rows, network: Network, at: number): NotificationView[] {
    const notifications = new Map<string, NotificationView>();
    const add = (view: NotificationView): void => {
      const key = JSON.stringify([view.path, view.format, view.reason, view.port]);
      const same = notifications.get(key);
      notifications.set(key, same ? { ...same, count: same.count + view.count } : view);
    };
    for (const row of this.#fresh(rows))
      add({
        path: pathOf(this.#node, row, rows, network),
        format: textOf(row, 'format'),
        reason: textOf(row, 'action') || textOf(row, 'reason'),
        port: textOf(row, 'port'),
        queueBytes: Number(row['queue-bytes'] ?? 0),
        count: 1,
        at,
      });
    for (const { sender, count } of this.#proxied(rows)) {
      const path = way(network.links, this.#node, network.directory.nameOf(sender)) ?? [this.#node];
      add({ path, format: 'standard-cnp', reason: 'asked', port: '', queueBytes: 0, count, at });
    }
    return [...notifications.values()];
  }

  /** The leaves of an entry may come in several messages: it counts when it is whole. */
  #fresh(rows: Rows): Row[] {
    const fresh = rows
      .list('cnpd/notifications')
      .filter(
        (row) => Number(row['sequence']) > this.#sequence && row['source'] !== undefined && row['format'] !== undefined,
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
