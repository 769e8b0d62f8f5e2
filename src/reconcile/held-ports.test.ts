// What becomes of the ports that hold traffic when that changes: in which order, and what is tried again.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../model/log.ts';
import type { PortChoice } from './hold-edt-ports.ts';
import { HeldPorts, type HeldPort } from './held-ports.ts';

const A = 2;
const port = (more: Partial<HeldPort> = {}): HeldPort => ({
  ...{ interface: 'eth0', ifindex: A, purpose: 'enforce', enforce: { queueing: 'fq', buffer: 1 } },
  ...more,
});
const CLASSES = { by: 'classes', removesFq: false, makesFq: false, changesFq: false } as const;
const FQ = { by: 'fq', removesFq: false, makesFq: false, changesFq: false } as const;

let calls: string[];
let choice: PortChoice;
let fails: string | undefined;
let bytes: number;
let ownFqs: number[];
let earlierClasses: string[];
let byFq: Set<number>;
let byClasses: Map<number, string>;
let counts: Record<string, number>;
let held: HeldPorts;

function call(name: string): void {
  calls.push(name);
  if (fails === name) throw new Error('the kernel said no');
}

const open = (earlierEdt: number[] = []): HeldPorts =>
  new HeldPorts({
    ports: {
      get ports() {
        return [...byClasses.keys()];
      },
      purposeAt: (ifindex: number) => byClasses.get(ifindex),
      prepare: async (ifindex: number, purpose: string) => (call('classes'), void byClasses.set(ifindex, purpose)),
      release: (ifindex: number) => (byClasses.delete(ifindex), call('remove classes')),
      releaseOthers: () => (call('clean classes'), earlierClasses),
    } as never,
    edt: {
      get ports() {
        return [...byFq];
      },
      choose: () => choice,
      prepare: (ifindex: number) => {
        call('fq');
        if (choice.by === 'fq') byFq.add(ifindex);
        return choice.by === 'fq';
      },
      letGo: (ifindex: number) => {
        if (byFq.has(ifindex)) call('let go');
        return byFq.delete(ifindex);
      },
      release: () => call('remove fq'),
      own: () => (call('own'), ownFqs),
      nameOf: (ifindex: number) => (ifindex === A ? 'eth0' : `interface ${ifindex}`),
    } as never,
    ...{ earlierEdt, queueBytes: () => bytes, log: silentLog },
    count: (name) => void (counts[name] = (counts[name] ?? 0) + 1),
    onChange: () => void calls.push(`ready ${held?.isReady}`),
    onGone: () => void calls.push('gone'),
  });

beforeEach(() => {
  vi.useFakeTimers();
  [calls, fails, bytes, ownFqs, earlierClasses, counts, choice] = [[], undefined, 0, [], [], {}, FQ];
  [byFq, byClasses] = [new Set(), new Map()];
  held = open();
});
afterEach(() => vi.useRealTimers());

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
async function follow(...desired: HeldPort[]): Promise<void> {
  held.follow(desired);
  await pass(0);
}
const taken = (): string[] => calls.splice(0).filter((name) => name !== 'own');
const kept = (): string[] => held.kept([]).map((one) => one.interface);

describe('a port that holds flows by departure times', () => {
  test('lets go first; its fq and the program go when nothing can wait any more', async () => {
    await follow(port());
    expect([taken(), held.isReady]).toEqual([['clean classes', 'fq'], true]);
    await follow();
    expect([taken(), kept(), held.isReady]).toEqual([['let go'], ['eth0'], false]);
    await pass(390);
    expect([taken(), kept()]).toEqual([[], ['eth0']]);
    await pass(20);
    expect([taken(), kept()]).toEqual([['remove classes', 'remove fq', 'gone'], []]);
  });

  test("with an fq of cnpd's, what is in its queue leaves first, for three seconds at most", async () => {
    await follow(port());
    [ownFqs, bytes] = [[A], 5];
    taken();
    await follow();
    await pass(3300);
    expect(taken()).toEqual(['let go']);
    await pass(200);
    expect(taken()).toEqual(['remove classes', 'remove fq', 'gone']);
  });

  test('of an earlier run does the same; one that has vanished is nothing', async () => {
    held = open([A, 77]);
    expect(kept()).toEqual(['eth0']);
    await follow();
    await pass(390);
    expect(taken()).toEqual(['clean classes']);
    await pass(20);
    expect([taken(), kept()]).toEqual([['remove classes', 'remove fq', 'gone'], []]);
  });

  test('of an earlier run that still is to hold flows goes on', async () => {
    held = open([A]);
    await follow(port());
    expect([taken(), held.kept([port()])]).toEqual([['clean classes', 'fq'], []]);
  });

  test('gets classes when nothing can wait any more, and holds nothing meanwhile', async () => {
    await follow(port());
    taken();
    [choice, ownFqs] = [{ ...CLASSES, removesFq: true }, [A]];
    await follow(port());
    expect([taken(), held.isReady]).toEqual([['ready false', 'let go'], false]);
    await pass(410);
    expect([taken(), held.isReady]).toEqual([['ready false', 'fq', 'classes'], true]);
  });

  test('and is to hold other traffic lets go before, and its program goes then', async () => {
    await follow(port());
    taken();
    choice = CLASSES;
    await follow(port({ purpose: 'flow-control', enforce: undefined }));
    expect([taken(), kept()]).toEqual([['ready false', 'let go'], ['eth0']]);
    await pass(410);
    expect([taken(), kept()]).toEqual([['ready false', 'fq', 'classes', 'gone'], []]);
  });
});

