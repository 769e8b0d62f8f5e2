// The carriers' part of the schema (schema.ts): what OSPF and BGP show.
import type { BgpState, OspfState } from '../model/carrier-state.ts';
import { STRING, BOOLEAN, UINT32, TIME, ADDRESS, PREFIX, type ContainerShape, leaf, leafList } from './shape.ts';

/** Of both versions (`grouping ospf` in the YANG file). */
export const OSPF: ContainerShape<OspfState> = {
  kind: 'container',
  fields: {
    neighbors: {
      kind: 'list',
      keys: ['area'],
      fields: {
        area: STRING,
        interface: STRING,
        state: leaf(['down', 'init', 'ex-start', 'exchange', 'loading', 'full']),
        routerId: STRING,
        deadTimeRemaining: UINT32,
        mtu: leaf('uint16'),
        takesOpaque: BOOLEAN,
        unacknowledged: UINT32,
        databaseFull: BOOLEAN,
        routerIdContested: BOOLEAN,
        notFullSince: TIME,
        since: TIME,
        reason: STRING,
      },
    },
    database: {
      kind: 'list',
      keys: ['area', 'type', 'lsId', 'router'],
      fields: {
        area: STRING,
        type: STRING,
        lsId: STRING,
        router: STRING,
        sequence: STRING,
        age: leaf('uint16'),
        checksum: STRING,
        length: leaf('uint16'),
        own: BOOLEAN,
        reachable: BOOLEAN,
        proxyPrefixes: UINT32,
      },
    },
  },
};

export const BGP: ContainerShape<BgpState> = {
  kind: 'container',
  fields: {
    session: {
      kind: 'list',
      keys: ['target'],
      fields: {
        target: STRING,
        state: leaf(['connecting', 'loading', 'ready', 'waiting']),
        api: leaf(['v3', 'v4']),
        as: UINT32,
        routerId: STRING,
        since: TIME,
        reason: STRING,
        originated: UINT32,
        wanted: UINT32,
        dropped: UINT32,
        noTable: leafList('string'),
        refusal: STRING,
        silent: UINT32,
        policy: leaf(['off', 'pending', 'installed', 'failed']),
        policyReason: STRING,
        neighbors: UINT32,
        learned: UINT32,
        withProxy: UINT32,
      },
    },
    peers: {
      kind: 'list',
      keys: ['address'],
      fields: {
        address: STRING,
        as: UINT32,
        state: leaf(['idle', 'connect', 'active', 'opensent', 'openconfirm', 'established', 'unknown']),
        families: leafList('string'),
        received: UINT32,
        advertised: UINT32,
        inDomain: BOOLEAN,
      },
    },
    paths: {
      kind: 'list',
      keys: ['prefix', 'peer', 'nextHop'],
      fields: {
        prefix: PREFIX,
        peer: STRING,
        nextHop: ADDRESS,
        headerNextHop: ADDRESS,
        proxy: ADDRESS,
        asPath: STRING,
        best: BOOLEAN,
        status: leaf([
          'originated',
          'used',
          'next-hop-mismatch',
          'family-mismatch',
          'outside-domain',
          'first-as-mismatch',
          'malformed',
          'no-characteristic',
          'no-proxy-address',
          'no-senders',
        ]),
        sids: leafList('ip-address'),
        unknown: leafList('uint16'),
        since: TIME,
      },
    },
  },
};
