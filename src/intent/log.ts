// The section `log`.
import type * as z from 'zod';
import { defaulted, filled, section } from './schema-parts.ts';
import { LOG_LEVELS, type LogLevel } from '../model/log-levels.ts';
import { oneOf } from './values.ts';

export const schema = section(
  { level: defaulted(oneOf(...LOG_LEVELS), 'info', 'least severe lines that are logged, of all components') },
  'what is logged',
);

export const build = (declared: z.output<typeof schema> | undefined): LogLevel => filled(schema, declared).level;
