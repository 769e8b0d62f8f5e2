// The speaker in a recording: its configuration and events without keys and digests, and the speaker made of them
// again. Which PDUs are authentic, and LSPs as they were signed, are findings (auth.ts).
import { KeyNumbers, type Recorder, type Tape } from '../../model/recording.ts';
import { formatSystemId } from '../../packet/isis/lsp-id.ts';
import { maskPdu } from '../../packet/isis/masked.ts';
import type { Speaker, SpeakerConfig, SpeakerEvent, TunableConfig } from './state.ts';
import { createSpeaker } from './speaker.ts';

/** What is recorded: also what is shown of the carrier beside its machine. */
export type RecordedConfig = SpeakerConfig & { readonly interface: string };

export function beginTape(recorder: Recorder | undefined, now: number, config: RecordedConfig): Tape | undefined {
  const keys = new KeyNumbers();
  const tape = recorder?.begin('isis', now, withoutKeys(config, keys));
  return (
    tape && {
      event: (at, event) => tape.event(at, masked(event as SpeakerEvent, keys)),
      find: (make, shown) => tape.find(make, shown),
    }
  );
}

const SCOPES = ['interface', 'area', 'domain'] as const;

function withoutKeys<C extends TunableConfig>(config: C, numbers: KeyNumbers): C {
  const keys = Object.fromEntries(
    SCOPES.flatMap((scope) => {
      const key = config.keys[scope];
      return key ? [[scope, numbers.of(key)]] : [];
    }),
  );
  return { ...config, keys };
}

function masked(event: SpeakerEvent, keys: KeyNumbers): SpeakerEvent {
  if (event.type === 'received') return { type: 'received', pdu: maskPdu(event.pdu) };
  return event.type === 'configure' ? { ...event, config: withoutKeys(event.config, keys) } : event;
}

/** @throws Error for a configuration that beginTape did not write */
export const replayedSpeaker = (config: SpeakerConfig): Speaker =>
  createSpeaker(config, formatSystemId(config.systemId));
