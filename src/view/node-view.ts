// From what a cnpd has reported to what the page shows of its node. Pure.
import type { Kind, LinkView, NodeView, PortView, Status } from './model.ts';
import type { Directory } from './network.ts';
import { type Row, type Rows, textOf } from './rows.ts';

/** Entries of each kind that the page shows of a node. */
const MAX_SHOWN = 40;

export interface Place {
  readonly name: string;
  readonly kind: Kind;
}

export interface Connection {
  readonly state: 'none' | 'connecting' | 'down' | 'up';
  readonly reason: string;
}

/** 64-bit numbers come as text. */
const number = (row: Row, leaf: string): number => {
  const value = Number(row[leaf] ?? 0);
  return Number.isFinite(value) ? value : 0;
};
const texts = (row: Row, leaf: string): string[] => {
  const value = row[leaf];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
};

function statusOf({ state }: Connection, health: string): Status {
  if (state !== 'up') return state;
  return health === 'running' || health === 'degraded' || health === 'starting' ? health : 'connecting';
}

/** The other end of a port. */
export function peerOf(links: readonly LinkView[], node: string, name: string): string {
  for (const link of links) {
    if (link.a === node && link.aInterface === name) return link.b;
    if (link.b === node && link.bInterface === name) return link.a;
  }
  return '';
}

const portView = (row: Row, node: string, links: readonly LinkView[]): PortView => ({
  interface: textOf(row, 'interface'),
  peer: peerOf(links, node, textOf(row, 'interface')),
  queueBytes: number(row, 'queue-bytes'),
  kMin: number(row, 'k-min'),
  kMax: number(row, 'k-max'),
  ceMarked: number(row, 'ce-marked'),
  notifications: number(row, 'notifications'),
  deferred: number(row, 'deferred'),
  rttMs: row['rtt-ms'] === undefined || row['rtt-ms'] === null ? null : number(row, 'rtt-ms'),
  attached: row['attached'] === true,
});

type Lists = Pick<NodeView, 'problems' | 'ports' | 'senders' | 'answersFor' | 'sids' | 'groups'>;

function lists(rows: Rows, place: Place, { links, directory }: Surroundings): Lists {
  return {
    problems: rows
      .list('cnpd/status/problems')
      .map((r) => ({ feature: textOf(r, 'feature'), problem: textOf(r, 'problem'), remedy: textOf(r, 'remedy') })),
    ports: rows.list('cnpd/ports').map((row) => portView(row, place.name, links)),
    senders: rows
      .list('cnpd/senders')
      .filter((row) => row['best'] === true && textOf(row, 'proxy') !== '')
      .map((row) => ({
        prefix: textOf(row, 'prefix'),
        proxy: textOf(row, 'proxy'),
        proxyNode: directory.nameOf(textOf(row, 'proxy')),
        carrier: textOf(row, 'carrier'),
      })),
    answersFor: [
      ...rows.list('cnpd/proxies').flatMap((row) => texts(row, 'prefixes')),
      ...rows.list('cnpd/sources').map((row) => `${textOf(row, 'prefix')} (${textOf(row, 'action')})`),
    ],
    sids: rows.list('cnpd/sids').map((row) => ({
      sid: textOf(row, 'sid'),
      behavior: textOf(row, 'behavior'),
      status: textOf(row, 'status'),
      isLocal: row['origin'] === 'local',
    })),
    groups: rows.list('cnpd/groups/group').map((row) => ({
      address: textOf(row, 'proxy-address'),
      name: textOf(row, 'name'),
      roles: texts(row, 'roles'),
      status: textOf(row, 'status'),
      receivers: number(row, 'receivers'),
    })),
  };
}

export interface Surroundings {
  readonly links: readonly LinkView[];
  readonly directory: Directory;
}

export function nodeView(place: Place, connection: Connection, rows: Rows, around: Surroundings): NodeView {
  const [status] = rows.list('cnpd/status');
  const all = lists(rows, place, around);
  const shown = Object.fromEntries(
    Object.entries(all).map(([name, entries]) => [name, (entries as unknown[]).slice(0, MAX_SHOWN)]),
  ) as unknown as Lists;
  const beyond = Object.values(all).reduce((sum, entries) => sum + Math.max(0, entries.length - MAX_SHOWN), 0);
  return {
    ...place,
    status: statusOf(connection, textOf(status, 'health')),
    reason: connection.reason,
    version: textOf(status, 'version'),
    addresses: around.directory.of(place.name),
    ...shown,
    omitted: beyond + rows.omitted,
  };
}
