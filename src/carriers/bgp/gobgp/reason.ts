// Why a gobgpd cannot be used, in a sentence for an operator; what to do about it is found by these words (src/daemon/gobgp.ts).
import { status } from '@grpc/grpc-js';
import { CallError } from './channel.edge.ts';
import type { GobgpOptions } from './gobgp.ts';

/** What an operator can do something about comes first. */
export function reasonOf(error: unknown, { maxMessageBytes }: Pick<GobgpOptions, 'maxMessageBytes'>): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof CallError ? error.code : undefined;
  if (code === status.DEADLINE_EXCEEDED) return `gobgpd accepts the connection and does not answer (${message})`;
  if (code === status.RESOURCE_EXHAUSTED) return `gobgpd sent a message of more than ${maxMessageBytes} bytes, or refused one of ours as too long (${message})`;
  // The library's words around the kernel's: `No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:50051. Resolution note: `.
  return message.replace(/^No connection established\. Last error: (?:Error: )?/, '').replace(/\. Resolution note: .*$/s, '');
}
