// Probes the kernel for the features that cnpd needs (probe-table.ts). The host is not changed: attempts are made in a
// temporary network namespace (a kernel module that an attempt loads stays loaded). They cost time, and load programs
// for a moment. What one has found need not be tried again during a boot.
import { messageOf } from '../model/error-text.ts';
import { Netns } from './netns.ts';
import { NetlinkClient } from './netlink/client.ts';
import type { Poller } from './poller.ts';
import type { Context } from './probe-attempts.ts';
import { type Look, PROBES, type Probe } from './probe-table.ts';

export interface KernelFeature {
  /** Stable: `tcx`, `btf`, … */
  readonly name: string;
  readonly ok: boolean;
  /** Whether cnpd cannot work without it. Otherwise there is a substitute, or one feature is missing. */
  readonly required: boolean;
  readonly neededFor: string;
  /** What was found, or why it is missing. */
  readonly detail: string;
  /** What to do; empty when ok. */
  readonly remedy: string;
}

interface Dependencies {
  readonly poller: Poller;
  /** Of the compiled programs. */
  readonly objectDir: string;
}

interface Questions {
  /** Names of features. Absent: all. */
  readonly only?: ReadonlySet<string>;
  /** What an attempt has found during this boot, with the same programs. It is not tried again. */
  readonly known?: ReadonlySet<string>;
}

/** Probes features, one after another. Resolves even when some, or all, are missing. */
export async function probeKernel(dependencies: Dependencies, questions: Questions = {}): Promise<KernelFeature[]> {
  const { only, known } = questions;
  const probes = PROBES.filter(({ name }) => only?.has(name) ?? true).map((probe) =>
    isLook(probe) || !known?.has(probe.name) ? probe : { ...probe, look: () => 'found by an earlier start' },
  );
  if (probes.every(isLook)) return probes.map((probe) => looked(probe));
  let netns: Netns;
  try {
    netns = Netns.create();
  } catch (error) {
    // Without a namespace nothing can be tried. The cause is a missing privilege, which the first row reports.
    const detail = messageOf(error);
    return probes.map((probe, i) => ({
      ...row(probe),
      ok: false,
      detail: `no network namespace to try it in: ${detail}`,
      remedy: i === 0 ? probe.remedy : 'see capabilities',
    }));
  }
  return askAll(probes, netns, dependencies);
}

/** One of them, if it is missing; undefined: it is there, or cannot be tried. */
export async function missingFeature(name: string, dependencies: Dependencies): Promise<KernelFeature | undefined> {
  let netns: Netns;
  try {
    netns = Netns.create();
  } catch {
    return undefined;
  }
  const probes = PROBES.filter((probe) => probe.name === name);
  return (await askAll(probes, netns, dependencies)).find(({ ok }) => !ok);
}

/** Closes the namespace. */
async function askAll(
  probes: readonly Probe[],
  netns: Netns,
  { poller, objectDir }: Dependencies,
): Promise<KernelFeature[]> {
  const client = NetlinkClient.open({ netns }, { poller });
  try {
    const features: KernelFeature[] = [];
    for (const probe of probes) features.push(await ask(probe, { netns, client, objectDir }));
    return features;
  } finally {
    client.close();
    netns.close();
  }
}

const isLook = <P extends Probe>(probe: P): probe is P & Look => 'look' in probe;

const row = ({ name, required, neededFor }: Probe): Pick<KernelFeature, 'name' | 'required' | 'neededFor'> => ({
  name,
  required,
  neededFor,
});
const missing = (probe: Probe, error: unknown): KernelFeature => ({
  ...row(probe),
  ok: false,
  detail: messageOf(error),
  remedy: probe.remedy,
});

function looked(probe: Probe & Look): KernelFeature {
  try {
    return { ...row(probe), ok: true, detail: probe.look(), remedy: '' };
  } catch (error) {
    return missing(probe, error);
  }
}

async function ask(probe: Probe, context: Context): Promise<KernelFeature> {
  if (isLook(probe)) return looked(probe);
  try {
    return { ...row(probe), ok: true, detail: await probe.attempt(context), remedy: '' };
  } catch (error) {
    return missing(probe, error);
  }
}
