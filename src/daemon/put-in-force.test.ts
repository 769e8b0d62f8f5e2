import { expect, test } from 'vitest';
import type { Intent } from '../intent/intent.ts';
import { origination } from '../model/advertisement.fixture.ts';
import { intentOf } from '../plan/inputs.fixture.ts';
import { putInForce } from './put-in-force.ts';

const INTENT = intentOf('');
const ORIGINATION = origination({ proxies: [] });

/** @param errors what the parts reject with */
function follow(errors: { readonly plan?: Error; readonly carriers?: Error }) {
  const done: (readonly [part: string, intent: Intent])[] = [];
  const put = putInForce(INTENT, {
    coordinator: {
      origination: ORIGINATION,
      adopt: async (intent) => {
        done.push(['plan', intent]);
        if (errors.plan) throw errors.plan;
      },
    },
    carriers: {
      reload: async (intent, originated) => {
        expect(originated).toBe(ORIGINATION);
        done.push(['carriers', intent]);
        if (errors.carriers) throw errors.carriers;
      },
    },
  });
  return { put, done };
}

const BOTH = [
  ['plan', INTENT],
  ['carriers', INTENT],
];

test('the plan comes first: what the kernel refuses is not advertised', async () => {
  const { put, done } = follow({});
  await put;
  expect(done).toEqual(BOTH);
});

test('a kernel that cannot be read does not keep the carriers at the old intent, and is reported', async () => {
  const { put, done } = follow({ plan: new Error('ENOBUFS') });
  await expect(put).rejects.toThrow('ENOBUFS');
  expect(done).toEqual(BOTH);
});

test('of two errors the first is reported', async () => {
  await expect(follow({ plan: new Error('ENOBUFS'), carriers: new Error('isis: taken') }).put).rejects.toThrow(
    'ENOBUFS',
  );
  await expect(follow({ carriers: new Error('isis: taken') }).put).rejects.toThrow('isis: taken');
});
