// Both machines of the carrier in a recording: core and content, with their configuration and events, without keys and
// digests; and the core made of them again. Which packets are authentic is a finding (inbox.ts).
import { KeyNumbers, type Recorder, type Tape } from '../../model/recording.ts';
import type { AuthenticationKey } from '../../packet/ospf/digest.ts';
import { maskPacket } from '../../packet/ospf/masked.ts';
import type { ContentConfig, ContentEvent } from './content-state.ts';
import { createSpeaker } from './speaker.ts';
import type { Speaker, SpeakerConfig, SpeakerEvent } from './state.ts';
import { OSPFV2, OSPFV3 } from './version.ts';

const VERSIONS = { 2: OSPFV2, 3: OSPFV3 } as const;

/** What is recorded of a SpeakerConfig. */
export type RecordedConfig = Omit<SpeakerConfig, 'version' | 'findings'> & { readonly version: 2 | 3 };

export function beginTape(recorder: Recorder | undefined, now: number, config: SpeakerConfig): Tape | undefined {
  const numbers = new KeyNumbers();
  const { version } = config.version;
  const withoutSecrets = (keys: readonly AuthenticationKey[]): AuthenticationKey[] =>
    keys.map((key) => ({ ...key, secret: numbers.of(key.secret) }));
  const areas = config.areas.map((area) => ({ ...area, keys: withoutSecrets(area.keys) }));
  const tape = recorder?.begin(config.version.name, now, { ...config, version, areas } satisfies RecordedConfig);
  const masked = (event: SpeakerEvent): SpeakerEvent => {
    if (event.type === 'received') return { ...event, payload: maskPacket(version, event.payload) };
    return event.type === 'keys' ? { ...event, keys: withoutSecrets(event.keys) } : event;
  };
  return (
    tape && {
      event: (at, event) => tape.event(at, masked(event as SpeakerEvent)),
      find: (make, shown) => tape.find(make, shown),
    }
  );
}

/** What is recorded of the content: also what is shown of the carrier beside its machines. */
export interface RecordedContent extends ContentConfig {
  /** In the order of the areas. */
  readonly interfaces: readonly string[];
}

export function beginContentTape(
  recorder: Recorder | undefined,
  now: number,
  config: RecordedContent,
): Pick<Tape, 'event'> | undefined {
  const tape = recorder?.begin(`${config.name}-content`, now, config);
  return tape && { event: (at, event) => tape.event(at, shortened(event as ContentEvent)) };
}

/** Of an LSA the content reads the bytes alone. */
const shortened = (event: ContentEvent): ContentEvent =>
  event.type === 'database' && event.lsa ? { ...event, lsa: { raw: event.lsa.raw } } : event;

/** @throws Error for a configuration that beginTape did not write */
export const replayedSpeaker = (config: RecordedConfig & Pick<SpeakerConfig, 'findings'>): Speaker =>
  createSpeaker({ ...config, version: VERSIONS[config.version] });
