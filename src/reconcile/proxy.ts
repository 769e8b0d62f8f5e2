// The proxy in the kernel: from whom it accepts notices, for which senders, at which rate (PNC §4, §6), and the program
// at the ingress of its ports. Learned Queue Pairs are the program's own state, which this file reads and sweeps. A
// congested node that sends Long-haul CNPs needs the Queue Pairs without being a proxy. Its program only learns and
// accepts no notices.
import type { BpfMap } from '../kernel/bpf/map.ts';
import type { BpfObject } from '../kernel/bpf/object.ts';
import { prefixKey } from '../kernel/dataplane/layout.ts';
import {
  DEFAULT_LEARNING_LIMITS,
  PROXY_CONFIG_KEY,
  PROXY_CONFIG_SIZE,
  PROXY_MAPS,
  PROXY_PROGRAM,
  PROXY_SCRATCH_MAPS,
  decodeProxyConfig,
  encodeLearnedSender,
  PROXY_INSTRUCTIONS_SIZE,
  encodeLearningConfig,
  encodeProxyConfig,
  encodeProxyInstructions,
  encodeProxySender,
  encodeProxySource,
} from '../kernel/dataplane/proxy.ts';
import { encodePortRole, doubtedPort, portRoleKey } from '../kernel/dataplane/port-roles.ts';
import {
  type FlowName,
  type LearnedQueuePair,
  decodeQueuePair,
  encodeFlowKey,
  namesPeer,
  ownerKey,
} from '../kernel/dataplane/queue-pairs.ts';
import type { LearningPlan, ProxyPlan, QueuePairsPlan, TenantsPlan } from '../plan/desired.ts';
import { type Attachment, LOOPBACK, attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import type { TableCodec } from './map-table.ts';
import type { Reconciler } from './reconciler.ts';
import { TenantTables } from './tenants.ts';

type Sender = ProxyPlan['senders'][number];
type Source = ProxyPlan['acceptFrom'][number];
type LearnedSender = QueuePairsPlan['senders'][number];
type PortRolePlan = LearningPlan['ports'][number];
/** `notices` null: the program only learns Queue Pairs. */
interface Configuration {
  readonly id: 'proxy';
  readonly notices: Omit<ProxyPlan, 'senders' | 'acceptFrom' | 'interfaces' | 'instructions'> | null;
  readonly learning: LearningPlan;
}
interface Instructions {
  readonly id: 'proxy-instructions';
  readonly byLevel: NonNullable<ProxyPlan['instructions']>;
}
interface Desired {
  readonly proxy?: ProxyPlan;
  readonly queuePairs?: QueuePairsPlan;
  readonly learning?: LearningPlan;
  readonly tenants?: TenantsPlan;
}

const LEARNED_MAPS = [PROXY_MAPS.queuePairs, PROXY_MAPS.unconfirmedQueuePairs] as const;
/** Used if the desired state has no learning plan. */
const DEFAULT_LEARNING: LearningPlan = {
  ageingNs: DEFAULT_LEARNING_LIMITS.ageingNs,
  reversePathCheck: DEFAULT_LEARNING_LIMITS.reversePathCheck,
  ports: [],
};

export class Proxy extends Feature {
  readonly #configuration: Reconciler<Configuration>;
  readonly #senders: Reconciler<Sender>;
  readonly #sources: Reconciler<Source>;
  readonly #learned: Reconciler<LearnedSender>;
  readonly #instructions: Reconciler<Instructions>;
  readonly #ports: Reconciler<PortRolePlan>;
  readonly #tenants: TenantTables;

  constructor(object: BpfObject, dependencies: FeatureDependencies) {
    super(object, dependencies);
    const map = (name: 'config' | 'senders' | 'sources' | 'learnedSenders' | 'instructions' | 'portRoles') =>
      object.map(PROXY_MAPS[name]);
    const off = new Uint8Array(PROXY_CONFIG_SIZE);
    const value = configurationValue(object.map(PROXY_MAPS.bucket));
    this.#configuration = this.configuration({ kind: 'proxy', map: map('config'), value, off });
    this.#instructions = this.configuration({
      kind: 'proxy-instructions',
      map: map('instructions'),
      value: ({ byLevel }: Instructions) => encodeProxyInstructions(byLevel),
      off: new Uint8Array(PROXY_INSTRUCTIONS_SIZE),
    });
    this.#senders = this.table(map('senders'), SENDERS);
    this.#sources = this.table(map('sources'), SOURCES);
    this.#learned = this.table(map('learnedSenders'), LEARNED_SENDERS);
    this.#ports = this.table(map('portRoles'), PORT_ROLES);
    this.#tenants = new TenantTables(object, dependencies);
    this.#tenants.reconcilers.forEach((reconciler) => this.keep(reconciler));
    this.#tenants.tables.forEach(([tenantMap, reconciler]) => this.measured(tenantMap, reconciler));
  }

  apply({ proxy, queuePairs, learning = DEFAULT_LEARNING, tenants }: Desired): void {
    this.#tenants.apply(tenants);
    this.#ports.replace(proxy || queuePairs ? learning.ports : []);
    this.#sources.replace(proxy?.acceptFrom ?? []);
    this.#instructions.replace(proxy?.instructions ? [{ id: 'proxy-instructions', byLevel: proxy.instructions }] : []);
    this.#senders.replace(proxy?.senders ?? []);
    this.#learned.replace(queuePairs?.senders ?? []);
    this.#configuration.replace(
      proxy || queuePairs ? [{ id: 'proxy', notices: proxy ? noticesOf(proxy) : null, learning }] : [],
    );
  }

  attachments(desired: Desired) {
    return proxyAttachments(desired);
  }

  /**
   * Connections with known Queue Pairs, one entry per direction. Reads the map lazily: a full table in one turn of the
   * event loop takes half a second.
   */
  *queuePairs(): Generator<LearnedQueuePair> {
    yield* this.learnedPairs();
    yield* this.#pairsIn(PROXY_MAPS.staticQueuePairs);
  }

  /** Only the Queue Pairs that were learned from the network and may be forgotten. */
  *learnedPairs(): Generator<LearnedQueuePair> {
    for (const map of LEARNED_MAPS) yield* this.#pairsIn(map);
  }

  /**
   * Interface indexes of ports where, since the last call, the program rejected packets of a source behind a next hop.
   */
  takeDoubtedPorts(): number[] {
    const map = this.object.map(PROXY_MAPS.doubtedPorts);
    const keys = [...map.keys()];
    for (const key of keys) map.delete(key);
    return keys.map(doubtedPort);
  }

  *#pairsIn(map: string): Generator<LearnedQueuePair> {
    for (const [key, value] of this.object.map(map).entries()) {
      const pair = decodeQueuePair(key, value);
      if (pair) yield pair;
    }
  }

  /** The current entry of a flow, if it was learned from the network. */
  learnedPair(flow: FlowName): LearnedQueuePair | undefined {
    const key = encodeFlowKey(flow);
    const value = LEARNED_MAPS.map((map) => this.object.map(map).lookup(key)).find((found) => found !== undefined);
    return value && decodeQueuePair(key, value);
  }

  /** Removes the learned entry of this flow. */
  forget(flow: FlowName): void {
    const pair = this.learnedPair(flow);
    const connected = this.object.map(PROXY_MAPS.connectedQueuePairs);
    const peer = pair && connected.lookup(ownerKey(pair));
    // The Queue Pair may have a new connection with another one by now.
    if (pair && peer && namesPeer(peer, pair)) connected.delete(ownerKey(pair));
    for (const map of LEARNED_MAPS) this.object.map(map).delete(encodeFlowKey(flow));
  }

  protected override programTables(): readonly string[] {
    return [...LEARNED_MAPS, PROXY_MAPS.staticQueuePairs, PROXY_MAPS.connectedQueuePairs, PROXY_MAPS.cmConnections];
  }

  override forgetUnknown(): void {
    super.forgetUnknown();
    this.#tenants.forgetUnknown();
  }
}

