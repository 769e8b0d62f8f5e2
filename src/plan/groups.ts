// End.MT groups: their members are advertised (origination.ts). Nothing replicates their packets yet, so their SIDs are
// not advertised either: packets to them would be lost.
import type { Intent } from '../intent/intent.ts';
import type { DesiredState } from './desired.ts';

export const planGroups = ({ groups }: Pick<Intent, 'groups'>): Pick<DesiredState, 'problems'> => ({
  problems:
    groups === undefined || groups.length === 0
      ? []
      : [
          {
            code: 'groups.not-replicated',
            feature: 'groups',
            problem: 'members of groups are advertised, but this version of cnpd makes no copies of their packets',
            remedy:
              'use the groups to see what the network knows of them (`cnpctl show groups`), or remove the section',
          },
        ],
});
