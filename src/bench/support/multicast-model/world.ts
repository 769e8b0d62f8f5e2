// One simulated group: a source, a tree of three levels, receivers; links that lose, repeat and overtake; receivers
// that join and leave, subtrees that move, nodes that restart, liars. After every answer that reaches the source, the
// invariants are compared with what the receivers really have.
import { AT, BRANCHING, EDGE, type ModelDriver } from './driver.ts';
import { type Answer, Receiver, Source, randomFrom } from './endpoints.ts';
import { NakBalance, isNak, violationsOf } from './invariants.ts';
import { type Item, writeItem } from './items.ts';
import { type Node, type Place, type Shape, type Tree, install, placeOf, treeFrom } from './tree.ts';

const NODES = 200;
const WHEEL = 64;
const WINDOW = 32;
const TIMEOUT = 80;
const SETTLE = 12;
/** Steps after which nothing of an older tree is on its way any more. */
const FORGOTTEN = 120;
const MASK = 0xff_ffff;
export const nodesPerWorld = NODES;

export class World {
  readonly source: Source;
  readonly seed: number;
  readonly violations: string[] = [];
  joined = 0;
  moved = 0;
  restarted = 0;
  /** NAKs that receivers sent, and that left the root. */
  naks = 0;
  naksAtSource = 0;
  readonly random: () => number;
  private readonly driver: ModelDriver;
  private readonly shape: Shape;
  private readonly wheel: Item[][] = Array.from({ length: WHEEL }, () => []);
  private readonly balance = new NakBalance();
  private readonly trees = new Map<number, { tree: Tree; until: number }>();
  private tree: Tree;
  private pending: { tree: Tree; at: number } | undefined;
  private now: number;
  private loss: number;
  private readonly late: number;
  private isCalm = false;
  private addresses = 0;
  private nextNode = 1;
  private due: Item[] = [];

  constructor(shape: Shape, driver: ModelDriver, startMs: number) {
    this.shape = shape;
    this.seed = shape.seed;
    this.driver = driver;
    this.now = startMs;
    this.random = randomFrom(shape.seed);
    this.loss = this.random() < 0.3 ? 0 : this.random() * 0.15;
    this.late = this.random() < 0.5 ? 0 : this.random() * 0.1;
    const near = this.random() < 0.7 ? 0x100_0000 - Math.floor(this.random() * shape.packets) : this.pick(0x100_0000);
    this.source = new Source(near, shape.packets, this.random);
    this.tree = this.firstTree(this.pick(0x10_0000));
    this.adopt(this.tree);
  }

  private pick(below: number): number {
    return Math.floor(this.random() * below);
  }

  private node(): Node {
    const number = this.shape.firstNode + (this.nextNode++ % NODES);
    const sid = 1 + number;
    this.driver.node(number, sid);
    return { number, sid };
  }

  /** Mostly 1 to 4; at one level, now and then, up to 64. */
  private breadth(isWide: boolean): number {
    return isWide ? 1 + this.pick(64) : 1 + this.pick(4);
  }

  private receiver(start: number): Receiver {
    return new Receiver(0x4000_0000 + this.shape.firstNode * 65536 + ++this.addresses, start);
  }

  private firstTree(epoch: number): Tree {
    const wide = this.random() < 0.15 ? this.pick(3) : -1;
    const root = placeOf(this.node(), null);
    const give = (place: Place): void => {
      for (let i = this.breadth(wide === 2); i > 0; i--) place.receivers.push(this.receiver(this.source.begin));
    };
    for (let i = this.breadth(wide === 0); i > 0; i--) {
      const child = placeOf(this.node(), root);
      root.children.push(child);
      if (wide === 1 || (wide !== 0 && this.random() < 0.6))
        for (let j = this.breadth(wide === 1 && i === 1); j > 0; j--) {
          const edge = placeOf(this.node(), child);
          child.children.push(edge);
          give(edge);
        }
      if (child.children.length === 0 || this.random() < 0.2) give(child);
    }
    if (this.random() < 0.2) give(root);
    return treeFrom(root, epoch);
  }

