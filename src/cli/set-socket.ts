import { configSocketOf, setSocketOf } from '../model/paths.ts';
import type { Context } from './context.ts';

/** With the socket that serves Set, for those who may change something. */
export const onSetSocket = (context: Context): Context => ({
  ...context,
  options: { ...context.options, socket: setSocketOf(context.options.socket) },
});

/** With the socket where the configuration is changed, and what begins the machines anew. */
export const onConfigSocket = (context: Context): Context => ({
  ...context,
  options: { ...context.options, socket: configSocketOf(context.options.socket) },
});
