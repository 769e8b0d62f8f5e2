import { setSocketOf } from '../model/paths.ts';
import type { Context } from './context.ts';

/** With the socket that serves Set, for those who may change something. */
export const onSetSocket = (context: Context): Context => ({
  ...context,
  options: { ...context.options, socket: setSocketOf(context.options.socket) },
});
