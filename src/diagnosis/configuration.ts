// Problems of the file: it cannot be read or is not valid, or it differs from the intent in force.
import type { CarrierName } from '../model/advertisement.ts';
import { messageOf } from '../model/error-text.ts';
import type { Check, Problem } from '../model/problem.ts';

/** The result of reading the file. */
interface Refusal {
  readonly errors: readonly string[];
  /** The file itself could not be read: the system's error code, or another word. */
  readonly unreadable?: string;
}

/** @param refusal why the file is not valid; undefined: it is */
export function checkFile(file: string, refusal: Refusal | undefined): Check {
  const common = { id: 'config', claim: `${file} is valid` };
  if (!refusal) return { ...common, state: 'ok' };
  const problem = refusal.errors[0] ?? 'unreadable';
  return { ...common, state: 'missing', problem, remedy: fileRemedy(file, refusal.unreadable) };
}

/** `cnpd check` would add nothing about a file that cannot be read. */
export function fileRemedy(file: string, unreadable: string | undefined): string {
  if (unreadable === undefined) return `cnpd check ${file}`;
  if (unreadable === 'ENOENT' || unreadable === 'ENOTDIR')
    return 'name the file with -c, or write it: docs/cnpd.yaml shows every key';
  if (unreadable === 'EACCES' || unreadable === 'EPERM')
    return `run this as root, or grant access: namei -l ${file} shows who may read it`;
  return `name a readable regular file with -c: ls -ld ${file} shows what this one is`;
}

/** The file and the intent in force differ. */
export const reloadProblems = (file: string, refused: boolean): Problem[] =>
  refused
    ? [
        {
          code: 'intent.reload-refused',
          feature: 'intent',
          problem: 'the last reload was refused; the previous configuration is in force',
          remedy: `\`cnpd check ${file}\` shows the errors`,
        },
      ]
    : [];

const gnmi = (code: 'gnmi.socket-waits' | 'gnmi.group-waits', problem: string): Problem => ({
  code,
  feature: 'gnmi',
  problem,
  remedy: 'systemctl restart cnpd',
});

export const socketWaits = (inForce: string, declared: string): Problem =>
  gnmi('gnmi.socket-waits', `gnmi.socket: cnpd listens on ${inForce}; ${declared} takes effect at the next start`);

/** @param refusal why this process cannot give the socket to the group */
export const groupWaits = (refusal: string): Problem =>
  gnmi('gnmi.group-waits', `gnmi.socket-group takes effect at the next start: ${refusal}`);

/** @param code of the system, such as EADDRINUSE */
export function metricsNotListening(address: string, code: string | undefined, reason: string): Problem {
  const port = address.slice(address.lastIndexOf(':'));
  const remedies: Readonly<Record<string, string>> = {
    EADDRINUSE: `stop what listens there (\`ss -ltnp 'sport = ${port}'\` shows it), or change metrics.address`,
    EADDRNOTAVAIL: 'give this router the address, or change metrics.address in cnpd.yaml and `cnpctl reload`',
  };
  return {
    code: 'metrics.not-listening',
    feature: 'metrics',
    problem: `metrics are not served at ${address} (${reason}): cnpd keeps trying`,
    remedy: remedies[code ?? ''] ?? 'change metrics.address in cnpd.yaml and `cnpctl reload`',
  };
}

/** A carrier of the intent does not run. */
export const carrierNotStarted = (feature: CarrierName, error: unknown): Problem => ({
  code: 'carrier.not-started',
  feature,
  problem: messageOf(error),
  remedy: 'fix it, then `cnpctl reload`',
});

/** @param reason why only root, or no user at all, can declare members at run time */
export const setSocketRefused = (reason: string): Problem => ({
  code: 'gnmi.set-refused',
  feature: 'gnmi',
  problem: `members of groups cannot be declared at run time as cnpd.yaml allows: ${reason}`,
  remedy: 'correct gnmi in cnpd.yaml, and restart cnpd; `cnpctl group` works as root if the socket is there',
});

/** @param reason why the socket on which the configuration is changed is not there */
export const configSocketRefused = (reason: string): Problem => ({
  code: 'gnmi.config-refused',
  feature: 'gnmi',
  problem: `the configuration cannot be changed over its socket: ${reason}`,
  remedy:
    'remove what is in the way and `cnpctl reload`, or change gnmi.socket in cnpd.yaml and restart cnpd; ' +
    'until then edit cnpd.yaml',
});

/**
 * @param how `listens`: as before, since what is declared now cannot be had. `retries`: it is tried again without a
 * reload.
 */
export const tcpRefused = (reason: string, how: { listens: boolean; retries: boolean }): Problem => ({
  code: 'northbound.not-listening',
  feature: 'northbound',
  problem: [
    `gNMI over TCP is not served as cnpd.yaml says: ${reason}`,
    ...(how.listens ? ['it is served as before'] : []),
    ...(how.retries ? ['cnpd keeps trying'] : []),
  ].join('; '),
  remedy: 'correct northbound in cnpd.yaml, or its files, then `cnpctl reload`',
});
