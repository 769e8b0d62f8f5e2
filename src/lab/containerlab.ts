// `npm run containerlab`: a scene in containers. Builds the image that the scenes name, if there is none of this
// version, and calls containerlab.
import { Command } from 'commander';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from './error.ts';
import { packageRoot } from './program.ts';

const IMAGE = 'cnpd-frr:latest';
const VERSION_LABEL = 'org.opencontainers.image.version';
const EXIT = { failed: 1, usage: 2 } as const;

const say = (text: string): void => void process.stderr.write(`containerlab: ${text}\n`);

/** Runs a program that shares this terminal. @throws LabError unless it ends with 0 */
function run(command: string, args: readonly string[], cwd: string): void {
  const { status, signal, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error) throw new LabError('command-failed', `${command}: ${error.message}`);
  if (status !== 0)
    throw new LabError('command-failed', `${command} ${args.join(' ')} ended with ${signal ?? `status ${status}`}`);
}

/** @returns standard output, or what went wrong */
function ask(command: string, args: readonly string[]): { readonly out: string } | { readonly error: string } {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (error)
    return { error: (error as NodeJS.ErrnoException).code === 'ENOENT' ? `${command} is missing` : error.message };
  return status === 0 ? { out: stdout.trim() } : { error: stderr.trim() || `status ${status}` };
}

/** The topology of a scene: the name of a folder here, or a file. @throws LabError */
function sceneFile(root: string, scene: string): string {
  if (existsSync(scene) && /\.ya?ml$/.test(scene)) return scene;
  const folder = join(root, 'containerlab');
  const known = readdirSync(folder).filter((name) => existsSync(join(folder, name, `${name}.clab.yml`)));
  if (known.includes(scene)) return join(folder, scene, `${scene}.clab.yml`);
  throw new LabError('bad-topology', `${scene} is neither a topology file nor a scene: ${known.join(', ')}`);
}

function needDocker(): void {
  const answer = ask('docker', ['version', '--format', '{{.Server.Version}}']);
  if ('error' in answer) throw new LabError('helper-failed', `Docker does not answer: ${answer.error}`);
}

/** $CONTAINERLAB, or the one in the path. */
function needContainerlab(): string {
  const command = process.env['CONTAINERLAB'] ?? 'containerlab';
  const answer = ask(command, ['version']);
  if ('error' in answer)
    throw new LabError('helper-failed', `${answer.error}. How to install it: https://containerlab.dev/install`);
  return command;
}

/** Builds the image unless there is one of this version. */
function image(root: string, { rebuild = false } = {}): void {
  needDocker();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const format = `{{index .Config.Labels "${VERSION_LABEL}"}}`;
  const found = ask('docker', ['image', 'inspect', '--format', format, IMAGE]);
  if (!rebuild && 'out' in found && found.out === version) return;
  say(`building ${IMAGE} with cnpd ${version}; this takes a minute or two`);
  run('npm', ['run', '--silent', 'package'], root);
  const file = 'containerlab/image/Dockerfile';
  // The build needs Debian's packages, and some Dockers have no bridge.
  const args = ['--network', 'host', '--label', `${VERSION_LABEL}=${version}`, '-t', IMAGE, '-f', file, '.'];
  run('docker', ['build', ...args], root);
}

function up(scene: string): void {
  const root = packageRoot();
  const file = sceneFile(root, scene);
  const containerlab = needContainerlab();
  image(root);
  run(containerlab, ['deploy', '--topo', file], root);
}

function down(scene: string): void {
  const root = packageRoot();
  run(needContainerlab(), ['destroy', '--cleanup', '--topo', sceneFile(root, scene)], root);
}

const program = new Command('containerlab')
  .description('Runs a scene of containerlab/ in Docker. Needs root, Docker and containerlab.')
  .showHelpAfterError()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : EXIT.usage));
const scene = ['<scene>', 'its folder in containerlab/, or a topology file'] as const;
program
  .command('up')
  .argument(...scene)
  .description('build the image if it is missing or of another version, then `containerlab deploy`')
  .action(up);
program
  .command('down')
  .argument(...scene)
  .description('`containerlab destroy`, with all that the scene has left')
  .action(down);
program
  .command('image')
  .description(`build ${IMAGE} anew, for example after a change of cnpd`)
  .action(() => image(packageRoot(), { rebuild: true }));

try {
  program.parse();
} catch (error) {
  if (!(error instanceof LabError)) throw error;
  say(error.message);
  process.exitCode = EXIT.failed;
}
