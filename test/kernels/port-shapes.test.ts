// Monitored ports as users have them, in guests: several transmit queues below an mq, and VLANs
// and bonds above such ports. This machine's kernel may lack all of it.
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Guest } from '../guests/guest.ts';
import { WHY_NOT, runInGuest } from './guest-program.ts';
import { LIMIT_MS, bootKernel, kernels } from './kernels.ts';

const MODULES = [
  'veth',
  'sch_tbf',
  'sch_fq',
  'sch_fq_codel',
  'sch_mqprio',
  'sch_ingress',
  'cls_bpf',
  '8021q',
  'bonding',
  'virtio_net',
];
/** A card whose device sends into a socket that nobody reads. */
const CARD_SOCKET = 9;
const CARD = ['-netdev', `socket,id=stuck,fd=${CARD_SOCKET}`, '-device', 'virtio-net-pci,netdev=stuck'];
const WITH_SOCKET = `
import os, socket, sys
card, unread = socket.socketpair()
card.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
os.set_inheritable(unread.fileno(), True)
os.dup2(card.fileno(), ${CARD_SOCKET})
os.execvp(sys.argv[1], sys.argv[1:])
`;

interface Measured {
  readonly queues: readonly number[];
  readonly depth: number;
  readonly root: number;
  readonly empty: readonly number[];
  readonly at: readonly number[];
  readonly above: readonly number[];
  readonly fact: unknown;
}

interface Seen {
  readonly tbf: Measured;
  readonly fq: Measured;
  readonly shared: { readonly depth: number; readonly seen: readonly number[] };
  readonly classes: Measured;
  readonly fast: Readonly<Record<'mq' | 'mqprio', { readonly queues: number; [when: string]: unknown }>>;
  readonly vlan: readonly boolean[];
  readonly bond: readonly boolean[];
  readonly single: readonly (Pick<Measured, 'depth' | 'empty' | 'at' | 'above'> & { readonly kind: string })[];
  readonly lower: Readonly<Record<'vlan' | 'port' | 'bond' | 'slave', { ifindex: number; [field: string]: unknown }>>;
}

describe.skipIf(WHY_NOT !== undefined).each(kernels('stock', 'backported'))(
  WHY_NOT ?? 'in a guest with %s',
  (_, tested) => {
    let guest: Guest | undefined;
    let whyNot: string | undefined;
    let seen: Seen;
    beforeAll(async () => {
      ({ guest, whyNot } = await bootKernel(tested, {
        ...{ name: 'port-shapes', modules: MODULES, part: 'ports', devices: CARD },
        spawn: (command) => spawn('python3', ['-c', WITH_SOCKET, ...command], { stdio: ['ignore', 'ignore', 'pipe'] }),
      }));
      if (whyNot === undefined) seen = (await runInGuest(guest, 'port-shapes', LIMIT_MS)) as Seen;
    }, 2 * LIMIT_MS);
    beforeEach(({ skip }) => skip(whyNot !== undefined, whyNot));
    afterAll(() => guest?.stop());

    test.each([
      ['mq', 'tbf', 'tbf'],
      ['mq', 'fq', 'fq'],
      ['mqprio', 'tbf', 'classes'],
    ] as const)('LHCNP-5.3.1-a: below an %s, the depth is the sum over its queues: %s', (rootKind, child, of) => {
      const { queues, depth, root, empty, at, above, fact } = seen[of];
      expect(queues).toHaveLength(4);
      // More than one has something, or a sum would prove nothing.
      expect(queues.filter((bytes) => bytes > 0).length).toBeGreaterThan(1);
      expect({ root, empty, at, above }).toEqual({ root: depth, empty: [], at: [], above: [depth] });
      expect(fact).toMatchObject({ rootKind, queueKinds: [child, child, child, child] });
    });

    test.each(['mq', 'mqprio'] as const)('pfifo_fast below an %s is a problem, and its remedy works', (rootKind) => {
      const { before, after, queues } = seen.fast[rootKind];
      expect(before).toMatchObject({ problem: expect.stringContaining(`is ${rootKind} with pfifo_fast below it`) });
      const measured = expect.stringContaining(`the sum over 4 transmit queues (4 fq_codel) below ${rootKind}`);
      expect({ after, queues }).toMatchObject({ after: { readable: true, measured }, queues: 4 });
    });

    test('the depth of any other root is that of `tc`, but pfifo_fast reads as 0 while its queue is full', () => {
      expect(seen.single.map(({ kind }) => kind)).toEqual(['fq_codel', 'pfifo', 'bfifo', 'pfifo_fast']);
      for (const { kind, depth, empty, at, above } of seen.single) {
        expect(depth, kind).toBeGreaterThan(0);
        const notified = kind === 'pfifo_fast' ? [] : [depth];
        expect({ kind, empty, at, above }).toEqual({ kind, empty: notified, at: [], above: notified });
      }
    });

    test('a root that all queues share is counted once, even before the agent knows it', () => {
      expect(seen.shared.seen).toEqual([seen.shared.depth]);
    });

    test('packets of a VLAN and of a bond are notified about at the port that queues them', () => {
      expect({ vlan: seen.vlan, bond: seen.bond }).toEqual({ vlan: [true], bond: [true] });
    });

    test('what is below a VLAN and a bond is known', () => {
      const { vlan, port, bond, slave } = seen.lower;
      expect(vlan).toMatchObject({ kind: 'vlan', lower: port.ifindex });
      expect(bond).toMatchObject({ kind: 'bond' });
      expect(slave).toMatchObject({ master: bond.ifindex });
      expect(port).not.toHaveProperty('lower');
    });
  },
);
