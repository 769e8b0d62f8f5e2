// What is on its way in a world of the model, and how the programs see it.
import { AT, BEGINS, BRANCHING, EDGE, EVENT } from './driver.ts';
import type { Answer, Receiver, Source } from './endpoints.ts';
import type { Place, Tree } from './tree.ts';

export type Item =
  | { kind: 'data'; tree: Tree; place: Place; role: number; psn: number; asks: boolean; at: number }
  | { kind: 'copy'; receiver: Receiver; tree: Tree; place: Place; psn: number; asks: boolean; at: number }
  | { kind: 'host'; receiver: Receiver; place: Place; answer: Answer; at: number }
  | { kind: 'child'; sid: number; parent: Place; epoch: number; answer: Answer; at: number }
  | { kind: 'source'; m: number; syndrome: number; at: number };

const MASK = 0xff_ffff;

/** Writes an item that the programs see as an event. */
export function writeItem(item: Item, source: Source, words: Int32Array, at: number): void {
  if (item.kind === 'data') {
    const { node, parent, edgeList, treeList } = item.place;
    const isOwn = item.role === EDGE && treeList !== 0;
    words[at + AT.kind] = isOwn ? EVENT.own : EVENT.data;
    words[at + AT.state] = node.number * 2 + item.role;
    words[at + AT.list] = item.role === EDGE ? edgeList : treeList;
    words[at + AT.epoch] = item.tree.epoch;
    words[at + AT.parent] = isOwn ? 0 : (parent?.node.number ?? -1) + 1;
    words[at + AT.psn] = (item.psn & MASK) | (source.isBegin(item.psn) ? BEGINS : 0);
  } else if (item.kind === 'host' || item.kind === 'child') {
    const isHost = item.kind === 'host';
    words[at + AT.kind] = isHost ? EVENT.host : EVENT.child;
    words[at + AT.state] = isHost ? item.place.node.number * 2 + EDGE : item.parent.node.number * 2 + BRANCHING;
    words[at + AT.epoch] = isHost ? 0 : item.epoch;
    words[at + AT.sender] = isHost ? item.receiver.address : item.sid;
    words[at + AT.psn] = item.answer.psn & MASK;
    words[at + AT.msn] = item.answer.msn & MASK;
    words[at + AT.syndrome] = item.answer.syndrome;
  }
}