  private adopt(tree: Tree): void {
    install(tree, this.driver, this.shape.lists, this.shape.slots);
    this.trees.set(tree.epoch, { tree, until: Infinity });
  }

  // --- Changes of the group ---

  private copyOf(place: Place, parent: Place | null): Place {
    const copy = placeOf(place.node, parent);
    copy.receivers.push(...place.receivers);
    copy.children.push(...place.children.map((child) => this.copyOf(child, copy)));
    return copy;
  }

  /** Receivers join or leave, a subtree moves; the root changes over when the others know. */
  private change(): void {
    const root = this.copyOf(this.tree.root, null);
    const places = [...treeFrom(root, 0).places.values()];
    const edges = places.filter((place) => place.receivers.length > 0);
    const edge = edges[this.pick(edges.length)]!;
    const dice = this.random();
    if (dice < 0.25) {
      this.source.hold = this.source.nextMessage;
      if (edge.receivers.length < 64) edge.receivers.push(this.receiver(this.source.hold));
      this.joined++;
    } else if (dice < 0.4) {
      if (edge.receivers.length > 1) edge.receivers.splice(this.pick(edge.receivers.length), 1);
    } else {
      this.move(places);
    }
    const tree = treeFrom(root, this.tree.epoch + 1);
    this.adopt(tree);
    this.pending = { tree, at: this.now + SETTLE };
  }

  /** A node without children gets another parent, the root or a child of it. */
  private move(places: readonly Place[]): void {
    const from = this.one(places.filter((p) => p.children.length === 0 && p.parent && p.parent.children.length > 1));
    if (!from) return;
    const parent = from.parent!;
    const to = this.one(
      places.filter((p) => !p.parent?.parent && p !== parent && p !== from && p.children.length < 60),
    );
    if (!to) return;
    parent.children.splice(parent.children.indexOf(from), 1);
    const moved = placeOf(from.node, to);
    moved.receivers.push(...from.receivers);
    to.children.push(moved);
    this.moved++;
  }

  private one<T>(from: readonly T[]): T | undefined {
    return from[this.pick(from.length)];
  }

  /** A router loses all that its programs have written. */
  private restart(): void {
    const places = [...this.tree.places.values()];
    const place = places[this.pick(places.length)]!;
    this.driver.clearStates(place.node.number);
    for (const slot of place.slots) this.driver.clearRecord(slot);
    this.restarted++;
  }

  private changeOver(): void {
    if (!this.pending || this.now < this.pending.at) return;
    this.trees.get(this.tree.epoch)!.until = this.now + FORGOTTEN;
    this.tree = this.pending.tree;
    this.pending = undefined;
    this.source.hold = Infinity;
  }

  forgetTrees(all = false): void {
    for (const [epoch, { tree, until }] of this.trees) {
      if (this.now < until && !all) continue;
      for (const remove of tree.written) remove();
      this.trees.delete(epoch);
    }
  }

  // --- Time ---

  /** No more faults: all messages must complete. */
  calm(): void {
    this.loss = 0;
    this.isCalm = true;
  }

  private send(item: Item): void {
    if (this.random() < this.loss) return;
    item.at = this.now + 2 + (this.random() < this.late ? this.pick(8) : 0);
    this.wheel[item.at % WHEEL]!.push(item);
    if (this.loss > 0 && this.random() < 0.03) {
      const again = { ...item, at: this.now + 1 + this.pick(30) };
      this.wheel[again.at % WHEEL]!.push(again);
    }
  }

  /** First half of a step: what happens now, as events for the programs. */
  begin(): void {
    this.now++;
    this.changeOver();
    if (!this.isCalm) {
      if (!this.pending && this.trees.size < 4 && this.random() < 0.02) this.change();
      if (this.random() < 0.0008) this.restart();
    }
    if ((this.now & 63) === 0) this.forgetTrees();
    for (let i = this.pick(4); i > 0; i--) this.sendData();
    this.due = this.wheel[this.now % WHEEL]!;
    this.wheel[this.now % WHEEL] = [];
  }

