/** What is thrown is not always an Error. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The system's name of an error, or of what caused it, such as ENOSPC. Undefined: it is none of the system. */
export function systemCodeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, syscall } = at as NodeJS.ErrnoException;
    if (code !== undefined && syscall !== undefined) return code;
  }
  return undefined;
}

/**
 * What grpc-js writes around the kernel's words is left out: `No connection established. Last error: Error: connect
 * ECONNREFUSED 127.0.0.1:50051. Resolution note: `.
 */
export const withoutChannelWords = (message: string): string =>
  message.replace(/^No connection established\. Last error: (?:Error: )?/, '').replace(/\. Resolution note: .*$/s, '');
