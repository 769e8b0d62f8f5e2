// Processes of their own in the namespace of a router, to be killed by a test: one of support/*.process.ts each,
// bundled for Node.js.
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { build } from 'esbuild';

export class Processes {
  private readonly children: ChildProcess[] = [];
  private readonly bundles = new Set<string>();

  /** @param name of the file, without `.process.ts` */
  async launch(name: string, at: { readonly name: string }, args: readonly string[]): Promise<ChildProcess> {
    const outfile = new URL(`../../../node_modules/.cache/${name}-${process.pid}.mjs`, import.meta.url).pathname;
    if (!this.bundles.has(outfile)) {
      const entryPoints = [new URL(`${name}.process.ts`, import.meta.url).pathname];
      await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', external: ['koffi'] });
      this.bundles.add(outfile);
    }
    const child = spawn('ip', ['netns', 'exec', at.name, process.execPath, outfile, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.children.push(child);
    return child;
  }

  /** As kill -9 does, and waits until it is gone. */
  async kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  /** Ends all of them, and removes what was bundled. */
  async end(): Promise<void> {
    for (const child of this.children.splice(0)) await this.kill(child);
    for (const bundle of this.bundles) rmSync(bundle, { force: true });
    this.bundles.clear();
  }
}
