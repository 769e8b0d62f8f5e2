// What the operator's file must be like for a change of the configuration.
import type { ChangeTerms } from '../model/config-change.ts';
import type { ChangeRefusal } from '../model/group-change.ts';
import type { Config, IntentFile } from './intent-file.ts';

/** What somebody has written into the file must not be lost, nor come into force unconfirmed at a restart. */
export function fileRefusal(
  file: Pick<IntentFile, 'path' | 'loaded' | 'seen' | 'now'>,
  { text }: Pick<Config, 'text'>,
  { confirmMs, isTemporary }: ChangeTerms,
): ChangeRefusal | undefined {
  const now = file.now();
  const refuse = (error: string): ChangeRefusal => ({ code: 'conflict', errors: [`${file.path} ${error}`] });
  if (confirmMs !== undefined && now !== file.loaded)
    return refuse(
      'is not as cnpd has loaded it, so a restart would not take this configuration back: ' +
        'reload it, or restore it, and apply from another file',
    );
  const isKnown = now === undefined || now === text || now === file.seen;
  if (confirmMs !== undefined || isTemporary || isKnown) return undefined;
  return refuse('has changed since cnpd has read it: reload it, or move it away');
}
