// containerlab, built once into a cache outside of the repository. CONTAINERLAB names one that is there already.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const MODULE = 'github.com/srl-labs/containerlab';
const VERSION = 'v0.69.3';

/** @returns the path of the program. The first time takes minutes. */
export function buildContainerlab(): string {
  const given = process.env['CONTAINERLAB'];
  if (given) return given;
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'cnpd', `containerlab-${VERSION}`);
  const built = join(folder, 'containerlab');
  if (existsSync(built)) return built;
  mkdirSync(folder, { recursive: true });
  const source = join(folder, 'source');
  const answer = execFileSync('go', ['mod', 'download', '-json', `${MODULE}@${VERSION}`], { encoding: 'utf8' });
  cpSync((JSON.parse(answer) as { Dir: string }).Dir, source, { recursive: true });
  // Inside the module: `go install` refuses its `replace` lines.
  execFileSync('chmod', ['-R', 'u+w', source]);
  if (!existsSync('/proc/modules')) acceptKernelWithoutModules(source);
  const unfinished = `${built}.${process.pid}`;
  execFileSync('go', ['build', '-trimpath', '-buildvcs=false', '-o', unfinished, '.'], {
    cwd: source,
    stdio: 'inherit',
  });
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, built);
  rmSync(source, { recursive: true, force: true });
  return built;
}

/** containerlab looks for modules in /proc/modules, and gives up where a kernel without modules has no such file. */
function acceptKernelWithoutModules(source: string): void {
  const path = join(source, 'utils/kernel_module.go');
  const text = readFileSync(path, 'utf8');
  const opening = '\tf, err := os.Open("/proc/modules")\n';
  if (!text.includes(opening)) throw new Error(`${path} no longer opens /proc/modules as expected`);
  writeFileSync(path, text.replace(opening, `${opening}\tif os.IsNotExist(err) {\n\t\treturn false, nil\n\t}\n`));
  process.stderr.write('containerlab: built so that it accepts a kernel without /proc/modules\n');
}
