// Writes what is generated from the command lines of cnpd and cnpctl: manual pages and completion, into the folder that
// is given. Run by build.mjs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SHELLS, type Shell, completionScript } from '../cli/reference/completion.ts';
import { type CommandDescription, nameOf } from '../cli/reference/describe.ts';
import { type ManualText, manualPage } from '../cli/reference/manual.ts';
import { VERSION } from '../daemon/version.ts';
import { CONFIG_FILE, GNMI_SOCKET, RUN_DIR, STATE_DIR } from '../model/paths.ts';
import { commandLine, daemonCommandLine } from './command-lines.ts';

const CNPD: ManualText = {
  version: VERSION,
  description: [
    'cnpd runs on a router beside FRR or GoBGP, watches the queues of ports in eBPF, and notifies senders of ' +
      'RoCEv2 traffic of congestion. Everything is off until the configuration file turns it on.',
    'Programs and maps outlive the process: forwarding and notification go on when it stops or is killed, and the ' +
      'next start adopts them.',
  ],
  sections: [
    {
      title: 'SIGNALS',
      entries: [
        ['SIGHUP', 'Reads the file again. A file with errors changes nothing.'],
        [
          'SIGTERM, SIGINT',
          'Waits for transfers of End.MT groups, withdraws what was advertised, and ends. A second one ends cnpd at ' +
            'once, without a withdrawal.',
        ],
      ],
    },
    {
      title: 'ENVIRONMENT',
      entries: [
        ['NOTIFY_SOCKET', 'Where to report states to systemd, sd_notify(3).'],
        ['WATCHDOG_USEC, WATCHDOG_PID', 'The time within which systemd expects a report of the event loop.'],
      ],
    },
    {
      title: 'FILES',
      entries: [
        [CONFIG_FILE, 'The configuration.'],
        [RUN_DIR, 'Pinned programs and maps, and the northbound sockets.'],
        [STATE_DIR, 'Members of groups that survive a reboot.'],
      ],
    },
    {
      title: 'EXIT STATUS',
      entries: [
        ['0', 'Success.'],
        ['1', 'The file has errors, or cnpd could not start.'],
        ['2', 'The command line is wrong.'],
      ],
    },
  ],
  seeAlso: ['cnpctl(8)', 'systemd.service(5)', 'vtysh(1)'],
};

const CNPCTL: ManualText = {
  version: VERSION,
  description: [
    'cnpctl asks a running cnpd over its northbound socket. Results go to standard output, errors to standard error.',
  ],
  sections: [
    {
      title: 'EXIT STATUS',
      entries: [
        ['0', 'Done, nothing wrong.'],
        ['1', 'Done, but something is not right: a problem was found.'],
        ['2', 'The command line is wrong.'],
        ['3', 'cnpd does not answer.'],
        ['4', 'cnpd refused, or answered with an error.'],
      ],
    },
    { title: 'ENVIRONMENT', entries: [['NO_COLOR', 'If set, no colors.']] },
    { title: 'FILES', entries: [[GNMI_SOCKET, "cnpd's northbound socket."]] },
  ],
  seeAlso: ['cnpd(8)'],
};

/** Where each shell looks for the completion of a command. */
const COMPLETION_FILE: Readonly<Record<Shell, (name: string) => string>> = {
  bash: (name) => name,
  zsh: (name) => `_${name}`,
  fish: (name) => `${name}.fish`,
};

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function writeReference(folder: string): void {
  for (const [described, text] of [
    [daemonCommandLine(), CNPD],
    [commandLine(), CNPCTL],
  ] as const satisfies readonly (readonly [CommandDescription, ManualText])[]) {
    const name = nameOf(described);
    write(join(folder, 'man', `${name}.8`), manualPage(described, text));
    for (const shell of SHELLS)
      write(join(folder, 'completion', shell, COMPLETION_FILE[shell](name)), completionScript(shell, described));
  }
}

writeReference(process.argv[2] ?? 'dist');
