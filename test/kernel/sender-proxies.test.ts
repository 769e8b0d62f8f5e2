// The dataplane is given a whole desired state each time; of the senders' proxies it writes what has changed since the
// state before, and nothing else.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mountBpffs, unmountBpffs } from '../../src/kernel/bpf/bpffs.ts';
import { EGRESS_MAPS, decodeSenderProxy } from '../../src/kernel/dataplane/egress.ts';
import { decodePrefixKey, prefixKey } from '../../src/kernel/dataplane/layout.ts';
import { Netns } from '../../src/kernel/netns.ts';
import type { ForwardingEntry } from '../../src/learned/forwarding.ts';
import { Senders } from '../../src/learned/senders.ts';
import { address, formatAddress } from '../../src/model/address.ts';
import { manualClock } from '../../src/model/clock.ts';
import { silentLog } from '../../src/model/log.ts';
import { formatPrefix, prefix } from '../../src/model/prefix.ts';
import { ManualWork } from '../../src/model/work.fixture.ts';
import { type DesiredState, NO_SENDER_PROXIES, type SenderProxies } from '../../src/plan/desired.ts';
import { Dataplane } from '../../src/reconcile/dataplane.ts';

const [A, B, C] = ['2001:db8:a::/48', '2001:db8:b::/48', '2001:db8:c::/48'] as const;
const entry = (id: string, proxy = '2001:db8::9'): ForwardingEntry => ({
  id,
  prefix: prefix(id),
  proxy: address(proxy),
});

let directory: string, bpfDir: string;
let ns: Netns;
let work: ManualWork;
let dataplane: Dataplane;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 't-senders-'));
  bpfDir = join(directory, 'bpf');
  mountBpffs(bpfDir);
  mkdirSync(join(bpfDir, 'links'));
  ns = Netns.create();
  work = new ManualWork();
  dataplane = open();
});
afterEach(() => {
  dataplane.close();
  unmountBpffs(bpfDir);
  ns.close();
  rmSync(directory, { recursive: true });
});

const open = (): Dataplane =>
  new Dataplane(
    { bpfDir, linksDir: join(bpfDir, 'links'), objectDir: new URL('../../dist/bpf', import.meta.url).pathname },
    { clock: manualClock(), work, log: silentLog, count: () => {} },
  );

/** Of a congested node without ports: only its tables matter here. */
const DESIRED: DesiredState = {
  ports: [],
  builder: { source4: null, source6: address('2001:db8::1'), udpPort: 1021 },
  senderProxies: NO_SENDER_PROXIES,
  senderPolicies: [],
  senderCapabilities: [],
  endConSids: [],
  guards: [],
  problems: [],
};
const apply = (senderProxies: SenderProxies, desired = DESIRED): void => {
  ns.run(() => dataplane.apply({ ...desired, senderProxies }));
  work.settle();
};
const map = () => dataplane.congestedNode!.object.map(EGRESS_MAPS.senderProxies);
const rows = (): string[] =>
  [...map().entries()]
    .map(([key, value]) => {
      const proxy = decodeSenderProxy(value);
      return `${formatPrefix(decodePrefixKey(key))} ${proxy ? formatAddress(proxy) : 'none'}`;
    })
    .sort();

describe("the senders' proxies of a desired state", () => {
  const first = (): Senders => new Senders(() => [entry(A), entry(B)]);

  test('are all written when the feature is opened', () => {
    apply(first());
    expect(rows()).toEqual([`${A} 2001:db8::9`, `${B} 2001:db8::9`]);
  });

  test('one changed prefix is one entry: what else is in the map is neither read nor written', () => {
    const before = first();
    apply(before);
    // What somebody else has removed is put back by a full pass, not by a change of its neighbor.
    map().delete(prefixKey(prefix(A)));
    const after = before.after({ upserts: [entry(C)], deletes: [prefix(B)], more: false });
    apply(after);
    expect(rows()).toEqual([`${C} 2001:db8::9`]);
    expect(dataplane.problems()).toEqual([]);
  });

  test('follow from a state several changes ago, in the order of the changes', () => {
    const before = first();
    apply(before);
    const after = before
      .after({ upserts: [], deletes: [prefix(A)], more: false })
      .after({ upserts: [entry(A, '2001:db8::8')], deletes: [], more: false });
    // Something else has changed as well: all of the state is applied.
    apply(after, { ...DESIRED, senderPolicies: [] });
    expect(rows()).toEqual([`${A} 2001:db8::8`, `${B} 2001:db8::9`]);
  });

  test('go when no notice is sent to a proxy any more, and come back with all of them', () => {
    apply(first());
    apply(NO_SENDER_PROXIES);
    expect(rows()).toEqual([]);
    apply(first());
    expect(rows()).toHaveLength(2);
  });

  test('of an earlier run stay until the network has had time to teach them again', () => {
    apply(first());
    dataplane.close();
    dataplane = open();
    apply(new Senders(() => [entry(B)]));
    expect(rows()).toHaveLength(2);
    dataplane.forgetUnknown();
    work.settle();
    expect(rows()).toEqual([`${B} 2001:db8::9`]);
  });
});
