// The line of containerlab/proxy with delays of its own: h1 ─ leaf1 ─ p1 ═ WAN ═ p2 ─ leaf2 ─ h2. p1 is the congested
// node; its place on the path is set by how the delay is divided between h1's access link and the WAN. p1 is configured
// with what to watch and how to notify h1 by a changed file and a reload, as an operator would.
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Document, parseDocument } from 'yaml';
import { openBpfObject } from '../../../kernel/bpf/object.ts';
import { attachTcx } from '../../../kernel/bpf/tcx.ts';
import { structure, u32Key, viewOf } from '../../../kernel/dataplane/layout.ts';
import { Netns } from '../../../kernel/netns.ts';
import { Rtnetlink } from '../../../kernel/netlink/rtnetlink.ts';
import { type Lab, labDown, labUp } from '../../../lab/lab.ts';
import { packageRoot, program } from '../../../lab/program.ts';
import { type Bench, bpfObject, until } from '../bench.ts';

const LAB = 't-bench';
const SCENE = join(packageRoot(), 'containerlab/proxy');
const CNPCTL = '/opt/cnpd/dist/cnpctl.js';
const ROUTES = [
  ['leaf1', '2001:db8:2::/64'],
  ['leaf2', '2001:db8:1::/64'],
  ['leaf1', '2001:db8:ffff::2'],
  ['p1', '2001:db8:ffff::1'],
] as const;
const CONVERGED_MS = 60_000;
export const SENDERS = '2001:db8:1::/64';
/** The routers' loopbacks. */
export const ROUTERS = '2001:db8:ffff::/48';

/** One-way delays, ms. */
export interface Delays {
  readonly access: number;
  /** Between leaf1 and p1; absent: none. */
  readonly core?: number;
  readonly wan: number;
}

/** Milliseconds of CLOCK_MONOTONIC, of one flow; in the order of bpf/bench/feedback.bpf.c. */
const EVENTS = ['notified', 'byCnpd', 'marked', 'byReceiver'] as const;
export type Times = Readonly<Record<(typeof EVENTS)[number], number>>;
const COUNTERS = ['ofCnpd', 'ofReceiver', 'marked'] as const;
/** What arrived at h1 and, marked, at h2. */
export type Counts = Readonly<Record<(typeof COUNTERS)[number], number>> & {
  readonly congestedMs: number;
  readonly episodes: number;
};
/** struct episode. */
const EPISODE = { size: 32, gap: 0, congestedNs: 16, episodes: 24 } as const;

/** What is seen on three wires, by programs there. */
interface Wires {
  /**
   * Forgets what was seen.
   * @param gapMs marked packets that come within this of each other are one stretch of congestion
   */
  clear(gapMs?: number): void;
  /**
   * Of a flow that has ended; undefined when p1 had nothing to tell.
   * @throws Error that names what has not come, after some seconds
   */
  times(): Promise<Times | undefined>;
  /** What has been seen so far. */
  seen(): Partial<Times>;
  counts(): Counts;
}

export interface Line {
  readonly lab: Lab;
  readonly wires: Wires;
  /** p1's sections `ports` and, if any, `notifications`. */
  watch(ports: object, notifications?: object): Promise<void>;
  /** leaf1 obeys for h1 as a source; undefined: it is the scene's proxy. */
  obey(source: object | undefined): Promise<void>;
  /** p1 knows h1's proxy. */
  mapped(): Promise<void>;
  /** The receiver at h2 answers marked packets. Stopped with the scene. */
  listen(cnpInterval: string): Promise<() => Promise<void>>;
  /** A flow from h1 to h2, to its end. Returns the sender's summary. */
  send(argv: readonly string[]): Promise<Readonly<Record<string, unknown>>>;
}

