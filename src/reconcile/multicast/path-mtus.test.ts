import { describe, expect, test } from 'vitest';
import { readU32Key, u32Key } from '../../kernel/dataplane/layout.ts';
import { MULTICAST_STATE_SIZE, MULTICAST_TOO_BIG_SIZE } from '../../kernel/dataplane/multicast-state.ts';
import { multicastRoleOf, multicastStateIndex } from '../../kernel/dataplane/multicast-lists.ts';
import { address } from '../../model/address.ts';
import { manualClock } from '../../model/clock.ts';
import { silentLog } from '../../model/log.ts';
import { toHex } from '../../packet/hex.ts';
import { parseIcmpv6 } from '../../packet/icmpv6/message.ts';
import type { MulticastPlan } from '../../plan/multicast-plan.ts';
import { PathMtus } from './path-mtus.ts';

const GROUP = '2001:db8:aa::1';
const PARENT = address('2001:db8:c4::b');
const OWN_REPLICATION = address('2001:db8:c1::b');
/** Number of this router. */
const ITSELF = 3;
const PLAN = {
  ...{ endMtTlv: 124, treeTlv: 125 },
  groups: [
    {
      ...{ id: GROUP, proxyAddress: address(GROUP), rootSid: address('2001:db8:c6::b') },
      ...{ edgeSid: address('2001:db8:c1::e'), replicationSid: OWN_REPLICATION },
    },
  ],
} as unknown as MulticastPlan;
const NAMES = new Map([[3, GROUP]]);
type Role = 'edge' | 'branching';

interface Scene {
  readonly parent?: number;
  readonly edgeParent?: number;
  readonly refuses?: boolean;
}

function scene({ parent = 7, edgeParent, refuses = false }: Scene = {}) {
  const clock = manualClock(0);
  const sent: Uint8Array[] = [];
  const counted: string[] = [];
  let changes = 0;
  const noted = new Map<string, readonly [Uint8Array, Uint8Array]>();
  const stateFrom = (number: number): Uint8Array => {
    const state = new Uint8Array(MULTICAST_STATE_SIZE);
    new DataView(state.buffer).setBigUint64(0, (9n << 44n) | (12n << 22n) | BigInt(number), true);
    return state;
  };
  const maps = {
    tooBig: {
      entries: () => noted.values(),
      delete: (key: Uint8Array) => noted.delete(toHex(key)),
    },
    states: {
      lookup: (key: Uint8Array) =>
        stateFrom(multicastRoleOf(readU32Key(key)) === 'edge' ? (edgeParent ?? parent) : parent),
    },
  } as unknown as ConstructorParameters<typeof PathMtus>[0]['maps'];
  const mtus = new PathMtus({
    ...{ clock, log: silentLog, count: (name) => void counted.push(name), maps },
    routerSid: (number) => (number === 7 ? PARENT : number === ITSELF ? OWN_REPLICATION : undefined),
    send: (packet) => {
      if (refuses) throw new Error('ENETUNREACH');
      sent.push(packet);
    },
    onChange: () => void changes++,
  });
  return {
    ...{ clock, sent, counted, mtus, changes: () => changes },
    /** The programs note a packet, and the agent looks. */
    tooBig(role: Role, mtu: number): void {
      const key = u32Key(multicastStateIndex(3, role));
      const value = new Uint8Array(MULTICAST_TOO_BIG_SIZE);
      value.fill(0xa1, 0, 8).fill(0xb1, 8, 16);
      new DataView(value.buffer).setUint32(16, 0x12345, true);
      new DataView(value.buffer).setUint32(20, mtu, true);
      noted.set(toHex(key), [key, value]);
      mtus.look(PLAN, NAMES);
      expect(noted.size).toBe(0);
    },
  };
}