test('a port that has come back under another index has the program there', async () => {
  await follow(port());
  const again = port({ ifindex: 9 });
  expect(held.kept([again])).toEqual([]);
  held.follow([again]);
  expect(held.kept([again])).toEqual([]);
  await pass(820);
  expect([[...byFq], held.kept([again])]).toEqual([[9], []]);
});

test('a port that cannot hold other traffic has the program of single flows no longer than they wait', async () => {
  await follow(port());
  [choice, fails] = [CLASSES, 'classes'];
  const other = port({ purpose: 'flow-control', enforce: undefined });
  await follow(other);
  taken();
  await pass(410);
  expect([taken(), held.kept([other])]).toEqual([['ready false', 'fq', 'classes', 'gone'], []]);
  await follow(other);
  expect([taken(), held.problems().length]).toEqual([['fq', 'classes'], 1]);
});

describe('a port with classes', () => {
  beforeEach(async () => {
    choice = CLASSES;
    await follow(port());
    taken();
  });

  test('keeps them and the program until they are empty, once no flow is to be held any more', async () => {
    bytes = 5;
    await follow();
    expect([taken(), kept()]).toEqual([[], ['eth0']]);
    bytes = 0;
    await pass(20);
    expect([taken(), kept()]).toEqual([['remove classes', 'remove fq', 'gone'], []]);
  });

  test('keeps them if it is to hold flows again before they are empty', async () => {
    bytes = 5;
    await follow();
    await follow(port());
    bytes = 0;
    await pass(20);
    expect([taken(), byClasses.has(A), kept()]).toEqual([['fq', 'classes'], true, ['eth0']]);
    await follow();
    await pass(20);
    expect([taken(), kept()]).toEqual([['remove classes', 'remove fq', 'gone'], []]);
  });

  test('is to hold other traffic: gets new classes when these are empty, also while flows are held elsewhere', async () => {
    const eth1 = port({ ifindex: 3, interface: 'eth1' });
    for (const [purpose, other] of [
      ['flow-control', port({ purpose: 'flow-control', enforce: undefined })],
      ['enforce', port()],
    ] as const) {
      bytes = 5;
      await follow(eth1, other);
      expect([byClasses.get(A) === purpose, held.isReady]).toEqual([false, false]);
      bytes = 0;
      await pass(20);
      expect([byClasses.get(A), held.isReady]).toEqual([purpose, true]);
    }
  });

  test('loses its program at once while flows go on being held at others', () => {
    expect(held.kept([port({ ifindex: 3 })])).toEqual([]);
  });

  test('gets an fq when they are empty, and holds nothing meanwhile', async () => {
    [choice, bytes] = [{ ...FQ, makesFq: true }, 5];
    await follow(port());
    expect([taken(), held.isReady]).toEqual([['ready false'], false]);
    bytes = 0;
    await pass(20);
    expect([taken(), held.isReady]).toEqual([['ready true', 'fq'], true]);
  });
});

describe('what fails', () => {
  test.each(['remove classes', 'remove fq'])(
    'to %s does not keep the other from being removed, and is tried again',
    async (what) => {
      await follow(port());
      taken();
      fails = what;
      await follow();
      await pass(410);
      expect([taken(), counts['dataplane.hold.release-failed']]).toEqual([
        ['let go', 'remove classes', 'remove fq', 'gone'],
        1,
      ]);
      fails = undefined;
      held.follow();
      await pass(0);
      expect(taken()).toEqual(['remove classes', 'remove fq']);
      held.follow();
      await pass(0);
      expect(taken()).toEqual([]);
    },
  );

  test('of what an earlier run has left is tried again, each kind by itself', async () => {
    ownFqs = [A];
    fails = 'clean classes';
    await follow();
    expect([taken(), counts['dataplane.hold.release-failed']]).toEqual([
      ['clean classes', 'remove classes', 'remove fq'],
      1,
    ]);
    [fails, ownFqs] = ['own', []];
    held = open();
    await follow();
    expect(calls.splice(0)).toEqual(['clean classes', 'own']);
    fails = undefined;
    await follow();
    expect(calls.splice(0)).toEqual(['own']);
    await follow();
    expect(calls.splice(0)).toEqual([]);
  });
});

test('a port follows again after a failure to let go', async () => {
  await follow(port());
  taken();
  fails = 'let go';
  await follow();
  await pass(410);
  fails = undefined;
  expect(counts['dataplane.hold.release-failed']).toBe(1);
  taken();
  await follow(port());
  expect([taken(), held.isReady]).toEqual([['fq'], true]);
});

test('a change of what holds that fails is over', async () => {
  await follow(port());
  [choice, ownFqs, fails] = [{ ...CLASSES, removesFq: true }, [A], 'let go'];
  await follow(port());
  expect(held.problems()).toHaveLength(1);
  [choice, fails] = [FQ, undefined];
  await follow(port());
  expect([held.isReady, held.problems()]).toEqual([true, []]);
});

test('nothing is asked of the kernel once all is closed', async () => {
  await follow(port(), port({ ifindex: 3, interface: 'eth1' }));
  taken();
  await follow(port({ ifindex: 3, interface: 'eth1' }));
  // Waits for the one before.
  held.follow([]);
  held.close();
  await pass(5000);
  expect(taken()).toEqual(['let go']);
});
