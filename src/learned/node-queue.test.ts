import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NodeQueue } from './node-queue.ts';

test('nodes come out in the order in which they went in, each once, as from a Set', () => {
  const step = fc.oneof(
    { weight: 300, arbitrary: fc.nat({ max: 5000 }) },
    { weight: 100, arbitrary: fc.constant('take' as const) },
    { weight: 1, arbitrary: fc.constant('drain' as const) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5000, size: 'max' }), (steps) => {
      const [queue, model] = [new NodeQueue(), new Set<number>()];
      const [taken, expected]: (number | undefined)[][] = [[], []];
      const take = (): void => {
        const [first] = model;
        if (first !== undefined) model.delete(first);
        expected!.push(first);
        taken!.push(queue.take());
      };
      for (const step of [...steps, 'drain'] as const) {
        if (step === 'take') take();
        else if (step === 'drain') for (let left = queue.size; left >= 0; left--) take();
        else {
          queue.add(step);
          model.add(step);
        }
      }
      expect(taken).toEqual(expected);
    }),
    { numRuns: 20 },
  );
});
