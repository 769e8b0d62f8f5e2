// JSON Schema (draft 7, what editors read) of cnpd.yaml, made from the table in schema.ts. It accepts whatever the
// loader accepts; what concerns several keys, and the finer points of addresses, only the loader knows.
import * as z from 'zod';
import type { JsonSchema } from './values.ts';
import { cnpdSchema } from './schema.ts';

export function intentJsonSchema(): JsonSchema {
  const json = z.toJSONSchema(cnpdSchema, {
    io: 'input',
    target: 'draft-7',
    override: ({ zodSchema, jsonSchema }) => {
      if ('written' in zodSchema) jsonSchema.default = zodSchema.written as typeof jsonSchema.default;
    },
  });
  return { title: 'cnpd.yaml', ...json };
}