/** The scene under another name, its files by absolute path. Returns the file. */
function topology(bench: Bench, { access, core = 0, wan }: Delays): string {
  const document: Document = parseDocument(readFileSync(join(SCENE, 'proxy.clab.yml'), 'utf8'));
  document.set('name', LAB);
  for (const layer of [['defaults'], ['groups', 'router'], ['groups', 'cnpd']]) {
    const binds = document.getIn(['topology', ...layer, 'binds']) as { toJSON(): string[] };
    document.setIn(['topology', ...layer, 'binds'], document.createNode(binds.toJSON().map(absolute)));
  }
  const links = document.getIn(['topology', 'links']) as { toJSON(): object[] };
  const replaced = links.toJSON();
  replaced[0] = link('h1:eth1', 'leaf1:eth1', access);
  replaced[1] = link('leaf1:eth2', 'p1:eth1', core);
  replaced[2] = link('p1:eth2', 'p2:eth1', wan);
  document.setIn(['topology', 'links'], document.createNode(replaced));
  const file = join(bench.directory, `line-${access}-${core}-${wan}.clab.yml`);
  writeFileSync(file, document.toString());
  return file;
}

function absolute(bind: string): string {
  const [source, ...rest] = bind.split(':');
  return [resolve(SCENE, source!), ...rest].join(':');
}

function link(a: string, b: string, delayMs: number): object {
  const end = (text: string): object => ({ node: text.split(':')[0], interface: text.split(':')[1] });
  return delayMs === 0
    ? { endpoints: [a, b], mtu: 1500 }
    : { type: 'veth', endpoints: [end(a), end(b)], mtu: 1500, vars: { delay: `${delayMs}ms` } };
}

/** Runs `use` with the scene up and converged. @throws what it throws, after saying what the daemons logged */
export async function onLine<T>(bench: Bench, delays: Delays, use: (line: Line) => Promise<T>): Promise<T> {
  await labDown(LAB);
  const lab = await labUp(topology(bench, delays), { signal: bench.signal });
  const undo: (() => Promise<void> | void)[] = [];
  try {
    for (const [node, to] of ROUTES) {
      const known = async (): Promise<boolean> =>
        (await lab.exec(node, ['ip', '-6', 'route', 'show', 'proto', 'isis', to])).stdout.trim() !== '';
      await until(`the route from ${node} to ${to}`, known, bench.signal, CONVERGED_MS);
    }
    return await use(new LineOf(bench, lab, await tapWires(bench, lab, undo), undo));
  } catch (error) {
    for (const node of ['leaf1', 'p1'])
      bench.say(`${node}: ${(await lab.exec(node, ['tail', '-n', '5', '/var/log/cnpd.log'])).stdout.trim()}`);
    throw error;
  } finally {
    for (const step of undo.reverse()) await step();
    await lab.down();
  }
}

async function tapWires(bench: Bench, lab: Lab, undo: (() => void)[]): Promise<Wires> {
  const object = openBpfObject(bpfObject('bench_feedback'));
  undo.push(() => object.close());
  const tap = async (node: string, direction: 'ingress' | 'egress', how: string): Promise<void> => {
    const netns = Netns.open(lab.netnsPath(node));
    undo.push(() => netns.close());
    const rtnetlink = Rtnetlink.open({ netns }, bench);
    const { ifindex } = (await rtnetlink.link('eth1'))!;
    rtnetlink.close();
    const attached = attachTcx({ program: object.program(how), ifindex, direction, netns });
    undo.push(() => attached.close());
  };
  // A notification leaves p1 some microseconds after the trigger.
  await tap('p1', 'egress', 'notification_left');
  await tap('h1', 'ingress', 'feedback_arrived');
  await tap('h2', 'ingress', 'mark_arrived');
  const [seenAt, seen, marked] = [object.map('seen_at'), object.map('seen'), object.map('marked')];
  const u64 = (map: typeof seen, index: number, at = 0): number =>
    Number(viewOf(map.lookup(u32Key(index))!).getBigUint64(at, true));
  return {
    clear: (gapMs = 0) => {
      EVENTS.forEach((_, i) => seenAt.update(u32Key(i), new Uint8Array(8)));
      COUNTERS.forEach((_, i) => seen.update(u32Key(i), new Uint8Array(8)));
      marked.update(
        u32Key(0),
        structure(EPISODE.size, (view) => view.setBigUint64(EPISODE.gap, BigInt(gapMs * 1e6), true)),
      );
    },
    seen: () =>
      Object.fromEntries(EVENTS.flatMap((event, i) => (u64(seenAt, i) > 0 ? [[event, u64(seenAt, i) / 1e6]] : []))),
    times: async () => {
      const at = (): number[] => EVENTS.map((_, i) => u64(seenAt, i) / 1e6);
      if (at()[0] === 0) return undefined;
      for (const [i, event] of EVENTS.entries())
        await until(`what happens first is seen: ${event}`, () => at()[i] !== 0, bench.signal, 5000);
      return Object.fromEntries(EVENTS.map((event, i) => [event, at()[i]])) as Times;
    },
    counts: () => {
      const counts = Object.fromEntries(COUNTERS.map((name, i) => [name, u64(seen, i)])) as Record<
        (typeof COUNTERS)[number],
        number
      >;
      return {
        ...counts,
        congestedMs: u64(marked, 0, EPISODE.congestedNs) / 1e6,
        episodes: u64(marked, 0, EPISODE.episodes),
      };
    },
  };
}

