// The proxy's share of the kernel: whose notices it takes, for which senders, how fast (PNC §4, §6), and the program at the ingress of its ports. What it
// has learned about Queue Pairs is the program's own state: it is read here, and swept.
import type { BpfObject } from '../kernel/bpf/object.ts';
import { prefixKey } from '../kernel/dataplane/layout.ts';
import {
  DEFAULT_LEARNING_LIMITS, PROXY_CONFIG_KEY, PROXY_CONFIG_SIZE, PROXY_MAPS, PROXY_PROGRAM, PROXY_SCRATCH_MAPS, decodeProxyConfig, encodeProxyConfig, encodeProxySender,
  encodeProxySource,
} from '../kernel/dataplane/proxy.ts';
import { type FlowName, type LearnedQueuePair, decodeQueuePair, encodeFlowKey } from '../kernel/dataplane/queue-pairs.ts';
import type { ProxyPlan } from '../plan/desired.ts';
import { LOOPBACK, attachment } from './attachments.ts';
import { type Feature, type FeatureKind, type FeatureModules, configurationOperations, reconciledTable } from './feature.ts';
import type { ObjectStatus } from './operations.ts';
import { Reconciler } from './reconciler.ts';

type Sender = ProxyPlan['senders'][number];
type Source = ProxyPlan['acceptFrom'][number];
type Configuration = Omit<ProxyPlan, 'senders' | 'acceptFrom' | 'interfaces'> & { readonly id: 'proxy' };

export class Proxy implements Feature {
  readonly object: BpfObject;
  readonly #configuration: Reconciler<Configuration>;
  readonly #senders: Reconciler<Sender>;
  readonly #sources: Reconciler<Source>;

  constructor(object: BpfObject, modules: FeatureModules) {
    this.object = object;
    const map = (name: 'config' | 'senders' | 'sources' | 'bucket') => object.map(PROXY_MAPS[name]);
    const value = (c: Configuration, before: Uint8Array | undefined): Uint8Array => {
      // A bucket at the old rate could be closed for as long as a token of that rate takes.
      if (before && decodeProxyConfig(before)?.noticesPerSecond !== c.noticesPerSecond) map('bucket').update(PROXY_CONFIG_KEY, new Uint8Array(8));
      return encodeProxyConfig({ ...c, learning: DEFAULT_LEARNING_LIMITS });
    };
    const off = new Uint8Array(PROXY_CONFIG_SIZE);
    this.#configuration = new Reconciler(configurationOperations({ kind: 'proxy', map: map('config'), value, off }), modules);
    this.#senders = reconciledTable<Sender>(map('senders'), { kind: 'proxy-sender', key: (s) => prefixKey(s.prefix), value: encodeProxySender }, modules);
    this.#sources = reconciledTable<Source>(map('sources'), { kind: 'proxy-source', key: (s) => prefixKey(s.prefix), value: (s) => encodeProxySource(s.prefix) }, modules);
  }

  apply({ proxy }: { readonly proxy?: ProxyPlan }): void {
    this.#sources.replace(proxy?.acceptFrom ?? []);
    this.#senders.replace(proxy?.senders ?? []);
    if (!proxy) return this.#configuration.replace([]);
    const { address, udpPort, perFlowIntervalNs, noticesPerSecond, burst } = proxy;
    this.#configuration.replace([{ id: 'proxy', address, udpPort, perFlowIntervalNs, noticesPerSecond, burst }]);
  }

  attachments({ proxy }: { readonly proxy?: ProxyPlan }) {
    if (!proxy) return [];
    // Notices of this router's own ports come back on the loopback interface, behind the builder that is attached there.
    return [...proxy.interfaces, LOOPBACK].map((link) => attachment(PROXY_PROGRAM, link, 'ingress'));
  }

  /** Connections whose Queue Pairs are known, one entry a direction. Read as it is asked for: a full table in one turn of the event loop takes half a second. */
  *queuePairs(): Generator<LearnedQueuePair> {
    yield* this.learnedPairs();
    yield* this.#pairsIn(PROXY_MAPS.staticQueuePairs);
  }

  /** Of these, what was learned from the network and may be forgotten. */
  learnedPairs(): Generator<LearnedQueuePair> {
    return this.#pairsIn(PROXY_MAPS.queuePairs);
  }

  *#pairsIn(map: string): Generator<LearnedQueuePair> {
    for (const [key, value] of this.object.map(map).entries()) {
      const pair = decodeQueuePair(key, value);
      if (pair) yield pair;
    }
  }

  /** What is known of a flow at this moment, learned from the network. */
  learnedPair(flow: FlowName): LearnedQueuePair | undefined {
    const key = encodeFlowKey(flow);
    const value = this.object.map(PROXY_MAPS.queuePairs).lookup(key);
    return value && decodeQueuePair(key, value);
  }

  /** Removes what was learned about this flow. */
  forget(flow: FlowName): void {
    this.object.map(PROXY_MAPS.queuePairs).delete(encodeFlowKey(flow));
  }

  status(): ObjectStatus[] {
    return [this.#configuration, this.#senders, this.#sources].flatMap((r) => r.status().filter((s) => s.state !== 'done'));
  }

  fullPass(): void {
    for (const reconciler of [this.#configuration, this.#senders, this.#sources]) reconciler.fullPass();
  }

  close(): void {
    for (const reconciler of [this.#configuration, this.#senders, this.#sources]) reconciler.close();
    this.object.close();
  }
}

export const proxy: FeatureKind<Proxy> = {
  name: 'proxy',
  objectFile: 'proxy.bpf.o',
  scratchMaps: PROXY_SCRATCH_MAPS,
  wanted: (desired) => desired.proxy !== undefined,
  open: (object, modules) => new Proxy(object, modules),
};
