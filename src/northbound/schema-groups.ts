// The groups' part of yang/cnpd.yang as data.
import type { GroupsState } from '../model/group-state.ts';
import { ADDRESS, BOOLEAN, type ContainerShape, STRING, TIME, UINT32, UINT64, leaf, leafList } from './shape.ts';

const ROLE = leaf(['source', 'receiver']);

export const GROUPS: ContainerShape<GroupsState> = {
  kind: 'container',
  fields: {
    group: {
      kind: 'list',
      keys: ['proxyAddress'],
      fields: {
        proxyAddress: ADDRESS,
        name: STRING,
        designatedQpn: UINT32,
        roles: leafList('string'),
        source: ADDRESS,
        receivers: UINT32,
        edges: UINT32,
        tree: leaf(['shortest-paths', 'flat']),
        epoch: UINT32,
        status: STRING,
        member: {
          kind: 'list',
          keys: ['role', 'address'],
          fields: {
            role: ROLE,
            address: ADDRESS,
            qpn: UINT32,
            startPsn: UINT32,
            edge: ADDRESS,
            psnDelta: UINT32,
            vaDelta: STRING,
            rKey: UINT32,
            persistent: BOOLEAN,
            origin: leaf(['file', 'run-time']),
            status: STRING,
          },
        },
      },
    },
    members: {
      kind: 'list',
      keys: ['group', 'role', 'address', 'carrier', 'originator'],
      fields: {
        group: ADDRESS,
        role: ROLE,
        address: ADDRESS,
        carrier: STRING,
        originator: STRING,
        name: STRING,
        qpn: UINT32,
        node: ADDRESS,
        psnDelta: UINT32,
        vaDelta: STRING,
        rKey: UINT32,
        status: STRING,
      },
    },
    branches: {
      kind: 'list',
      keys: ['group', 'role', 'branch'],
      fields: {
        group: ADDRESS,
        role: leaf(['branching', 'edge']),
        branch: STRING,
        kind: leaf(['local', 'child', 'receiver']),
        qpn: UINT32,
        nextPsn: UINT32,
        lag: UINT32,
        nakPsn: UINT32,
        nakSyndrome: leaf('uint8'),
        cnps: UINT64,
        copies: UINT64,
        lastHeard: TIME,
        stalledMs: UINT64,
        status: STRING,
      },
    },
    tree: {
      kind: 'list',
      keys: ['group', 'node'],
      fields: {
        group: ADDRESS,
        node: ADDRESS,
        parent: ADDRESS,
        kind: leaf(['root', 'branching', 'edge']),
        router: STRING,
        hostname: STRING,
        receivers: leafList('ip-address'),
      },
    },
  },
};
