// Several nodes hold one flow.
import { expect, test } from 'vitest';
import { formatAddress } from '../model/address.ts';
import { NODE, OTHER, RTT, THIRD, World } from './holds.fixture.ts';

const nodesOf = (w: World): string[] => [...w.holds.views(w.now)][0]!.nodes.map(({ node }) => formatAddress(node));

test('A9: when a second node escalates from the first one’s Reduce to Pause, the stricter holds, and then the reduction again', () => {
  const w = new World({ rttMs: 50 });
  w.instruct('rate-reduce', 30, NODE);
  w.pass(50);
  w.instruct('pause', 20_000, OTHER);
  expect([w.rate(), w.paused()]).toEqual([0.7, true]);
  w.pass(70);
  expect([w.rate(), w.paused()]).toEqual([0.7, false]);
});

test('a Resume of one node lifts no reduction and no pause of another', () => {
  const w = new World();
  w.instruct('rate-reduce', 60, NODE);
  w.instruct('pause', 30_000, NODE);
  w.instruct('rate-reduce', 30, OTHER);
  w.instruct('pause', 50_000, OTHER);
  expect(w.instruct('resume', 0, OTHER)).toMatchObject([{ kind: 'pause', microseconds: 30_000 }]);
  expect([w.rate(), w.paused()]).toEqual([0.4, true]);
  expect(w.instruct('resume', 0, THIRD)).toEqual([]);
  expect(w.counts['source.hold.nothing-to-resume']).toBe(1);
});

test('the latest end of the pauses holds', () => {
  const w = new World();
  w.instruct('pause', 10_000, NODE);
  expect(w.instruct('pause', 5000, OTHER)).toEqual([]);
  expect(w.instruct('pause', 30_000, THIRD)).toMatchObject([{ kind: 'pause', microseconds: 30_000 }]);
  w.pass(29.9);
  expect(w.paused()).toBe(true);
});

test('LHCNP-5.5.1-e: nodes that reduce within an RTT_est have seen the same rate; one that does so later has seen the reduced rate', () => {
  const w = new World();
  w.instruct('rate-reduce', 50, NODE);
  w.pass(RTT - 0.1);
  w.instruct('rate-reduce', 60, OTHER);
  expect(w.rate()).toBe(0.4);
  w.pass(RTT);
  w.instruct('rate-reduce', 50, THIRD);
  expect(w.rate()).toBe(0.2);
});

test('LHCNP-5.5.1-e: a node that reduces twice within an RTT_est reduces what it left of the rate that it saw', () => {
  const w = new World();
  w.instruct('rate-reduce', 70, NODE);
  w.instruct('rate-reduce', 50, OTHER);
  w.pass(RTT / 2);
  w.instruct('rate-reduce', 60, OTHER);
  expect(w.rate()).toBe(0.2);
});

test('LHCNP-5.5.1-e: the RTT_est in which nodes have seen the same rate begins with the first reduction, not with a pause', () => {
  const w = new World();
  w.instruct('pause', 1000, NODE);
  w.pass(RTT - 1);
  w.instruct('rate-reduce', 50, NODE);
  w.pass(RTT + 5);
  w.instruct('rate-reduce', 60, OTHER);
  expect(w.rate()).toBe(0.4);
});

test('LHCNP-5.5.1-e: after recovery the rate that nodes see is the recovered one', () => {
  const w = new World({ recoverySteps: 10 });
  w.instruct('rate-reduce', 50, NODE);
  w.pass(2 * RTT);
  w.instruct('rate-reduce', 50, OTHER);
  expect(w.rate()).toBe(0.3);
});

test('LHCNP-5.6-g, A7: a notification of one node keeps the reductions of all from recovering; a Resume does not', () => {
  const w = new World({ recoverySteps: 10 });
  w.instruct('rate-reduce', 50, NODE);
  w.instruct('pause', 1000, OTHER);
  w.pass(0.5);
  w.instruct('resume', 0, OTHER);
  w.instruct('pause', 1000, OTHER);
  w.pass(15);
  w.instruct('pause', 1000, OTHER);
  w.pass(15.5);
  w.instruct('resume', 0, OTHER);
  expect(w.pass(34.9)).toEqual([]);
  w.pass(35);
  expect(w.rate()).toBe(0.6);
});

test('above the limit the node with the highest rate is displaced, and counted; what it paused stays paused to the end', () => {
  const w = new World({ mostNodes: 2 });
  w.instruct('rate-reduce', 50, NODE);
  w.instruct('rate-reduce', 40, OTHER);
  w.instruct('pause', 8000, OTHER);
  w.instruct('rate-reduce', 45, THIRD);
  expect(nodesOf(w)).toEqual([NODE, THIRD].map(formatAddress));
  expect([w.rate(), w.paused(), w.counts['source.hold.node-displaced']]).toEqual([0.5, true, 1]);
  // It is not known any more.
  w.instruct('resume', 0, OTHER);
  w.pass(7.9);
  expect(w.paused()).toBe(true);
  w.pass(8);
  expect(w.paused()).toBe(false);
});

test('a new node that asks for the least is itself displaced: its pause ends by itself', () => {
  const w = new World({ mostNodes: 1 });
  w.instruct('rate-reduce', 50, NODE);
  w.instruct('pause', 8000, OTHER);
  expect([nodesOf(w), w.paused()]).toEqual([[formatAddress(NODE)], true]);
  w.pass(8);
  expect([w.paused(), w.rate()]).toEqual([false, 0.5]);
});

test('a pause of a displaced node holds the flow when nothing else does', () => {
  const w = new World({ mostNodes: 1 });
  w.instruct('rate-reduce', 50, NODE);
  w.instruct('pause', 8000, OTHER);
  expect(w.instruct('resume', 0, NODE).map(({ kind }) => kind)).toEqual(['rate']);
  expect(w.pass(7.999)).toEqual([]);
  expect(w.pass(8).map(({ kind }) => kind)).toEqual(['resume', 'leave']);
});

test('of equal nodes that which was heard of longest ago is displaced', () => {
  const w = new World({ mostNodes: 2, rttMs: 50 });
  w.instruct('rate-reduce', 50, NODE);
  w.pass(1);
  w.instruct('rate-reduce', 50, OTHER);
  w.pass(2);
  w.instruct('rate-reduce', 50, THIRD);
  expect(nodesOf(w)).toEqual([THIRD, OTHER].map(formatAddress));
});

test('a node that restricts nothing any more needs no place', () => {
  const w = new World({ mostNodes: 2 });
  w.instruct('rate-reduce', 50, NODE);
  w.instruct('pause', 1000, OTHER);
  w.pass(1);
  w.instruct('pause', 1000, THIRD);
  expect(nodesOf(w)).toEqual([NODE, THIRD].map(formatAddress));
  expect(w.counts['source.hold.node-displaced']).toBeUndefined();
});

test('the views have the strictest node first', () => {
  const w = new World();
  w.instruct('pause', 5000, OTHER);
  w.instruct('pause', 9000, THIRD);
  w.instruct('rate-reduce', 30, NODE);
  expect(nodesOf(w)).toEqual([NODE, THIRD, OTHER].map(formatAddress));
  w.instruct('rate-reduce', 60, OTHER);
  expect(nodesOf(w)).toEqual([OTHER, NODE, THIRD].map(formatAddress));
});
