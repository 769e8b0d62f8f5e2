// The process that holds the mount and UTS namespaces of a node. They are not pinned to files, as ip(8) pins network
// namespaces: the kernel pins a mount namespace only where its number is higher than that of the caller's own, and each
// CPU hands out numbers from a range of its own. In a container, or after any unshare(1), that fails at random.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { nodeEnvironment } from './enter.ts';
import { LabError } from './error.ts';
import { type ProcessIdentity, identify } from './processes.ts';
import { type NodeState, netnsPath } from './state.ts';

const READY = 'namespaces are ready';

/**
 * Runs `script` in fresh mount and UTS namespaces, in the network namespace of the node. Its process stays and does
 * nothing; it ends with the lab, like every process in that network namespace.
 * @throws LabError `command-failed` with the script's output
 */
export async function holdNamespaces(lab: string, node: NodeState, script: string): Promise<ProcessIdentity> {
  const [nsenter, ...rest] = [
    ...['nsenter', `--net=${netnsPath(node.container)}`],
    ...['unshare', '--mount', '--uts', '--propagation', 'slave', 'sh', '-s'],
  ];
  const env = { ...process.env, ...nodeEnvironment(lab, node) };
  const child = spawn(nsenter!, rest, { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env });
  let output = '';
  const ready = new Promise<boolean>((done) => {
    const read = (text: string): void => {
      output += text;
      if (output.includes(READY)) done(true);
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('close', () => done(false));
  });
  await once(child, 'spawn');
  child.stdin.on('error', () => {}).end(`${script}echo '${READY}'\nexec sleep infinity </dev/null >/dev/null 2>&1\n`);
  const identity = (await ready) ? identify(child.pid!) : undefined;
  if (!identity) {
    const last = output.trim().split('\n').slice(-8).join('\n  ');
    throw new LabError(
      'command-failed',
      `setting up node ${node.name} failed with status ${child.exitCode}:\n  ${last || 'no output'}`,
    );
  }
  child.stdout.destroy();
  child.stderr.destroy();
  child.unref();
  return identity;
}
