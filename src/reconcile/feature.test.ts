import { describe, expect, test } from 'vitest';
import type { BpfObject } from '../kernel/bpf/object.ts';
import { manualClock } from '../model/clock.ts';
import { ManualWork } from '../model/work.fixture.ts';
import { silentLog } from '../model/log.ts';
import { Feature, configurationOperations, learnedTable } from './feature.ts';
import type { Table } from './map-table.ts';

/** A map with one entry, as the kernel makes it: zeros. */
function memoryMap() {
  let content: Uint8Array | undefined = new Uint8Array(2);
  return {
    get: () => [...(content ?? [])],
    lose: () => void (content = undefined),
    lookup: () => content,
    update: (key: Uint8Array, value: Uint8Array) => {
      expect([...key]).toEqual([0, 0, 0, 0]);
      content = value;
    },
  };
}

describe('the configuration of a feature', () => {
  const off = Uint8Array.of(0, 0);

  test('is written as a whole; a delete writes the value for "off", and nothing is ever pruned', () => {
    const map = memoryMap();
    const operations = configurationOperations<{ id: string; rate: number }>({
      kind: 'x',
      map,
      value: ({ rate }) => Uint8Array.of(1, rate),
      off,
    });
    expect(operations.verify!({ id: 'x', rate: 7 })).toBe(false);
    operations.update({ id: 'x', rate: 7 });
    expect({
      content: map.get(),
      rate7: operations.verify!({ id: 'x', rate: 7 }),
      rate8: operations.verify!({ id: 'x', rate: 8 }),
    }).toEqual({ content: [1, 7], rate7: true, rate8: false });
    expect([...operations.prune(new Set())]).toEqual([]);
    operations.delete('x');
    expect(map.get()).toEqual([0, 0]);
    map.lose();
    expect(operations.verify!({ id: 'x', rate: 7 })).toBe(false);
  });

  test('may keep a part of the previous value, such as the seed of a hash table', () => {
    const map = memoryMap();
    const operations = configurationOperations<{ id: string }>({
      kind: 'x',
      map,
      value: (_, before) => Uint8Array.of(1, before?.[1] || 42),
      off,
    });
    operations.update({ id: 'x' });
    expect(map.get()).toEqual([1, 42]);
    map.update(new Uint8Array(4), Uint8Array.of(0, 9));
    operations.update({ id: 'x' });
    expect({ map: map.get(), verify: operations.verify!({ id: 'x' }) }).toEqual({ map: [1, 9], verify: true });
  });
});

test('learned entries of an earlier run stay until the network has had time to advertise them again', () => {
  const content = new Map([
    [7, 1],
    [8, 1],
  ]);
  const table: Table = {
    lookup: (key) => (content.has(key[0]!) ? Uint8Array.of(content.get(key[0]!)!) : undefined),
    update: (key, value) => void content.set(key[0]!, value[0]!),
    delete: (key) => content.delete(key[0]!),
    keys: () => [...content.keys()].map((key) => Uint8Array.of(key)),
  };
  let mayForget = false;
  const codec = { kind: 'x', key: (o: { id: string }) => Uint8Array.of(Number(o.id)), value: () => Uint8Array.of(1) };
  const counted: string[] = [];
  const reconciler = learnedTable(
    table,
    codec,
    { clock: manualClock(), work: new ManualWork(), log: silentLog, count: (name) => void counted.push(name) },
    () => mayForget,
  );
  reconciler.replace([{ id: '8' }, { id: '9' }]);
  reconciler.fullPass();
  expect({ content: [...content.keys()], counted }).toEqual({ content: [7, 8, 9], counted: [] });
  mayForget = true;
  reconciler.fullPass();
  expect({ content: [...content.keys()], counted }).toEqual({ content: [8, 9], counted: ['reconcile.x.pruned'] });
});

describe('every feature', () => {
  const codec = { kind: 'x', key: (o: { id: string }) => Uint8Array.of(Number(o.id)), value: () => Uint8Array.of(1) };

  /** A map that refuses entry 9. */
  const mapOf = (...keys: number[]) => {
    const content = new Map(keys.map((key) => [key, 1]));
    const map: Table = {
      lookup: (key) => (content.has(key[0]!) ? Uint8Array.of(content.get(key[0]!)!) : undefined),
      update: (key, value) => {
        if (key[0] === 9) throw new Error('E2BIG');
        content.set(key[0]!, value[0]!);
      },
      delete: (key) => content.delete(key[0]!),
      keys: () => [...content.keys()].map((key) => Uint8Array.of(key)),
    };
    return { content, map };
  };

  class Example extends Feature {
    readonly declared = mapOf(1, 2);
    readonly taught = mapOf(1, 2);
    readonly #declared = this.table(this.declared.map, codec);
    readonly #taught = this.learnedTable(this.taught.map, codec);

    apply(): void {
      this.#declared.replace([{ id: '1' }, { id: '9' }]);
      this.#taught.replace([{ id: '1' }]);
    }
    attachments = () => [];
  }

  const world = () => {
    const clock = manualClock();
    let closed = 0;
    const object = { close: () => void closed++, settle: () => {} } as unknown as BpfObject;
    const work = new ManualWork();
    const feature = new Example(object, { clock, work, log: silentLog, count: () => {} });
    const keys = () => [feature.declared, feature.taught].map(({ content }) => [...content.keys()]);
    return { clock, work, feature, keys, closed: () => closed };
  };

  test('reports objects that the kernel refused, and no others', () => {
    const { feature } = world();
    feature.apply();
    expect(feature.status()).toEqual([{ id: '9', state: 'failed', attempts: 1, error: 'E2BIG' }]);
  });

  test('a full pass prunes declared entries, and learned ones once it may forget', () => {
    const { feature, keys } = world();
    feature.apply();
    feature.fullPass();
    expect(keys()).toEqual([[1], [1, 2]]);
    feature.forgetUnknown();
    expect(keys()).toEqual([[1], [1]]);
  });

  test('close releases the object and ends all retries', () => {
    const { clock, feature, closed } = world();
    feature.apply();
    feature.close();
    clock.advance(1_000_000);
    expect({ closed: closed(), attempts: feature.status()[0]?.attempts }).toEqual({ closed: 1, attempts: 1 });
  });
});
