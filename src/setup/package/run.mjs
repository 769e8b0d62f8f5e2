import { spawnSync } from 'node:child_process';

/** @returns what a program prints. Throws Error, with all that it said, unless it ends with 0. */
export function run(command, args, cwd, env = process.env) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (error) throw new Error(`${command}: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout.trim();
}
