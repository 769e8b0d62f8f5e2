// What a command prints, and who does not take it.
import { messageOf } from '../model/error-text.ts';

type Streams = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'exit'>;

/**
 * Who reads only the first lines (`| head`) closes the pipe: no error. Any other failure, such as a full disk, ends the
 * command with one sentence and exit code 1.
 *
 * @param name of the command
 */
export function endWithOutput(name: string, { stdout, stderr, exit }: Streams = process): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    stderr.write(`${name}: standard output: ${messageOf(error)}\n`);
    exit(1);
  });
  stderr.on('error', (error: NodeJS.ErrnoException) => {
    // There is nobody to tell.
    if (error.code !== 'EPIPE') exit(1);
  });
}
