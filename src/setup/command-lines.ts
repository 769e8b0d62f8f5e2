// The command lines of cnpd and cnpctl as plain data, for what is generated from them. Nothing of them runs.
import { buildProgram } from '../cli/program.ts';
import { type CommandDescription, describeCommand } from '../cli/reference/describe.ts';
import { cnpdProgram } from '../daemon/program.ts';
import { VERSION } from '../daemon/version.ts';

const never = (): never => {
  throw new Error('nothing runs here');
};

export const daemonCommandLine = (): CommandDescription =>
  describeCommand(cnpdProgram(VERSION, { run: never, check: never, schema: never, replay: never, uninstall: never }));
export const commandLine = (): CommandDescription =>
  describeCommand(
    buildProgram(
      {
        ...{ version: VERSION, color: false, terminal: false, pause: never, nowMs: never, out: never, err: never },
        ...{
          readFile: never,
          writeFile: never,
          connect: never,
          examine: never,
          socketOf: never,
          uninstall: never,
          check: never,
          openRemote: never,
          bundleSources: never,
        },
      },
      never,
    ),
  );