  private sendData(): void {
    const psn = this.source.send(this.now, WINDOW, TIMEOUT);
    if (psn < 0) return;
    const asks = this.source.isEnd(psn) || this.random() < 0.3 || psn + 1 < this.source.top;
    this.send({ kind: 'data', tree: this.tree, place: this.tree.root, role: BRANCHING, psn, asks, at: 0 });
  }

  /** The items of this step that the programs are to see. */
  get items(): readonly Item[] {
    return this.due;
  }

  write(item: Item, words: Int32Array, at: number): void {
    words[at + AT.nowMs] = this.now;
    writeItem(item, this.source, words, at);
  }

  // --- What comes of it ---

  handle(item: Item, words: Int32Array, at: number): void {
    if (item.kind === 'copy') this.copied(item);
    else if (item.kind === 'source') this.source.confirm(item.m, item.syndrome, this.now);
    else {
      if (item.kind !== 'data' && isNak(item.answer.syndrome)) this.balance.come(words[at + AT.state]! >> 1);
      if (words[at + AT.passed] === 0) return;
      if (item.kind === 'data') this.forward(item, words, at);
      else this.climb(words, at);
    }
  }

  private broken(violations: readonly string[]): void {
    this.violations.push(...violations.map((text) => `seed ${this.shape.seed}: ${text}`));
  }

  private forward(item: Item & { kind: 'data' }, words: Int32Array, at: number): void {
    const { tree, place, psn, asks } = item;
    if (item.role === BRANCHING) {
      for (const child of place.children)
        this.send({ kind: 'data', tree, place: child, role: child.treeList ? BRANCHING : EDGE, psn, asks, at: 0 });
      if (place.edgeList) this.send({ kind: 'data', tree, place, role: EDGE, psn, asks, at: 0 });
      return;
    }
    place.receivers.forEach((receiver, i) => {
      const joined = i < 32 ? words[at + AT.upPsn]! >>> i : words[at + AT.upMsn]! >>> (i - 32);
      if (joined & 1) this.send({ kind: 'copy', receiver, tree, place, psn, asks, at: 0 });
    });
  }

  private copied({ receiver, psn, asks, place }: Item & { kind: 'copy' }): void {
    const answer = receiver.arrive(psn, this.source.isEnd(psn), asks, this.loss > 0 && this.random() < 0.01);
    if (answer && isNak(answer.syndrome)) this.naks++;
    if (answer) this.send({ kind: 'host', receiver, place, answer, at: 0 });
    if (this.loss > 0 && this.random() < 0.01)
      // A liar: far beyond what was sent, or a stranger.
      this.send({
        kind: 'host',
        receiver: this.random() < 0.5 ? receiver : new Receiver(7, 0),
        place,
        answer: { psn: this.source.top + 0x11_0000 + this.pick(0x60_0000), syndrome: 0x1f, msn: 0 },
        at: 0,
      });
  }

  private climb(words: Int32Array, at: number): void {
    const known = this.trees.get(words[at + AT.upEpoch]!);
    const place = known?.tree.places.get(words[at + AT.upState]! >> 1);
    if (!known || !place)
      return this.broken([`an answer of epoch ${words[at + AT.upEpoch]} from a node outside of its tree`]);
    if (isNak(words[at + AT.upSyndrome]!)) this.broken(this.balance.go(place.node.number));
    const answer = { psn: words[at + AT.upPsn]!, syndrome: words[at + AT.upSyndrome]!, msn: words[at + AT.upMsn]! };
    if (place.parent) {
      const { epoch } = known.tree;
      this.send({ kind: 'child', sid: place.node.sid, parent: place.parent, epoch, answer, at: 0 });
    } else this.toSource(known.tree, answer);
  }

  private toSource(tree: Tree, { psn, syndrome }: Answer): void {
    const low = (psn + (isNak(syndrome) ? 0 : 1)) & MASK;
    const m = this.source.una + (((low - this.source.una) << 8) >> 8);
    if (isNak(syndrome)) this.naksAtSource++;
    this.broken(violationsOf(m, tree, this.source, isNak(syndrome) ? 'NAK' : 'ACK'));
    this.send({ kind: 'source', m, syndrome, at: 0 });
  }
}
