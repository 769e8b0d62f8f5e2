// The result of one precondition of FRR, and the checks that all routing daemons share.
import { type FrrFindingCode, type FrrLine, shownLine } from '../../frr/check.ts';
import { DAEMONS_FILE, type LinkFacts } from '../../frr/frr-facts.ts';
import type { FrrDaemon } from '../../frr/vty.ts';
import { isAtLeast } from '../version.ts';

export interface Finding {
  readonly code: FrrFindingCode;
  readonly problem: string;
  /** The remedy, in one line. */
  readonly remedy: string;
  readonly lines?: readonly FrrLine[];
}

/** A finding that configuration lines of FRR fix. */
export const mend = (code: FrrFindingCode, problem: string, lines: readonly FrrLine[]): Finding => ({
  code,
  problem,
  remedy: showLines(lines),
  lines,
});

const showLines = (lines: readonly FrrLine[]): string => {
  const shown = lines.map((line, i) => {
    const context = line.context === lines[i - 1]?.context ? '' : `-c '${line.context}' `;
    return `${context}-c '${shownLine(line)}'`;
  });
  return `vtysh -c 'configure terminal' ${shown.join(' ')}`;
};

const OLDEST = [8, 4] as const;
const RESTART_FRR = 'systemctl restart frr';

/** @param enabled whether FRR's service starts it; undefined: unknown */
export function checkDaemon(
  daemon: FrrDaemon,
  error: string | undefined,
  enabled: boolean | undefined,
): Finding | undefined {
  if (error === undefined) return undefined;
  const enable = `sed -i 's/^${daemon}=.*/${daemon}=yes/' ${DAEMONS_FILE} && ${RESTART_FRR}`;
  return {
    code: 'daemon-silent',
    problem: `${daemon} does not answer (${error})`,
    remedy: enabled === false ? enable : RESTART_FRR,
  };
}

export const VERSION_CLAIM = `FRR is ${OLDEST.join('.')} or newer`;

export function checkVersion(version = 'unknown'): Finding | undefined {
  return isAtLeast(version, OLDEST)
    ? undefined
    : { code: 'version-old', problem: `FRR is ${version}`, remedy: `install FRR ${OLDEST.join('.')} or newer` };
}

/** @param link null: the kernel does not have it; undefined: zebra did not answer, because of `zebraError` */
export function checkLink(
  name: string,
  link: LinkFacts | null | undefined,
  zebraError: string | undefined,
): Finding | undefined {
  if (zebraError !== undefined)
    return { code: 'zebra-silent', problem: `zebra does not answer (${zebraError})`, remedy: RESTART_FRR };
  if (link === null)
    return {
      code: 'interface-missing',
      problem: `there is no interface ${name}`,
      remedy: 'start cnpd, which creates it: systemctl start cnpd',
    };
  return link?.up
    ? undefined
    : { code: 'interface-down', problem: `${name} is down`, remedy: `ip link set ${name} up` };
}
