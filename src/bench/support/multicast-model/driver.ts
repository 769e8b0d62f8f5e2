// Batches of events for the aggregation of answers: bpf/bench/multicast-model.bpf.c runs them through the same
// functions that packets take. A node of a simulated tree is a group of that object.
import { type BpfObject, openBpfObject } from '../../../kernel/bpf/object.ts';
import type { BpfMap } from '../../../kernel/bpf/map.ts';
import { u32Key } from '../../../kernel/dataplane/layout.ts';
import { MULTICAST_STATE_SIZE } from '../../../kernel/dataplane/multicast-state.ts';

const EVENTS = 4096;
const WORDS = 16;
/** `own`: data that the node's branching role hands to its edge role. `take`: a NAK with this syndrome goes up. */
export const EVENT = { data: 1, host: 2, child: 3, own: 4, take: 5 } as const;
/** Words of an event. */
export const AT = {
  kind: 0,
  state: 1,
  list: 2,
  epoch: 3,
  parent: 4,
  psn: 5,
  sender: 6,
  msn: 7,
  syndrome: 8,
  nowMs: 9,
  passed: 10,
  upState: 11,
  upEpoch: 12,
  upPsn: 13,
  upMsn: 14,
  upSyndrome: 15,
} as const;
export const EDGE = 0;
export const BRANCHING = 1;
/** In the PSN of data: the packet begins a message. */
export const BEGINS = 0x100_0000;

const ZERO = u32Key(0);
const FRAME = new Uint8Array(64);

/** Of a record of a branch: 0 for the local branch, else the last word of its address. */
export const addressOf = (word: number): Uint8Array => {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(12, word, true);
  return bytes;
};

export class ModelDriver {
  readonly object: BpfObject;
  readonly memory = new Int32Array((EVENTS + 1) * WORDS);
  events = 0;
  programNs = 0;
  private count = 0;
  private readonly maps: Readonly<Record<string, BpfMap>>;
  private readonly bytes = new Uint8Array(this.memory.buffer);

  constructor(path: string) {
    this.object = openBpfObject(path);
    const names = ['lists', 'branches', 'members', 'records', 'states', 'groups', 'routers', 'router_sids'];
    this.maps = Object.fromEntries(names.map((name) => [name, this.object.map(`multicast_${name}`)]));
  }

  /** Offset of a new event's words. Call run() when it is full. */
  add(): number {
    const at = (1 + this.count++) * WORDS;
    this.memory.fill(0, at, at + WORDS);
    return at;
  }

  get isFull(): boolean {
    return this.count === EVENTS;
  }

  /** Runs what was added; the results are in `memory` then. */
  run(): void {
    this.memory[0] = this.count;
    const map = this.object.map('model_events');
    map.update(ZERO, this.bytes);
    this.programNs += this.object.program('multicast_model').testRun({ data: FRAME }).durationNs;
    this.bytes.set(map.lookup(ZERO)!);
    this.events += this.count;
    this.count = 0;
  }

  list(id: number, list: { group: number; first: number; count: number; role: number; hasLocal: boolean }): void {
    const value = new Uint8Array(16);
    const view = new DataView(value.buffer);
    view.setUint32(0, list.group, true);
    view.setUint32(4, list.first, true);
    view.setUint16(8, list.count, true);
    view.setUint8(10, list.role);
    view.setUint8(11, list.hasLocal ? 1 : 0);
    this.maps['lists']!.update(u32Key(id), value);
  }

  /** A branch with an empty record; `address` 0: the local branch. */
  branch(slot: number, list: number, address: number): void {
    const value = new Uint8Array(40);
    value.set(addressOf(address));
    this.maps['branches']!.update(u32Key(slot), value);
    this.clearRecord(slot);
    if (address !== 0) this.maps['members']!.update(memberKey(list, address), u32Key(slot));
  }

  forget(list: number, address: number): void {
    if (address !== 0) this.maps['members']!.delete(memberKey(list, address));
  }

  clearRecord(slot: number): void {
    this.maps['records']!.update(u32Key(slot), new Uint8Array(56));
  }

  /** Both roles of a node. */
  clearStates(node: number): void {
    for (const role of [EDGE, BRANCHING])
      this.maps['states']!.update(u32Key(node * 2 + role), new Uint8Array(MULTICAST_STATE_SIZE));
  }

  /** The node's number as a router is its number as a group + 1; its SID's last word is `sid`. */
  node(node: number, sid: number): void {
    const value = new Uint8Array(this.maps['groups']!.info.valueSize);
    value.set(addressOf(sid), 48);
    this.maps['groups']!.update(u32Key(node), value);
    this.maps['routers']!.update(addressOf(sid), u32Key(node + 1));
    this.maps['router_sids']!.update(u32Key(node + 1), addressOf(sid));
    this.clearStates(node);
  }

  close(): void {
    this.object.close();
  }
}

function memberKey(list: number, address: number): Uint8Array {
  const key = new Uint8Array(24);
  key.set(addressOf(address));
  new DataView(key.buffer).setUint32(16, list, true);
  return key;
}
