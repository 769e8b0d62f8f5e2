// What a process that did not attach a program can know of it and do to it by its pin alone, in either mechanism: this
// is how an agent takes off what its predecessor left, and how uninstall takes off everything.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mountBpffs, unmountBpffs } from '../../src/kernel/bpf/bpffs.ts';
import { type BpfObject, openBpfObject } from '../../src/kernel/bpf/object.ts';
import type { TcxLink } from '../../src/kernel/bpf/tc-attachment.ts';
import { attachTcx, detachPinnedLink, pinnedLinkTarget } from '../../src/kernel/bpf/tcx.ts';
import { interfaceIndex } from '../../src/kernel/ffi/libc.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { compileCounterProgram } from './support/counter-program.ts';
import { inNetns, ip } from '../support/netns.ts';

let directory: string;
let pins: string;
let object: BpfObject;
let netns: Netns;
let ifindex: number;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 't-kernel-attachment-'));
  pins = join(directory, 'bpffs');
  mountBpffs(pins);
  object = openBpfObject(compileCounterProgram(directory, 'good'));
});
afterAll(() => {
  object.close();
  unmountBpffs(pins);
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  netns = Netns.create();
  ip(netns, 'link add t-k-a type veth peer name t-k-b');
  ifindex = netns.run(() => interfaceIndex('t-k-a'));
});
afterEach(() => netns.close());

const pinned = (): string[] => readdirSync(pins).filter((name) => !name.endsWith('.debug'));
const filters = (): string => inNetns(netns, 'tc', 'filter', 'show', 'dev', 't-k-a', 'egress');

const pin = (): string => join(pins, 'count@t-k-a:egress');
/** As an earlier process leaves it. */
const attached = (how: { mechanism: 'tcx' | 'clsact'; first?: boolean }): void =>
  attachTcx({
    program: object.program('count_first'),
    ifindex,
    direction: 'egress',
    pinPath: pin(),
    netns,
    ...how,
  }).close();

describe.each(['tcx', 'clsact'] as const)('a program that an earlier process attached by %s', (mechanism) => {
  const attach = (first = false): void => attached({ mechanism, first });
  const target = (): unknown => netns.run(() => pinnedLinkTarget(join(pins, pinned()[0]!)));

  test.each([true, false])('is found by its pin, with where it hangs, and taken off (first: %s)', (first) => {
    attach(first);
    attach(first);
    expect(pinned()).toEqual(['count@t-k-a:egress']);
    expect(target()).toEqual({ ifindex, direction: 'egress' });
    // tc shows no TCX links.
    if (mechanism === 'clsact') expect(filters()).toContain('count_first');
    netns.run(() => detachPinnedLink(join(pins, pinned()[0]!)));
    expect(filters()).toBe('');
    expect(pinned()).toEqual([]);
  });

  test('has no place any more when its interface is gone, and its pin can be removed', () => {
    attach();
    ip(netns, 'link delete t-k-a');
    expect(target()).toBeUndefined();
    netns.run(() => detachPinnedLink(join(pins, pinned()[0]!)));
    expect(pinned()).toEqual([]);
  });
});

test('a filter that another program has removed has no target any more', () => {
  attached({ mechanism: 'clsact' });
  inNetns(netns, 'tc', 'filter', 'delete', 'dev', 't-k-a', 'egress');
  expect(netns.run(() => pinnedLinkTarget(pin()))).toBeUndefined();
  netns.run(() => detachPinnedLink(pin()));
  expect(pinned()).toEqual([]);
});

describe('the clsact qdisc', () => {
  const hasQdisc = (): boolean => inNetns(netns, 'tc', 'qdisc', 'show', 'dev', 't-k-a').includes('clsact');
  const attach = (direction: 'ingress' | 'egress', name?: string): TcxLink =>
    attachTcx({
      program: object.program('count_first'),
      ifindex,
      direction,
      pinPath: name && join(pins, name),
      netns,
      mechanism: 'clsact',
    });

  test('is removed with the last filter of cnpd, whichever that is, if cnpd created it', () => {
    for (const order of [0, 1]) {
      const links = [attach('ingress', 'one'), attach('egress', 'two')];
      links[order]!.detach();
      expect(hasQdisc()).toBe(true);
      links[1 - order]!.detach();
      expect(hasQdisc()).toBe(false);
    }
  });

  test('is removed by a later process, which attached the program again or found only its mark', () => {
    attach('ingress', 'one').close();
    attach('ingress', 'one').detach();
    expect(hasQdisc()).toBe(false);
    attach('ingress', 'one').close();
    netns.run(() => detachPinnedLink(join(pins, 'one')));
    expect(hasQdisc()).toBe(false);
  });

  test('stays if it was there before cnpd', () => {
    inNetns(netns, 'tc', 'qdisc', 'add', 'dev', 't-k-a', 'clsact');
    const links = [attach('ingress', 'one'), attach('egress', 'two')];
    for (const link of links) link.detach();
    expect(hasQdisc()).toBe(true);
  });

  test('stays while it holds another program’s filter', () => {
    const link = attach('egress', 'one');
    const foreign = attach('ingress');
    link.detach();
    expect(hasQdisc()).toBe(true);
    foreign.detach();
  });

  test('stays if another program has removed the filter, and perhaps created the qdisc anew', () => {
    const link = attach('egress', 'one');
    inNetns(netns, 'tc', 'qdisc', 'delete', 'dev', 't-k-a', 'clsact');
    inNetns(netns, 'tc', 'qdisc', 'add', 'dev', 't-k-a', 'clsact');
    attach('ingress', 'two').detach();
    link.detach();
    expect(hasQdisc()).toBe(true);
  });
});