class LineOf implements Line {
  readonly lab: Lab;
  readonly wires: Wires;
  readonly #bench: Bench;
  readonly #undo: (() => Promise<void> | void)[];

  constructor(bench: Bench, lab: Lab, wires: Wires, undo: (() => Promise<void> | void)[]) {
    this.#bench = bench;
    this.lab = lab;
    this.wires = wires;
    this.#undo = undo;
  }

  watch(ports: object, notifications?: object): Promise<void> {
    return this.#reload('p1', (document) => {
      document.set('ports', document.createNode([{ interface: 'eth2', ...ports }]));
      if (notifications) document.set('notifications', document.createNode(notifications));
    });
  }

  obey(source: object | undefined): Promise<void> {
    return this.#reload('leaf1', (document) => {
      if (!source) return;
      document.delete('proxy');
      document.set('source', document.createNode(source));
    });
  }

  async #reload(node: string, edit: (document: Document) => void): Promise<void> {
    const document = parseDocument(readFileSync(join(SCENE, node, 'cnpd.yaml'), 'utf8'));
    edit(document);
    const file = join(this.#bench.directory, `${node}.yaml`);
    writeFileSync(file, document.toString());
    await this.lab.cover(node, file, '/etc/cnpd/cnpd.yaml');
    await this.lab.mustExec(node, [CNPCTL, 'reload']);
  }

  async mapped(): Promise<void> {
    const known = async (): Promise<boolean> => {
      const { code, stdout } = await this.lab.exec('p1', [CNPCTL, '-o', 'json', 'show', 'senders']);
      return (
        code === 0 &&
        (JSON.parse(stdout) as { prefix: string; proxy?: string | null; best: boolean }[]).some(
          (row) => row.prefix === SENDERS && row.best && row.proxy,
        )
      );
    };
    await until("h1's proxy at p1", known, this.#bench.signal, CONVERGED_MS);
  }

  async listen(cnpInterval: string): Promise<() => Promise<void>> {
    const argv = ['listen', '--interface', 'eth1', '--address', '2001:db8:2::2', '--cnp-interval', cnpInterval];
    const child = this.lab.spawn('h2', [process.execPath, program('roce-endpoint'), ...argv], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close');
    const stop = async (): Promise<void> => {
      if (child.exitCode === null) child.kill('SIGTERM');
      await ended;
    };
    this.#undo.push(stop);
    await once(child.stdout!, 'data'); // ready
    child.stdout!.resume();
    return stop;
  }

  async send(argv: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
    const ends = ['send', '--interface', 'eth1', '--address', '2001:db8:1::2', '--peer', '2001:db8:2::2'];
    const text = await this.lab.mustExec('h1', [process.execPath, program('roce-endpoint'), ...ends, ...argv]);
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    return events.find((event) => event['event'] === 'summary') ?? {};
  }
}
