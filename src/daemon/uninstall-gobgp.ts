// Removes the paths and policies that a killed cnpd has left in gobgpd. A note in the run directory names the gobgpd,
// since cnpd.yaml may have changed; a clean stop removes the note. Paths are removed first: without the policies gobgpd
// would send them to all neighbors.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BgpCarrier, type BgpCarrierOptions, createBgpCarrier } from '../carriers/bgp/carrier.ts';
import { POLICY } from '../carriers/bgp/gobgp/policy.ts';
import { systemClock } from '../model/clock.ts';
import { eventLoopWork } from '../model/work.ts';
import { DEFAULT_CODE_POINTS } from '../model/code-points.ts';
import type { GobgpFault, GobgpFaultCode } from '../model/gobgp-fault.ts';
import { silentLog } from '../model/log.ts';

type Noted = Pick<BgpCarrierOptions, 'gobgp' | 'domain' | 'confederation' | 'policy'>;

/** Longest wait for a gobgpd that lists a large table. Milliseconds. */
const READY_MS = 15_000;
const LOOK_MS = 50;

/** Faults that waiting does not fix. A missing TLS file does not mean that gobgpd is gone. */
const HOPELESS: ReadonlySet<GobgpFaultCode | undefined> = new Set(['not-there', 'tls-file']);

const noteOf = (runDir: string): string => join(runDir, 'gobgp.json');

/** @param bgp undefined: removes the note, since nothing is left in a gobgpd */
export function noteGobgp(runDir: string, bgp: Noted | undefined): void {
  const note = noteOf(runDir);
  if (!bgp) return rmSync(note, { force: true });
  const { gobgp, domain, confederation, policy } = bgp;
  writeFileSync(note, `${JSON.stringify({ gobgp, domain, confederation, policy })}\n`, { mode: 0o600 });
}

/** @returns whether nothing is left. `say` gets a line about what was removed or left */
export async function uninstallGobgp(runDir: string, say: (line: string) => void): Promise<boolean> {
  const note = noteOf(runDir);
  if (!existsSync(note)) return true;
  let noted: Noted;
  try {
    noted = JSON.parse(readFileSync(note, 'utf8')) as Noted;
  } catch {
    say(`left ${note}: it does not name the gobgpd that has cnpd's paths`);
    return false;
  }
  const { target } = noted.gobgp;
  const failure = await takeOut(noted);
  // A gobgpd that has ended has forgotten everything.
  const gone = failure?.code === 'not-there';
  if (failure && !gone) {
    say(
      `left cnpd's paths, and its policies ${POLICY.export} and ${POLICY.import}, in gobgpd at ${target}: ` +
        `${failure.reason}. Restart gobgpd, or run this again when it answers`,
    );
    return false;
  }
  rmSync(note);
  say(
    gone
      ? `gobgpd at ${target} is not running: nothing to remove`
      : `removed cnpd's paths and policies from gobgpd at ${target}`,
  );
  return true;
}

/** Runs a carrier with an empty origination until gobgpd is clean. @returns the fault; undefined: success */
async function takeOut(noted: Noted): Promise<GobgpFault | undefined> {
  const carrier = createBgpCarrier(
    {
      ...noted,
      policy: true,
      advertise: 'senders',
      communities: [],
      largeCommunities: [],
      learn: 'best',
      viaNextHop: false,
      holdUnreachableMs: 0,
    },
    {
      clock: systemClock,
      work: eventLoopWork(),
      log: silentLog,
      count: () => {},
      codePoints: DEFAULT_CODE_POINTS,
      sink: { learned: () => {}, reachability: () => {}, topology: () => {} },
    },
  );
  await carrier.start();
  const state = await ready(carrier);
  await carrier.stop();
  const { reason, fault = 'other', policy, policyReason = '', policyFault = 'other' } = carrier.session();
  if (state !== 'ready') return { code: fault, reason };
  return policy === 'failed' ? { code: policyFault, reason: policyReason } : undefined;
}

async function ready(carrier: BgpCarrier): Promise<string> {
  for (
    const end = Date.now() + READY_MS;
    Date.now() < end;
    await new Promise((resolve) => systemClock.after(LOOK_MS, () => resolve(undefined)))
  ) {
    const { state, fault } = carrier.session();
    if (state === 'ready' || (state === 'waiting' && HOPELESS.has(fault))) return state;
  }
  return 'late';
}
