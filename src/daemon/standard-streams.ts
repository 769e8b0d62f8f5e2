// What a command prints, and who does not take it.
import { messageOf } from '../model/error-text.ts';

type Streams = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'exit'>;

/**
 * Who reads only the first lines (`| head`) closes the pipe: no error. Any other failure, such as a full disk, ends the
 * command with one sentence and exit code 1.
 *
 * @param name of the command
 * @returns whether standard output is still read, as far as is known
 */
export function endWithOutput(name: string, { stdout, stderr, exit }: Streams = process): () => boolean {
  let isRead = true;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    isRead = false;
    if (error.code === 'EPIPE') return;
    stderr.write(`${name}: standard output: ${messageOf(error)}\n`);
    exit(1);
  });
  stderr.on('error', (error: NodeJS.ErrnoException) => {
    // There is nobody to tell.
    if (error.code !== 'EPIPE') exit(1);
  });
  return () => isRead;
}
