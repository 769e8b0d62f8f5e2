import { expect, test } from 'vitest';
import { cnpdSchema } from '../intent/schema.ts';
import { CONFIG_SECTIONS } from './configuration-state.ts';

test('gNMI has the sections of cnpd.yaml', () => {
  expect([...CONFIG_SECTIONS]).toEqual(Object.keys(cnpdSchema.shape));
});
