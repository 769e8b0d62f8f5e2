// What `cnpctl doctor` can find out by itself: reads cnpd.yaml, probes the kernel in a namespace of its own, plans as
// the daemon would and reports the plan's problems, and asks FRR and gobgpd. With main.ts it is where cnpctl is put
// together, so it may import what the commands may not.
import type { Intent } from '../intent/intent.ts';
import { examineFrr } from '../frr/examine.ts';
import { KernelError } from '../kernel/errors.ts';
import { isGatewayPort } from '../kernel/netlink/gateway-ports.ts';
import { Poller } from '../kernel/poller.ts';
import { type KernelFeature, probeKernel } from '../kernel/probe.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { checkCorePorts } from '../daemon/examine-core-ports.ts';
import { examineGobgp } from '../daemon/examine-gobgp.ts';
import { frrExpectations } from '../daemon/configure-frr.ts';
import { gatherFacts } from '../daemon/facts.ts';
import { readIntentFile } from '../daemon/intent-file.ts';
import type { IpAddress } from '../model/address.ts';
import type { Facts } from '../plan/facts.ts';
import { plan } from '../plan/plan.ts';
import type { DoctorItem, Examination } from './context.ts';

export async function examine(configFile: string, { kernel, vtyDir }: Examination): Promise<DoctorItem[]> {
  const read = readIntentFile(configFile);
  const config: DoctorItem = read.ok
    ? { id: 'config', claim: `${configFile} is valid`, state: 'ok' }
    : {
        id: 'config',
        claim: `${configFile} is valid`,
        state: 'missing',
        problem: read.error.errors[0] ?? 'unreadable',
        remedy: remedyOf(configFile, read.error.unreadable),
      };
  const intent = read.ok ? read.value : undefined;
  return [
    config,
    ...(kernel ? await examineKernel(intent) : []),
    ...(intent
      ? (await Promise.all([examineCorePorts(intent), askFrr(intent, vtyDir), examineGobgp(intent)])).flat()
      : []),
  ];
}

/** `cnpd check` would say no more of a file that cannot be read. */
export function remedyOf(file: string, unreadable: string | undefined): string {
  if (unreadable === undefined) return `cnpd check ${file}`;
  if (unreadable === 'ENOENT' || unreadable === 'ENOTDIR')
    return 'name the file with -c, or write it: docs/cnpd.yaml shows all that can be in it';
  if (unreadable === 'EACCES' || unreadable === 'EPERM')
    return `run this as root, or let its reader in: namei -l ${file} shows who may read it`;
  return `name a regular file that can be read with -c: ls -ld ${file} shows what this one is`;
}

export function socketOf(configFile: string): string | undefined {
  const read = readIntentFile(configFile);
  return read.ok ? read.value.gnmiSocket : undefined;
}

/** Also beside a running cnpd, whose interface does not tell of them. */
async function examineCorePorts(intent: Intent): Promise<DoctorItem[]> {
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

async function askFrr(intent: Intent, vtyDir: string | undefined): Promise<DoctorItem[]> {
  const expected = frrExpectations(intent);
  if (Object.keys(expected).length === 0)
    return [
      { id: 'frr', claim: 'cnpd.yaml has no isis, ospfv2 or ospfv3 section, so nothing is asked of FRR', state: 'ok' },
    ];
  return examineFrr(vtyDir === undefined ? {} : { vtyDir }, expected);
}

async function examineKernel(intent: Intent | undefined): Promise<DoctorItem[]> {
  try {
    const { features, facts } = await readFacts(intent);
    const [privileges] = features;
    // One cause, one line: without its privileges everything else fails as well.
    if (privileges?.name === 'capabilities' && !privileges.ok) return [featureItem(privileges)];
    const problems = intent ? plan(intent, NOTHING_LEARNED, facts).problems : [];
    return [
      ...features.filter((feature) => feature.required).map(featureItem),
      ...problems.map(({ feature, problem, remedy }): DoctorItem => ({
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

const featureItem = ({ name, ok, neededFor, detail, remedy }: KernelFeature): DoctorItem => ({
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
