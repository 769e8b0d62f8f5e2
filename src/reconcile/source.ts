// The source in the kernel (LHCNP §5.6, FCNP §4): for which senders it takes notifications, from whom, how many, and
// the program at the ingress of its ports. Queue Pairs are the proxy's, which the objects share by their pins.
import type { BpfMap } from '../kernel/bpf/map.ts';
import type { BpfObject } from '../kernel/bpf/object.ts';
import { type RingBufferReader, openRingBuffer } from '../kernel/bpf/ring-buffer.ts';
import { prefixKey } from '../kernel/dataplane/layout.ts';
import {
  SOURCE_BUCKETS,
  SOURCE_CONFIG_SIZE,
  SOURCE_KEY,
  SOURCE_MAPS,
  SOURCE_PROGRAM,
  SOURCE_SCRATCH_MAPS,
  type SourceHolding,
  bucketOf,
  decodeSourceRecord,
  encodeSourceConfig,
  encodeSourceHolding,
  encodeSourceNode,
  encodeSourceSender,
} from '../kernel/dataplane/source.ts';
import type { Poller } from '../kernel/poller.ts';
import type { Count } from '../model/log.ts';
import type { SourceNotification } from '../model/source.ts';
import type { SourcePlan } from '../plan/source-plan.ts';
import { type Attachment, LOOPBACK, attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import type { TableCodec } from './map-table.ts';
import type { Reconciler } from './reconciler.ts';

type Sender = SourcePlan['senders'][number];
type Node = SourcePlan['acceptFrom'][number];
interface Configuration extends Omit<SourcePlan, 'senders' | 'acceptFrom' | 'interfaces'> {
  readonly id: 'source';
}
interface Desired {
  readonly source?: SourcePlan;
}

/** The machine of holds looks at each; its turns are to stay below a few milliseconds. */
const RECORDS_A_WAKE_UP = 128;

export class Source extends Feature {
  readonly #count: Count;
  readonly #readers = new Set<RingBufferReader>();
  readonly #configuration: Reconciler<Configuration>;
  readonly #senders: Reconciler<Sender>;
  readonly #nodes: Reconciler<Node>;

  constructor(object: BpfObject, dependencies: FeatureDependencies) {
    super(object, dependencies);
    this.#count = dependencies.count;
    this.#configuration = this.configuration({
      kind: 'source',
      map: object.map(SOURCE_MAPS.config),
      value: configurationValue(object.map(SOURCE_MAPS.bucket)),
      off: new Uint8Array(SOURCE_CONFIG_SIZE),
    });
    this.#senders = this.table(object.map(SOURCE_MAPS.senders), SENDERS);
    this.#nodes = this.table(object.map(SOURCE_MAPS.nodes), NODES);
    // What an earlier run could hold has ended with it.
    this.setHolding({ untilNs: 0n, room: false });
  }

  apply({ source }: Desired): void {
    this.#nodes.replace(source?.acceptFrom ?? []);
    this.#configuration.replace(source ? [configurationOf(source)] : []);
    this.#senders.replace(source?.senders ?? []);
  }

  /** What the agent can hold from now on, in place of hosts. @throws KernelError */
  setHolding(holding: SourceHolding): void {
    this.object.map(SOURCE_MAPS.holding).update(SOURCE_KEY, encodeSourceHolding(holding));
  }

  /** Calls the listener with each notification that the program has believed. The reader is closed with the feature. */
  onNotification(
    listener: (taken: SourceNotification) => void,
    { poller }: { readonly poller: Poller },
  ): RingBufferReader {
    const reader = openRingBuffer(this.object.map(SOURCE_MAPS.records), {
      poller,
      recordsAWakeUp: RECORDS_A_WAKE_UP,
      onRecord: (data, offset, length) => {
        let taken: SourceNotification;
        try {
          taken = decodeSourceRecord(data, offset, length);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          this.#count('source.record-refused');
          return;
        }
        listener(taken);
      },
    });
    this.#readers.add(reader);
    return reader;
  }

  override close(): void {
    for (const reader of this.#readers) reader.close();
    super.close();
  }

  attachments(desired: Desired) {
    return sourceAttachments(desired);
  }
}

/** Notifications of this router's own ports arrive at the loopback interface, after the builder that is there. */
export const sourceAttachments = ({ source }: Desired): Attachment[] =>
  source ? [...source.interfaces, LOOPBACK].map((link) => attachment(SOURCE_PROGRAM, link, 'ingress')) : [];

const configurationOf = ({ senders: _, acceptFrom: __, interfaces: ___, ...rest }: SourcePlan): Configuration => ({
  id: 'source',
  ...rest,
});

/** @param bucket token buckets of accepted notifications */
const configurationValue =
  (bucket: Pick<BpfMap, 'update'>) =>
  (configuration: Configuration, before?: Uint8Array): Uint8Array => {
    const value = encodeSourceConfig(configuration);
    // A bucket filled at the old rate could stay empty for a whole token interval of that rate.
    if (before && bucketOf(before) !== bucketOf(value))
      for (const key of SOURCE_BUCKETS) bucket.update(key, new Uint8Array(8));
    return value;
  };

const SENDERS: TableCodec<Sender> = {
  kind: 'source-sender',
  key: (s) => prefixKey(s.prefix),
  value: encodeSourceSender,
};
const NODES: TableCodec<Node> = {
  kind: 'source-node',
  key: (n) => prefixKey(n.prefix),
  value: (n) => encodeSourceNode(n.prefix),
};

export const source: FeatureKind<Source> = {
  name: 'source',
  objectFile: 'source.bpf.o',
  scratchMaps: SOURCE_SCRATCH_MAPS,
  desired: (state) => state.source !== undefined,
  open: (object, dependencies) => new Source(object, dependencies),
};
