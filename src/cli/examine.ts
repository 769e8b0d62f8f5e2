// The checks of `cnpctl doctor` that need no running cnpd. They read cnpd.yaml, probe the kernel in a separate
// namespace, plan as the daemon would and report the plan's problems, and ask the routing suite and gobgpd. cnpctl is
// put together here and in main.ts, so this file may import what the commands may not.
import { readKernelFacts } from '../coordinator/kernel-facts.edge.ts';
import { readConfig, readIntentFile } from '../daemon/intent-file.ts';
import { checkFile } from '../diagnosis/configuration.ts';
import { checkCorePorts, corePortsUnknown } from '../diagnosis/core-ports.ts';
import { checkHeldPorts, heldPortsUnknown } from '../diagnosis/held-ports.ts';
import { examineGobgp } from '../diagnosis/gobgp/check.ts';
import {
  type ConfigInForce,
  checkInForce,
  inForceUnreadable,
  withoutHidden,
  withoutVerdictOnKeys,
} from '../diagnosis/in-force.ts';
import { checkMonitoredPorts, monitoredPortsUnknown } from '../diagnosis/monitored-ports.ts';
import { checkKernel, kernelSilent } from '../diagnosis/kernel.ts';
import { suiteBeside } from '../diagnosis/suites/suite.ts';
import { shownConfig } from '../intent/effective.ts';
import type { Intent } from '../intent/intent.ts';
import { KernelError } from '../kernel/errors.ts';
import { type FqPort, FqPorts } from '../kernel/netlink/fq.ts';
import { isGatewayPort } from '../kernel/netlink/gateway-ports.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { TC_H } from '../kernel/netlink/traffic-control.ts';
import { Poller } from '../kernel/poller.ts';
import { objectDir } from '../kernel/bpf/object-dir.ts';
import { type KernelFeature, missingFeature, probeKernel } from '../kernel/probe.ts';
import type { IpAddress } from '../model/address.ts';
import type { Check } from '../model/problem.ts';
import { eventLoopWork, finish } from '../model/work.ts';
import type { Facts } from '../plan/facts.ts';
import { NO_SENDER_PROXIES } from '../plan/desired.ts';
import { plan } from '../plan/plan.ts';
import type { Examination } from './context.ts';
import { examineGroups } from './examine-groups.ts';

export async function examine(configFile: string, what: Examination): Promise<Check[]> {
  const read = readIntentFile(configFile);
  const file = checkFile(configFile, read.ok ? undefined : read.error);
  const { inForce } = what;
  if (!inForce || (await isInForce(read, inForce)))
    return [file, ...(await examineIntent(read.ok ? read.value.intent : undefined, what))];
  const other = readConfig(withoutHidden(inForce.text), 'the configuration in force');
  const trial = checkInForce(configFile, inForce);
  // A cnpd of another version may know keys that this program does not.
  if (!other.ok) return [file, trial, inForceUnreadable(other.error)];
  return [file, trial, ...withoutVerdictOnKeys(await examineIntent(other.value.intent, what))];
}

/** As far as cnpd shows it: two that differ in a key alone are the same, unless cnpd says otherwise. */
async function isInForce(read: ReturnType<typeof readIntentFile>, inForce: ConfigInForce): Promise<boolean> {
  if (!read.ok || !inForce.isPersistent) return false;
  return (await finish(WORK, shownConfig(read.value.text), BUDGET_MS)).text === inForce.text;
}

/** In one turn of the event loop. */
const BUDGET_MS = 100;

async function examineIntent(
  intent: Intent | undefined,
  { kernel, roots, location = {} }: Examination,
): Promise<Check[]> {
  const ofKernel = kernel ? await examineKernel(intent) : [];
  if (!intent) return ofKernel;
  const checks = await Promise.all([
    examineCorePorts(intent),
    examineMonitoredPorts(intent),
    examineHeldPorts(intent),
    examineGroups(intent, roots, () => withNetlink((netlink) => netlink.links())),
    suiteBeside(intent, location).examine(),
    examineGobgp(intent),
  ]);
  return [...ofKernel, ...checks.flat()];
}