describe('a packet that is too big for a path from here', () => {
  test.each<[Role, string]>([
    ['branching', '2001:db8:c1::b'],
    ['edge', '2001:db8:c1::e'],
  ])('%s: the parent is notified, about the copy that came from there', (role, own) => {
    const { sent, tooBig, mtus } = scene();
    tooBig(role, 1500);
    expect(sent).toHaveLength(1);
    const parsed = parseIcmpv6(sent[0]!);
    expect(parsed).toMatchObject({ ok: true, value: { source: address(own), destination: PARENT, type: 2, code: 0 } });
    const message = toHex(parsed.ok ? parsed.value.message.subarray(4) : new Uint8Array(0));
    const hex = (text: string): string => address(text).value.toString(16).padStart(32, '0');
    expect(message).toBe(
      // MTU; IPv6 header with a routing header behind it, 1461 octets of payload
      `000005dc` +
        `6000000005b52b40${hex('2001:db8:c4::b')}${hex(own)}` +
        // SRH: IPv6 inside, 7 units of 8 octets more, one segment left of two; the Proxy Address, the root
        `2907040101000000${hex(GROUP)}${hex('2001:db8:c6::b')}` +
        `7d16000000012345${'a1'.repeat(8)}${'b1'.repeat(8)}`,
    );
    expect(mtus.of(GROUP, role)).toBe(1500);
  });

  test('the parent is notified at most once a second, but at once if less passes, and again when it happens again', () => {
    const { clock, counted, sent, tooBig } = scene();
    for (let i = 0; i < 9; i++) tooBig('branching', 1500);
    expect(sent).toHaveLength(1);
    tooBig('branching', 1400);
    expect(sent).toHaveLength(2);
    clock.advance(999);
    tooBig('branching', 1500);
    expect(sent).toHaveLength(2);
    clock.advance(1);
    tooBig('branching', 1500);
    expect(sent).toHaveLength(3);
    const mtusSent = sent.map((packet) => new DataView(packet.buffer).getUint32(44));
    expect(mtusSent, 'the smallest in force').toEqual([1500, 1400, 1400]);
    expect(counted.filter((name) => name === 'groups.path-mtu-lowered')).toHaveLength(2);
  });

  test('the root notifies nobody: both its branches and its own receivers count', () => {
    const { sent, tooBig, mtus, changes } = scene({ parent: 0 });
    tooBig('branching', 1500);
    expect(mtus.fromRoot(GROUP)).toBe(1500);
    tooBig('edge', 1450);
    expect([mtus.fromRoot(GROUP), sent, changes()]).toEqual([1450, [], 2]);
  });

  test('to a receiver of a router that replicates: the parent of its branching role is told', () => {
    const { sent, tooBig, mtus } = scene({ edgeParent: ITSELF });
    tooBig('branching', 1500);
    tooBig('edge', 1450);
    const parsed = sent.map((packet) => parseIcmpv6(packet));
    expect(parsed).toMatchObject([1, 2].map(() => ({ value: { source: OWN_REPLICATION, destination: PARENT } })));
    expect(new DataView(sent[1]!.buffer).getUint32(44)).toBe(1450);
    expect([mtus.of(GROUP, 'edge'), mtus.of(GROUP, 'branching')]).toEqual([1450, 1450]);
  });

  test('to a receiver of the root itself: nobody is told', () => {
    const { sent, counted, tooBig, mtus } = scene({ parent: 0, edgeParent: ITSELF });
    tooBig('edge', 1450);
    expect([mtus.fromRoot(GROUP), sent]).toEqual([1450, []]);
    expect(counted).not.toContain('groups.too-big.not-sent');
  });

  test('is forgotten after ten minutes, whatever came meanwhile; 1280 is the least', () => {
    const { clock, tooBig, mtus, changes } = scene();
    tooBig('branching', 100);
    expect(mtus.of(GROUP, 'branching')).toBe(1280);
    clock.advance(599_999);
    tooBig('branching', 1500);
    expect([mtus.of(GROUP, 'branching'), changes()]).toEqual([1280, 1]);
    clock.advance(1);
    mtus.look(PLAN, NAMES);
    expect([mtus.of(GROUP, 'branching'), changes()]).toEqual([undefined, 2]);
  });

  test('is a problem until it is forgotten: the smallest of the group, once', () => {
    const { clock, tooBig, mtus } = scene();
    expect(mtus.problems()).toEqual([]);
    tooBig('branching', 1500);
    tooBig('edge', 1450);
    expect(mtus.problems()).toMatchObject([
      {
        code: 'groups.path-mtu',
        problem:
          `group ${GROUP}: packets of more than 1450 octets, the headers of the tree included, do not fit on a path ` +
          'from here to its receivers, which get none of them',
        remedy: expect.stringContaining('4096 needs 4284 octets or more, 2048 2236, 1024 1212'),
      },
    ]);
    clock.advance(600_000);
    mtus.look(PLAN, NAMES);
    expect(mtus.problems()).toEqual([]);
  });

  test('a message that the kernel refuses is counted, and so is one to a parent that is not known', () => {
    const { counted, tooBig } = scene({ refuses: true });
    tooBig('branching', 1500);
    expect(counted).toContain('groups.too-big.not-sent');
    const stranger = scene({ parent: 8 });
    stranger.tooBig('branching', 1500);
    expect([stranger.sent, stranger.counted]).toEqual([[], ['groups.path-mtu-lowered', 'groups.too-big.not-sent']]);
  });
});
