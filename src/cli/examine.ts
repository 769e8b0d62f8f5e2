// What `cnpctl doctor` can find out by itself: reads cnpd.yaml, probes the kernel in a namespace of its own, plans as
// the daemon would and reports the plan's problems, and asks FRR and gobgpd. With main.ts it is where cnpctl is put
// together, so it may import what the commands may not.
import type { Intent } from '../intent/intent.ts';
import { KernelError } from '../kernel/errors.ts';
import { isGatewayPort } from '../kernel/netlink/gateway-ports.ts';
import { Poller } from '../kernel/poller.ts';
import { type KernelFeature, probeKernel } from '../kernel/probe.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { checkFile } from '../diagnosis/configuration.ts';
import { checkCorePorts } from '../diagnosis/core-ports.ts';
import { examineFrr, frrExpectations } from '../diagnosis/frr/examine.ts';
import { examineGobgp } from '../diagnosis/gobgp/check.ts';
import { gatherFacts } from '../daemon/facts.ts';
import { readIntentFile } from '../daemon/intent-file.ts';
import type { IpAddress } from '../model/address.ts';
import type { Check } from '../model/problem.ts';
import type { Facts } from '../plan/facts.ts';
import { plan } from '../plan/plan.ts';
import type { Examination } from './context.ts';

export async function examine(configFile: string, { kernel, vtyDir }: Examination): Promise<Check[]> {
  const read = readIntentFile(configFile);
  const intent = read.ok ? read.value : undefined;
  return [
    checkFile(configFile, read.ok ? undefined : read.error),
    ...(kernel ? await examineKernel(intent) : []),
    ...(intent
      ? (await Promise.all([examineCorePorts(intent), askFrr(intent, vtyDir), examineGobgp(intent)])).flat()
      : []),
  ];
}

export function socketOf(configFile: string): string | undefined {
  const read = readIntentFile(configFile);
  return read.ok ? read.value.gnmiSocket : undefined;
}

/** Also beside a running cnpd, whose interface does not tell of them. */
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
    return [
      {
        id: 'core-ports',
        claim: 'the ports of the core can be listed',
        state: 'unknown',
        problem: error.message,
        remedy: 'run this as root',
      },
    ];
  }
}

async function askFrr(intent: Intent, vtyDir: string | undefined): Promise<Check[]> {
  const expected = frrExpectations(intent);
  if (Object.keys(expected).length === 0)
    return [
      { id: 'frr', claim: 'cnpd.yaml has no isis, ospfv2 or ospfv3 section, so nothing is asked of FRR', state: 'ok' },
    ];
  return examineFrr(vtyDir === undefined ? {} : { vtyDir }, expected);
}

async function examineKernel(intent: Intent | undefined): Promise<Check[]> {
  try {
    const { features, facts } = await readFacts(intent);
    const [privileges] = features;
    // One cause, one line: without its privileges everything else fails as well.
    if (privileges?.name === 'capabilities' && !privileges.ok) return [featureItem(privileges)];
    const problems = intent ? plan(intent, NOTHING_LEARNED, facts).problems : [];
    return [
      ...features.filter((feature) => feature.required).map(featureItem),
      ...problems.map(({ feature, problem, remedy }): Check => ({
        id: feature,
        claim: `${feature} works`,
        state: 'missing',
        problem,
        remedy,
      })),
    ];
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    return [
      {
        id: 'kernel',
        claim: 'the kernel can be examined',
        state: 'missing',
        problem: error.message,
        remedy: 'run this as root',
      },
    ];
  }
}

const featureItem = ({ name, ok, neededFor, detail, remedy }: KernelFeature): Check => ({
  id: `kernel.${name}`,
  claim: detail,
  state: ok ? 'ok' : 'missing',
  ...(ok ? {} : { problem: `${detail} (needed for ${neededFor})`, remedy }),
});

const NOTHING_LEARNED = { forwarding: () => [], sizes: () => ({ proxies4: 0, proxies6: 0 }) };

const readFacts = (intent: Intent | undefined): Promise<{ features: KernelFeature[]; facts: Facts }> =>
  withNetlink(async (netlink, poller) => {
    const features = await probeKernel({ poller });
    return { features, facts: await gatherFacts(netlink, features, intent) };
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
