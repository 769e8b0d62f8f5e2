import { expect, test } from 'vitest';
import { manualClock } from '../../../model/clock.ts';
import { silentLog } from '../../../model/log.ts';
import { eventLoopWork } from '../../../model/work.ts';
import { PolicyGuard } from './policy-guard.edge.ts';
import { v3 } from './v3.ts';

const OUTSIDE = { address: '192.0.2.9', as: 65_009, state: 'established' };
const TOLD = [{ paths: [{ mark: 'own', neighbor: '192.0.2.2' }] }];

/** A guard of a gobgpd 3 that has no policies yet, and a neighbor outside the domain. An answer can be held. */
async function guarded() {
  const calls: string[] = [];
  const held = { isAt: (_call: string): boolean => false, until: Promise.resolve() };
  const called = (name: string): Promise<void> | undefined => {
    calls.push(name);
    return held.isAt(name) ? held.until : undefined;
  };
  const guard = new PolicyGuard({ policy: true, domain: [], confederation: [] } as never, () => new Set());
  await guard.begin(
    { as: 65_001 },
    {
      ...{ api: v3, log: silentLog, clock: manualClock(), work: eventLoopWork() },
      faultOf: () => ({ code: 'failed' }) as never,
      count: (name) => void calls.push(name),
      call: async (method) => called(method),
      list: () => Promise.resolve(),
      peers: async () => {
        await called('ListPeer');
        return [OUTSIDE];
      },
    },
  );
  guard.reported(TOLD as never);
  calls.length = 0;
  return { guard, calls, held };
}

/** Holds an answer while the removal begins. @returns what is done from then on */
async function removedDuring(isAt: (call: string, before: readonly string[]) => boolean): Promise<readonly string[]> {
  const { guard, calls, held } = await guarded();
  let answer = (): void => {};
  held.until = new Promise((resolve) => (answer = resolve));
  const reached = new Promise<void>((resolve) => {
    held.isAt = (call) => {
      const is = isAt(call, calls);
      if (is) resolve();
      return is;
    };
  });
  const look = guard.loaded();
  await reached;
  calls.length = 0;
  const removal = guard.remove().then(() => void calls.push('removed'));
  await new Promise((resolve) => setImmediate(resolve));
  answer();
  await Promise.all([look, removal]);
  return calls;
}

test('PNC-6-a: a look under way is over before policies are removed, and recalls nothing any more', async () => {
  const done = await removedDuring((call) => call === 'ListPeer');
  expect(done).toContain('AddPolicy');
  expect(done).not.toContain('bgp.policy.recalled');
  expect(done.at(-1)).toBe('removed');
});

test('so is a recall: nothing of it is put in after the removal', async () => {
  const done = await removedDuring((call, before) => call === 'AddPolicy' && before.includes('bgp.policy.recalled'));
  expect(done).toContain('SetPolicyAssignment');
  expect(done.at(-1)).toBe('removed');
});
