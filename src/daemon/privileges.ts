// cnpd runs with the smallest set of capabilities that its intent needs. The kernel is asked which files remain
// accessible without CAP_DAC_OVERRIDE: root's own files need no capability.
import { dirname } from 'node:path';
import type { Intent } from '../intent/intent.ts';
import { type Capability, becomeWithout, cannotDrop, refusedWithout, superfluous } from '../kernel/capabilities.ts';
import { ACCESS } from '../kernel/ffi/process.ts';
import { messageOf } from '../model/error-text.ts';
import type { Log } from '../model/log.ts';
import { shareMalloc } from './memory.ts';

/** Environment variable of the restarted process: capabilities were dropped, and failures are not tried again. */
export const DONE = 'CNPD_CAPABILITIES_DROPPED';

const hasDropped = (): boolean => process.env[DONE] !== undefined;

/** Whether dropPrivileges() may well restart the process. */
export const mayDrop = (): boolean => !hasDropped() && superfluous([]) > 0 && cannotDrop() === undefined;

interface Use {
  readonly path: string;
  readonly mode: number;
  /** Created by another program, under any user. */
  readonly foreign?: true;
}

export interface Started {
  readonly file: string;
  readonly runDir: string;
  /** Absent: nothing survives a reboot. */
  readonly stateDir?: string | undefined;
  readonly intent: Intent;
}

function uses({ file, runDir, stateDir, intent }: Started): Use[] {
  const inDirectory = ACCESS.WRITE | ACCESS.SEARCH;
  const gobgp = intent.bgp?.gobgp;
  const [client, server] = [gobgp?.tls, intent.northbound?.tls];
  const pem = [client?.ca, client?.certificate, client?.key, server?.certificate, server?.key, server?.clientCa].filter(
    (path) => path !== undefined,
  );
  return [
    { path: file, mode: ACCESS.READ },
    { path: runDir, mode: inDirectory },
    ...(stateDir === undefined ? [] : [{ path: stateDir, mode: inDirectory }]),
    { path: dirname(intent.gnmiSocket), mode: inDirectory },
    ...pem.map((path) => ({ path, mode: ACCESS.READ })),
    ...(gobgp?.target.startsWith('unix:')
      ? [{ path: gobgp.target.slice('unix:'.length), mode: ACCESS.WRITE, foreign: true as const }]
      : []),
  ];
}

/**
 * Paths that are not accessible without the capability. For an absent path, the nearest existing directory must allow
 * its creation.
 */
function refusals(needed: readonly Use[]): string[] {
  const refused = refusedWithout(needed);
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

/** Capabilities kept besides those that every cnpd needs, each with its reason. */
function keptFor(started: Started): Partial<Record<Capability, string>> {
  const files = refusals(uses(started));
  const { gnmiSocketGroup, gnmiSetGroup } = started.intent;
  const owners = [gnmiSocketGroup && 'gnmi.socket-group', gnmiSetGroup && 'gnmi.set-group'].filter(Boolean);
  return {
    ...(owners.length > 0 && { CAP_CHOWN: owners.join(', ') }),
    ...(files.length > 0 && { CAP_DAC_OVERRIDE: [...new Set(files)].join(', ') }),
  };
}

/**
 * Drops unneeded capabilities, which executes this program again in the same process. Returns if there is nothing to
 * drop.
 * @param done options that were carried out and are not repeated
 */
export function dropPrivileges(started: Started, log: Log, done: readonly string[]): void {
  const again = hasDropped();
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
    shareMalloc(process.env);
    becomeWithout(keep, process.execPath, [
      process.argv0,
      ...process.execArgv,
      ...process.argv.slice(1).filter((argument) => !done.includes(argument)),
    ]);
  } catch (error) {
    delete process.env[DONE];
    log.warn(
      { error: messageOf(error) },
      'could not give up the capabilities that are not needed; running with those that are left',
    );
  }
}
