// gnmic, a gNMI client in Go by the gNMI community: built once into a cache outside of the repository, and run as a
// process. GNMIC names one that is there already.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const VERSION = 'v0.31.0';

/** @returns the path of the program. The first time takes minutes. */
export function buildGnmic(): string {
  const given = process.env['GNMIC'];
  if (given) return given;
  const dir = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'cnpd', `gnmic-${VERSION}`);
  const built = join(dir, 'gnmic');
  if (existsSync(built)) return built;
  mkdirSync(dir, { recursive: true });
  cpSync(join(import.meta.dirname, 'module'), dir, { recursive: true });
  const env = { ...process.env, GOFLAGS: '-mod=mod -buildvcs=false' };
  execFileSync('go', ['build', '-o', 'gnmic', 'github.com/openconfig/gnmic'], { cwd: dir, env, stdio: 'inherit' });
  return built;
}

export class Gnmic {
  readonly #process: ChildProcess;
  out = '';
  err = '';
  code: number | null = null;
  readonly over: Promise<void>;

  constructor(program: string, args: readonly string[]) {
    this.#process = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, HOME: '/nonexistent' },
    });
    this.#process.stdout!.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    this.#process.stderr!.setEncoding('utf8').on('data', (text: string) => (this.err += text));
    this.over = new Promise((resolve) =>
      this.#process.on('close', (code) => {
        this.code = code;
        resolve();
      }),
    );
  }

  /** Lines of `--format flat`: path and value. */
  get lines(): string[] {
    return this.out.split('\n').filter((line) => line !== '');
  }

  type(text: string): void {
    this.#process.stdin!.write(text);
  }

  async stop(): Promise<void> {
    this.#process.kill();
    await this.over;
  }
}
