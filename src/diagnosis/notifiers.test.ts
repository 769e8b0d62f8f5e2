import { expect, test } from 'vitest';
import { intentOf } from '../plan/inputs.fixture.ts';
import { notifierNotes } from './notifiers.ts';

const notes = (acceptFrom: string, senders: string): string[] =>
  notifierNotes(
    intentOf(
      `proxy: { address: 2001:db8:ffff::1, senders: [${senders
        .split(' ')
        .map((prefix) => `{ prefix: "${prefix}", format: standard-cnp }`)
        .join(', ')}], accept-from: [${acceptFrom
        .split(' ')
        .map((prefix) => `"${prefix}"`)
        .join(', ')}] }\n`,
    ),
  ).map(({ problem }) => problem);

test.each([
  ['2001:db8::/32', '2001:db8:1::/64'],
  ['2001:db8:1::5/128', '2001:db8:1::/64'],
  ['2001:db8:1::/64', '2001:db8:1::/64'],
  ['10.0.0.0/8', '2001:db8:1::/64 10.1.2.0/24'],
  ['2001:db8::/32 2001:db8::/48', '2001:db8:ff::/48'],
])('PNC-6-a: a sender in accept-from is noted as a notifier: %s, %s', (from, senders) => {
  expect(notes(from, senders)).toEqual([
    expect.stringMatching(/^\S+ under proxy\.accept-from and \S+ under proxy\.senders have addresses in common/),
  ]);
});

test.each([
  ['2001:db8:ffff::/48 192.0.2.0/24', '2001:db8:1::/64 10.0.0.0/8'],
  ['::a00:0/104', '10.0.0.0/8'],
])('apart they are not: %s, %s', (from, senders) => expect(notes(from, senders)).toEqual([]));

test('a host behind a source that is accepted there is noted as well', () => {
  const source = (from: string): string =>
    `source: { senders: [{ prefix: 2001:db8:1::/64, action: convert }], accept-from: ["${from}"] }\n`;
  expect(notifierNotes(intentOf(source('2001:db8::/32')))).toEqual([
    {
      ...{ code: 'source.hosts-are-notifiers', feature: 'source', problem: expect.stringContaining('source.senders') },
      remedy: 'name only addresses of routers under source.accept-from',
    },
  ]);
  expect(notifierNotes(intentOf(source('2001:db8:ffff::/48')))).toEqual([]);
});

test('a router that is no proxy has no notes', () => expect(notifierNotes(intentOf(''))).toEqual([]));
