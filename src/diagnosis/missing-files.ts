// Files that the configuration names and that are not there: certificates and keys of TLS. cnpd starts without them,
// and the section waits for them; `check` notes it before.
import type { Intent } from '../intent/intent.ts';
import type { Problem } from '../model/problem.ts';

/** What is at a path, as far as it can be told. */
export type PathState = 'file' | 'absent' | 'no-file' | 'unknown';

const WHAT: Readonly<Record<'absent' | 'no-file', string>> = { absent: 'does not exist', 'no-file': 'is not a file' };

interface Named {
  readonly feature: string;
  readonly key: string;
  readonly path: string | undefined;
  readonly consequence: string;
}

function named({ northbound, bgp }: Intent): Named[] {
  const { tls } = northbound ?? {};
  const ofNorthbound = { certificate: tls?.certificate, key: tls?.key, 'client-ca': tls?.clientCa };
  const ofGobgp = bgp?.gobgp.tls;
  return [
    ...Object.entries(ofNorthbound).map(([key, path]) => ({
      ...{ feature: 'northbound', key: `northbound.${key}`, path },
      consequence: 'without it there is no gNMI over TCP',
    })),
    ...(['ca', 'certificate', 'key'] as const).map((key) => ({
      ...{ feature: 'bgp', key: `bgp.gobgp.tls.${key}`, path: ofGobgp?.[key] },
      consequence: 'without it there is no connection to gobgpd',
    })),
  ];
}

export const missingFileNotes = (intent: Intent, stateOf: (path: string) => PathState): Problem[] =>
  named(intent).flatMap(({ feature, key, path, consequence }): Problem[] => {
    const state = path === undefined ? 'file' : stateOf(path);
    if (state === 'file' || state === 'unknown') return [];
    return [
      {
        code: 'tls.file-missing',
        feature,
        problem: `${key}: ${path} ${WHAT[state]} on this machine, and ${consequence}`,
        remedy: `put the PEM file there, or correct ${key}`,
      },
    ];
  });
