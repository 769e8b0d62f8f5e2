// Which programs a desired state puts at which hooks, whether its features are open or not: for what a change of the
// configuration would do.
import type { DesiredState } from '../plan/desired.ts';
import type { Attachment } from './attachments.ts';
import { guardAttachments } from './border-guard.ts';
import { congestedNodeAttachments } from './congested-node.ts';
import { holdAttachments } from './hold.ts';
import { plannedMulticastAttachments } from './multicast.ts';
import { proxyAttachments } from './proxy.ts';
import { sourceAttachments } from './source.ts';
import { srv6Attachments } from './srv6.ts';

const BY_FEATURE: readonly ((desired: DesiredState) => readonly Attachment[])[] = [
  congestedNodeAttachments,
  proxyAttachments,
  sourceAttachments,
  holdAttachments,
  guardAttachments,
  srv6Attachments,
  plannedMulticastAttachments,
];

export const plannedAttachments = (desired: DesiredState): Attachment[] =>
  BY_FEATURE.flatMap((attachments) => attachments(desired));