export function proxyAttachments({ proxy, queuePairs }: Desired): Attachment[] {
  const ports = new Map(
    [...(proxy?.interfaces ?? []), ...(queuePairs?.interfaces ?? [])].map((link) => [link.interface, link]),
  );
  // Notices of this router's own ports arrive at the loopback interface, after the builder that is attached there.
  return [...ports.values(), ...(proxy ? [LOOPBACK] : [])].map((link) => attachment(PROXY_PROGRAM, link, 'ingress'));
}

const SENDERS: TableCodec<Sender> = { kind: 'proxy-sender', key: (s) => prefixKey(s.prefix), value: encodeProxySender };
const SOURCES: TableCodec<Source> = {
  kind: 'proxy-source',
  key: (s) => prefixKey(s.prefix),
  value: (s) => encodeProxySource(s.prefix),
};
const LEARNED_SENDERS: TableCodec<LearnedSender> = {
  kind: 'learned-sender',
  key: (s) => prefixKey(s.prefix),
  value: (s) => encodeLearnedSender(s.prefix),
};
const PORT_ROLES: TableCodec<PortRolePlan> = { kind: 'port-role', key: portRoleKey, value: encodePortRole };

/** @param bucket token bucket of accepted notices */
const configurationValue =
  (bucket: Pick<BpfMap, 'update'>) =>
  ({ notices, learning: { ageingNs, reversePathCheck } }: Configuration, before?: Uint8Array): Uint8Array => {
    const learning = { ...DEFAULT_LEARNING_LIMITS, ageingNs, reversePathCheck };
    if (!notices) return encodeLearningConfig(learning);
    // A bucket filled at the old rate could stay empty for a whole token interval of that rate.
    if (before && decodeProxyConfig(before)?.noticesPerSecond !== notices.noticesPerSecond)
      bucket.update(PROXY_CONFIG_KEY, new Uint8Array(8));
    return encodeProxyConfig({ ...notices, learning });
  };

const noticesOf = ({
  address,
  otherAddress,
  udpPort,
  perFlowIntervalNs,
  noticesPerSecond,
  burst,
}: ProxyPlan): Configuration['notices'] => ({
  address,
  ...(otherAddress && { otherAddress }),
  udpPort,
  perFlowIntervalNs,
  noticesPerSecond,
  burst,
});

export const proxy: FeatureKind<Proxy> = {
  name: 'proxy',
  objectFile: 'proxy.bpf.o',
  scratchMaps: PROXY_SCRATCH_MAPS,
  desired: (state) => state.proxy !== undefined || state.queuePairs !== undefined,
  open: (object, dependencies) => new Proxy(object, dependencies),
};
