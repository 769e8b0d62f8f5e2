// Node opens its inspector on 127.0.0.1:9229 when it receives SIGUSR1. Any local user who connects there can run code
// in the process, with all its privileges. Some installations rotate logs by that signal.

/** Disables Node's handling of SIGUSR1. Call it before anything else. */
export function keepInspectorShut(): void {
  process.on('SIGUSR1', () => {});
}