export function socketOf(configFile: string): string | undefined {
  const read = readIntentFile(configFile);
  return read.ok ? read.value.intent.gnmiSocket : undefined;
}

/** Also beside a running cnpd, whose interface does not report them. */
async function examineCorePorts(intent: Intent): Promise<Check[]> {
  try {
    const { links, addresses } = await withNetlink(async (netlink) => ({
      links: await netlink.links(),
      addresses: await netlink.addresses(),
    }));
    const ports = links.filter((link) => link.up && link.name !== 'lo');
    const addressesOf = (ifindex: number): IpAddress[] =>
      addresses.filter((each) => each.ifindex === ifindex).map((each) => each.address);
    return checkCorePorts(
      intent,
      ports.map(({ name, ifindex }) => ({ name, ifindex, addresses: addressesOf(ifindex) })),
      isGatewayPort,
    );
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    return [corePortsUnknown(error)];
  }
}

/** Also beside a running cnpd, which reports only what is wrong with them. */
async function examineMonitoredPorts(intent: Intent): Promise<Check[]> {
  if (intent.ports.length === 0) return [];
  try {
    return checkMonitoredPorts(
      intent,
      await withNetlink((rtnetlink) => readKernelFacts({ rtnetlink, work: WORK, features: [] })),
    );
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    return [monitoredPortsUnknown(error)];
  }
}

async function examineHeldPorts(intent: Intent): Promise<Check[]> {
  if (!intent.source?.enforce && !intent.flowControl) return [];
  try {
    return await withNetlink(async (netlink, poller) => {
      const noFq = await missingFeature('fq', { poller, objectDir: objectDir() });
      const [links, addresses, qdiscs] = [await netlink.links(), await netlink.addresses(), await netlink.qdiscs()];
      const fqs = fqsOf(links.filter(({ name }) => intent.source?.enforce?.ports.includes(name)));
      return checkHeldPorts(
        intent,
        links.map(({ name, ifindex }) => {
          const rootQdisc = qdiscs.find((qdisc) => qdisc.ifindex === ifindex && qdisc.parent === TC_H.ROOT);
          const own = addresses.filter((a) => a.ifindex === ifindex);
          const fq = fqs.get(ifindex);
          return { name, addresses: own, ...(rootQdisc && { rootQdisc }), ...(fq && { fq }) };
        }),
        noFq === undefined,
      );
    });
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    return [heldPortsUnknown(error)];
  }
}

function fqsOf(links: readonly { readonly ifindex: number }[]): Map<number, FqPort> {
  const ports = FqPorts.open();
  try {
    return new Map(
      links.flatMap(({ ifindex }) => {
        const found = ports.find(ifindex);
        return found ? [[ifindex, found] as const] : [];
      }),
    );
  } finally {
    ports.close();
  }
}

async function examineKernel(intent: Intent | undefined): Promise<Check[]> {
  try {
    const { features, facts } = await readFacts(intent);
    return checkKernel(features, intent && (() => plan(intent, NOTHING_LEARNED, facts).problems));
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    return [kernelSilent(error)];
  }
}

/** Of this process. */
const WORK = eventLoopWork();
const NOTHING_LEARNED = { senders: NO_SENDER_PROXIES, sizes: () => ({ proxies4: 0, proxies6: 0 }) };

const readFacts = (intent: Intent | undefined): Promise<{ features: KernelFeature[]; facts: Facts }> =>
  withNetlink(async (rtnetlink, poller) => {
    const features = await probeKernel({ poller, objectDir: objectDir() });
    return { features, facts: await readKernelFacts({ rtnetlink, work: WORK, features }, intent) };
  });

async function withNetlink<T>(ask: (netlink: Rtnetlink, poller: Poller) => Promise<T>): Promise<T> {
  const failures: unknown[] = [];
  const poller = Poller.open({ onError: (error) => void failures.push(error) });
  const netlink = Rtnetlink.open({}, { poller });
  try {
    const answer = await ask(netlink, poller);
    if (failures.length > 0) throw failures[0];
    return answer;
  } finally {
    netlink.close();
    poller.close();
  }
}
