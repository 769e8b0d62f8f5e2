import { expect, test } from 'vitest';
import { goodRun, portResult, runsWith, summary } from '../runs.fixture.ts';
import type { NodeNotifications, RunResult } from '../results.ts';
import { sidEvidence, srv6Wan } from './srv6-wan.ts';

const P1: NodeNotifications = { node: '2001:db8:ffff::2', count: 5, firstMs: 2, actions: {} };
const good: Partial<RunResult> = {
  notifications: summary('fast-cnp', { nodes: [P1] }),
  tunneled: { count: 5, unchanged: true },
};
const withCnpd = (change: Partial<RunResult>): string =>
  srv6Wan.verdict(runsWith(srv6Wan, 'fast-cnp', { ...good, ...change })).join('\n');
const withReceiver = (change: Partial<RunResult>): string => {
  const [none, , cnpd] = runsWith(srv6Wan, 'fast-cnp', good);
  return srv6Wan.verdict([none!, goodRun(srv6Wan, 'receiver', 'fast-cnp', change), cnpd!]).join('\n');
};

test('A17: Fast CNPs that came to END.CON and reached h1 as they were pass', () => {
  expect(withCnpd({})).toBe('');
});

test.each<[string, Partial<RunResult>]>([
  ['no notification came to END.CON', { tunneled: { count: 0, unchanged: true } }],
  ['no notification came to END.CON', { tunneled: null }],
  ['byte for byte', { tunneled: { count: 5, unchanged: false } }],
  ['p1 counts 5', { tunneled: { count: 4, unchanged: true } }],
  [
    'expected 2001:db8:ffff::2 alone',
    { notifications: summary('fast-cnp', { nodes: [P1, { ...P1, node: '2001:db8:2::2' }] }) },
  ],
  ['expected fast-cnp', { notifications: summary('cnp', { nodes: [P1] }) }],
])('A17: a cnpd run fails when %s: %j', (message, change) => {
  expect(withCnpd(change)).toContain(message);
});

test('A16: every mark of p1 has to reach the receiver, and there has to be one', () => {
  expect(withReceiver({})).toBe('');
  expect(withReceiver({ ceAtReceiver: 0 })).toContain('the receiver saw 0 marks');
  expect(withReceiver({ ceAtReceiver: 10 })).toContain('the receiver saw 10 marks');
  expect(
    withReceiver({
      ceAtReceiver: 0,
      ports: [portResult('p1 eth2', { counted: { ceMarked: 0, triggers: 0, notifications: 0, deferred: 0 } })],
    }),
  ).toContain('p1 marked nothing');
});

const row = {
  sid: '2001:db8:c1::c',
  behavior: 'END.CON',
  origin: 'learned',
  status: 'reachable',
  carrier: 'isis',
  originator: 'L2 0000.0000.c001',
};

test('FCN-4.2.2-a: the SID has to be learned from IS-IS, and reachable', () => {
  expect(sidEvidence(row)).toEqual({
    sentences: ['p1 has learned over isis that 2001:db8:c1::c is END.CON (from L2 0000.0000.c001, reachable)'],
    failures: [],
  });
  for (const change of [{ origin: 'local' }, { behavior: 'End' }, { status: 'held' }, { carrier: undefined }])
    expect(sidEvidence({ ...row, ...change }).failures).toHaveLength(1);
});
