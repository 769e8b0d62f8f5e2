// cnpd runs with the smallest set of capabilities that does what its file asks for. Which files it can still use
// without CAP_DAC_OVERRIDE is asked of the kernel, not guessed: files of root's need nothing.
import { dirname } from 'node:path';
import type { Intent } from '../intent/intent.ts';
import { type Capability, becomeWithout, cannotDrop, refusedWithout, superfluous } from '../kernel/capabilities.ts';
import { ACCESS } from '../kernel/ffi/process.ts';
import type { Log } from '../model/log.ts';

/** Says to the process that follows that this was done: it does not try again what did not work out. */
const DONE = 'CNPD_CAPABILITIES_DROPPED';

interface Use {
  readonly path: string;
  readonly mode: number;
  /** Whether there is somebody else who makes it, of whatever user. */
  readonly foreign?: true;
}

export interface Started {
  readonly file: string;
  readonly runDir: string;
  readonly intent: Intent;
}

function uses({ file, runDir, intent }: Started): Use[] {
  const inDirectory = ACCESS.WRITE | ACCESS.SEARCH;
  const gobgp = intent.bgp?.gobgp;
  const pem = [gobgp?.tls?.ca, gobgp?.tls?.certificate, gobgp?.tls?.key].filter((path) => path !== undefined);
  return [
    { path: file, mode: ACCESS.READ },
    { path: runDir, mode: inDirectory },
    { path: dirname(intent.gnmiSocket), mode: inDirectory },
    ...pem.map((path) => ({ path, mode: ACCESS.READ })),
    ...(gobgp?.target.startsWith('unix:')
      ? [{ path: gobgp.target.slice('unix:'.length), mode: ACCESS.WRITE, foreign: true as const }]
      : []),
  ];
}

/** The nearest directory that is there must let cnpd make what is not. */
function refusals(wanted: readonly Use[]): string[] {
  const refused = refusedWithout(wanted);
  const absent = refused.filter(({ code, foreign }) => code === 'ENOENT' && foreign === undefined);
  const above = absent
    .filter(({ path, mode }) => mode !== ACCESS.READ && dirname(path) !== path)
    .map(({ path, mode }) => ({ path: dirname(path), mode }));
  const here = refused
    .filter(
      ({ code, foreign }) => code === 'EACCES' || code === 'EPERM' || (code === 'ENOENT' && foreign !== undefined),
    )
    .map(({ path }) => path);
  return [...here, ...(above.length > 0 ? refusals(above) : [])];
}

/** What stays beside the capabilities that every cnpd needs, and for what. */
export function keptFor(started: Started): Partial<Record<Capability, string>> {
  const files = refusals(uses(started));
  return {
    ...(started.intent.gnmiSocketGroup !== undefined && { CAP_CHOWN: 'gnmi.socket-group' }),
    ...(files.length > 0 && { CAP_DAC_OVERRIDE: [...new Set(files)].join(', ') }),
  };
}

/**
 * Gives up the capabilities that are not needed, and for that starts this program again as the same process; comes back
 * when there is nothing to give up.
 */
export function dropPrivileges(started: Started, log: Log): void {
  const again = process.env[DONE] !== undefined;
  delete process.env[DONE];
  if (again) return;
  try {
    const kept = keptFor(started);
    const keep = Object.keys(kept) as Capability[];
    const dropped = superfluous(keep);
    if (dropped === 0) return;
    const reason = cannotDrop();
    if (reason !== undefined)
      return log.warn(
        { superfluous: dropped, reason },
        'cannot give up the capabilities that are not needed: have the service manager do it (systemd: ' +
          'CapabilityBoundingSet=)',
      );
    log.info({ dropped, kept }, 'giving up the capabilities that are not needed');
    process.env[DONE] = '1';
    becomeWithout(keep, process.execPath, [
      process.argv0,
      ...process.execArgv,
      ...process.argv.slice(1).filter((argument) => argument !== '--configure-frr'),
    ]);
  } catch (error) {
    delete process.env[DONE];
    log.warn(
      { error: error instanceof Error ? error.message : String(error) },
      'could not give up the capabilities that are not needed; running with those that are left',
    );
  }
}
