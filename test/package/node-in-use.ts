// Which Node.js runs cnpd, and whether it takes what the installation has compiled.
import type { Machine } from './machine.ts';

/** The program that the service runs. */
export const programOf = (machine: Machine): string =>
  machine.shell('readlink /proc/$(systemctl show cnpd -p MainPID --value)/exe');

/** What V8 says of what was compiled of a program in advance. */
export const takesCompiled = (machine: Machine, name: string): boolean =>
  machine.shell(`
    cd /usr/lib/cnpd
    ./node --input-type=module -e "
      import { readFileSync } from 'node:fs';
      import { compiledBeside, load } from '/usr/lib/cnpd/dist/start.mjs';
      const file = '$(echo $PWD/dist/chunk/${name}-*.cjs)';
      console.log(load(file, readFileSync(compiledBeside(file))).script.cachedDataRejected);"`) === 'false';
