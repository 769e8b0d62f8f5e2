// The section `log`.
import type * as z from 'zod';
import { defaulted, filled, section } from './schema-parts.ts';
import { oneOf } from './values.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export const schema = section(
  { level: defaulted(oneOf<LogLevel>('debug', 'info', 'warn', 'error'), 'info', (text) => `default ${text}`) },
  'logging',
);

export const build = (declared: z.output<typeof schema> | undefined): LogLevel => filled(schema, declared).level;
