// The logger and the counters that every component is handed. None creates its own.

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Adds to a named counter, e.g. `count('isis.lsp.expired')`. Names are dotted, lower case, and listed in
 * docs/reference/counters.md.
 */
export type Count = (name: string, by?: number) => void;

export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
