// `lab view`: a page that shows a lab live, until the signal ends it.
import { join } from 'node:path';
import { LabError } from '../lab/error.ts';
import { packageRoot } from '../lab/program.ts';
import type { Topology } from '../lab/topology.ts';
import { Hub } from './hub.ts';
import { labView } from './lab-view.ts';
import { ViewServer } from './server.ts';

export interface ViewOptions {
  /** 0: any that is free. */
  readonly port: number;
  readonly signal: AbortSignal;
  /** The page is served. */
  readonly onReady: (url: string) => void;
}

/** @throws LabError when the port cannot be had */
export async function view(topology: Topology, { port, signal, onReady }: ViewOptions): Promise<void> {
  const hub = new Hub(labView(topology));
  const server = new ViewServer(hub, join(packageRoot(), 'dist/view'));
  try {
    const given = await server.listen(port).catch((error: Error) => {
      throw new LabError('command-failed', `cannot listen on 127.0.0.1:${port}: ${error.message}`);
    });
    await hub.start();
    onReady(`http://127.0.0.1:${given}/`);
    await new Promise<void>((done) => {
      if (signal.aborted) done();
      else signal.addEventListener('abort', () => done(), { once: true });
    });
  } finally {
    hub.close();
    await server.close();
  }
}
