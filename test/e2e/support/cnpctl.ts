// The command line of cnpctl in the process of the test: the same code as the program's, without the 300 ms of CPU that
// a start of Node.js and gRPC costs.
import type { CliDependencies } from '../../../src/cli/context.ts';
import { runCnpctl } from '../../../src/cli/program.ts';
import { VERSION } from '../../../src/daemon/version.ts';
import type { RunResult } from '../../../src/lab/run.ts';
import { GNMI_SOCKET } from '../../../src/model/paths.ts';
import { connectNorthbound } from '../../../src/northbound/client.ts';

/** A socket of process `pid`, in whatever mount namespace it is. */
const socketAt = (pid: number, socket: string): string => `/proc/${pid}/root${socket}`;
/** The northbound socket of the cnpd that is process `pid`. */
export const socketOf = (pid: number): string => socketAt(pid, GNMI_SOCKET);

const needsProgram = (): never => {
  throw new Error('needs the program cnpctl');
};

/**
 * What `cnpctl ARGS` prints and returns. For commands that only ask a running cnpd.
 * @param reach where a socket is for this process
 */
export async function cnpctlHere(
  args: readonly string[],
  reach = (socket: string): string => socket,
): Promise<RunResult> {
  let stdout = '';
  let stderr = '';
  const dependencies: CliDependencies = {
    version: VERSION,
    nowMs: () => Date.now(),
    out: (text) => void (stdout += text),
    err: (text) => void (stderr += text),
    terminal: false,
    pause: needsProgram,
    color: false,
    connect: ({ socket, timeoutMs }) => connectNorthbound({ socket: reach(socket), timeoutMs }),
    socketOf: needsProgram,
    examine: needsProgram,
    uninstall: needsProgram,
    check: needsProgram,
    readFile: () => undefined,
    writeFile: needsProgram,
    bundleSources: () => {
      throw new Error('not used');
    },
    openRemote: needsProgram,
  };
  const code = await runCnpctl(args, dependencies);
  return { code, stdout, stderr };
}

/** `cnpctl ARGS` beside the cnpd that is process `pid`. */
export const cnpctlBeside = (pid: number, args: readonly string[]): Promise<RunResult> =>
  cnpctlHere(args, (socket) => socketAt(pid, socket));
