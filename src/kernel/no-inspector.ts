// Node opens its inspector on 127.0.0.1:9229 when it gets SIGUSR1, and whoever connects there runs code in the process:
// every local user would have what this process is allowed. Some rotate logs by that signal.

/** Takes SIGUSR1 away from Node. To be called before anything else. */
export function keepInspectorShut(): void {
  process.on('SIGUSR1', () => {});
}
