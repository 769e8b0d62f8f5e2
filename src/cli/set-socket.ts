import { configSocketOf, setSocketOf } from '../model/paths.ts';
import type { Context } from './context.ts';

const onSocket = (context: Context, of: (socket: string) => string): Context => ({
  ...context,
  options: { ...context.options, socket: of(context.options.socket), mainSocket: context.options.socket },
});

/** With the socket that serves Set, for those who may change something. */
export const onSetSocket = (context: Context): Context => onSocket(context, setSocketOf);

/** With the socket where the configuration is changed, and what begins the machines anew. */
export const onConfigSocket = (context: Context): Context => onSocket(context, configSocketOf);
