// What the server sends to the page, and the page draws. Types only: the page is compiled against them.

export type Kind = 'cnpd' | 'router' | 'host';

/** `none`: no cnpd is meant to run there. */
export type Status = 'none' | 'connecting' | 'down' | 'starting' | 'running' | 'degraded';

/** What does not change while the page is open. */
export interface LabView {
  readonly name: string;
  readonly file: string;
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly { readonly name: string; readonly kind: Kind; readonly x: number; readonly y: number }[];
  readonly links: readonly LinkView[];
}

export interface LinkView {
  readonly a: string;
  readonly aInterface: string;
  readonly b: string;
  readonly bInterface: string;
  readonly delayMs: number;
}

export interface PortView {
  readonly interface: string;
  /** The node at the other end; empty: none of the lab. */
  readonly peer: string;
  readonly queueBytes: number;
  readonly kMin: number;
  readonly kMax: number;
  readonly ceMarked: number;
  readonly notifications: number;
  readonly deferred: number;
  /** Null: not known. */
  readonly rttMs: number | null;
  readonly attached: boolean;
}

/** Whom this router asks for the senders in a prefix. */
export interface SenderView {
  readonly prefix: string;
  /** Empty: nobody. */
  readonly proxy: string;
  /** Name of the node with that address; empty: none of the lab. */
  readonly proxyNode: string;
  readonly carrier: string;
}

export interface SidView {
  readonly sid: string;
  readonly behavior: string;
  readonly status: string;
  readonly isLocal: boolean;
}

export interface GroupView {
  readonly address: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly status: string;
  readonly receivers: number;
}

export interface ProblemView {
  readonly feature: string;
  readonly problem: string;
  readonly remedy: string;
}

export interface NodeView {
  readonly name: string;
  readonly kind: Kind;
  readonly status: Status;
  /** Why it is down; else empty. */
  readonly reason: string;
  readonly version: string;
  readonly addresses: readonly string[];
  readonly problems: readonly ProblemView[];
  readonly ports: readonly PortView[];
  readonly senders: readonly SenderView[];
  /** Prefixes for which it is the proxy, or takes notifications. */
  readonly answersFor: readonly string[];
  readonly sids: readonly SidView[];
  readonly groups: readonly GroupView[];
  /** Entries that it has and the page does not show. */
  readonly omitted: number;
}

/** A group's tree, on the links of the lab. */
export interface TreeView {
  readonly group: string;
  readonly name: string;
  /** The host that sends; empty: it is not in the lab. */
  readonly source: string;
  readonly root: string;
  readonly branching: readonly string[];
  readonly edges: readonly string[];
  readonly receivers: readonly string[];
  /** From the root outwards. */
  readonly hops: readonly { readonly from: string; readonly to: string }[];
}

/** Notifications of one kind from one node to one sender, since the last message. */
export interface NotificationView {
  /** Nodes on the way, the first being the notifier. */
  readonly path: readonly string[];
  readonly format: string;
  readonly reason: string;
  readonly port: string;
  readonly queueBytes: number;
  readonly count: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}
