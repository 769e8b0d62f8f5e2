// Packages of a Debian suite or an architecture that is not this machine's. They are only unpacked, and this machine's
// own apt stays as it is.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, tryRun } from '../support/run.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Where this machine's own packages of Debian come from. @throws Error when it has none */
function mirror(): string {
  const targets = run('apt-get', 'indextargets', '--format', '$(LABEL) $(REPO_URI)', 'Created-By: Packages');
  const own = targets.split('\n').find((line) => line.startsWith('Debian '));
  if (!own) throw new Error('apt has no package lists of Debian here: run apt-get update');
  return own.slice('Debian '.length);
}

export class DebianSuite {
  readonly #options: readonly string[];
  readonly #folder: string;
  readonly #name: string;

  /** @param folder for package lists, which are fetched once */
  constructor(folder: string, suite: string, architecture: string) {
    this.#folder = join(folder, `apt-${suite}-${architecture}`);
    this.#name = `Debian's ${suite} for ${architecture}`;
    const file = (name: string): string => join(this.#folder, name);
    for (const name of ['lists/partial', 'archives/partial']) mkdirSync(file(name), { recursive: true });
    const source = `deb [arch=${architecture} signed-by=${KEYRING}] ${mirror()} ${suite} main`;
    for (const [name, text] of Object.entries({ sources: `${source}\n`, status: '' })) writeFileSync(file(name), text);
    this.#options = [
      `APT::Architecture=${architecture}`,
      `APT::Architectures::=${architecture}`,
      `Dir::Etc::sourcelist=${file('sources')}`,
      'Dir::Etc::sourceparts=/dev/null',
      'Dir::Etc::preferencesparts=/dev/null',
      `Dir::State=${this.#folder}`,
      `Dir::State::status=${file('status')}`,
      `Dir::Cache=${this.#folder}`,
      'Acquire::Languages=none',
      'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
    ].flatMap((option) => ['-o', option]);
    if (!existsSync(file('fetched'))) {
      this.#apt('apt-get', 'update', '-qq');
      writeFileSync(file('fetched'), '');
    }
  }

  /** @throws Error with what apt has said last */
  #apt(...command: readonly [string, ...string[]]): string {
    const [program, ...args] = [...command, ...this.#options];
    const { status, stdout, output } = tryRun(program!, ...args);
    if (status !== 0) throw new Error(`${this.#name} cannot be had: ${output.split('\n').at(-1)}`);
    return stdout;
  }

  /** What a package without files of its own, such as linux-image-amd64, stands for. */
  behind(name: string): string {
    const found = this.#apt('apt-cache', 'depends', name).match(/Depends: (\S+)/)?.[1];
    if (!found) throw new Error(`${name} depends on nothing in ${this.#name}`);
    return found;
  }

  /** Unpacks one package, without those that it depends on. */
  unpackAlone(name: string, root: string): void {
    const folder = join(this.#folder, 'alone');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    this.#apt('env', '-C', folder, 'apt-get', 'download', '-qq', name);
    unpack(folder, root);
  }

  /** Unpacks packages and all that they depend on. No script of theirs is run. */
  unpackWhole(names: readonly string[], root: string): void {
    const install = ['install', '-y', '-qq', '--download-only', '--no-install-recommends'];
    this.#apt('apt-get', ...install, ...names);
    unpack(join(this.#folder, 'archives'), root);
  }
}

function unpack(folder: string, root: string): void {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.deb'))) {
    run('dpkg-deb', '-x', join(folder, name), root);
    rmSync(join(folder, name));
  }
}
