// What cnpd asks gobgpd for, and what its answers about itself and its neighbors mean, by the schemas.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { prefix } from '../../../model/prefix.ts';
import { MARK_KIND, MARK_OWN } from '../domain-marks.ts';
import {
  CommunitiesAttributeSchema,
  GetBgpResponseSchema,
  LargeCommunitiesAttributeSchema,
  ListPeerRequestSchema,
  ListPeerResponseSchema,
  OriginAttributeSchema,
  PeerEventSchema,
  PeerEvent_Type,
  UnknownAttributeSchema,
  WatchEventResponseSchema,
} from './gen/gobgp/messages_pb.js';
import * as G3 from './gen/gobgp/v3_pb.js';
import * as G4 from './gen/gobgp/v4_pb.js';
import type { OwnPath } from './gobgp.ts';
import {
  LIST_PEER_BRIEFLY,
  LIST_PEER_REQUEST,
  decodeAbout,
  decodeEvent,
  decodeListed,
  decodePeer,
} from './messages.ts';
import { v3 } from './v3.ts';
import { v4 } from './v4.ts';

describe('changes', () => {
  test.each([
    ['best', [1]],
    ['all', [1, 3]],
  ] as const)('of %s are asked for, with the neighbors’; never what there is already', (learn, filters) => {
    const three = fromBinary(G3.WatchEventRequestSchema, v3.watchRequest(learn));
    const four = fromBinary(G4.WatchEventRequestSchema, v4.watchRequest(learn));
    expect(four.batchSize).toBe(100);
    expect(three.peer).toBeDefined();
    expect(four.peer).toBeDefined();
    expect(three.table!.filters.map(({ type }) => type)).toEqual(
      learn === 'best'
        ? [G3.WatchEventRequest_Filter_Type.BEST]
        : [G3.WatchEventRequest_Filter_Type.BEST, G3.WatchEventRequest_Filter_Type.POST_POLICY],
    );
    expect(four.table!.filters.map(({ type }) => type)).toEqual(filters);
    for (const request of [three, four]) expect(request.$unknown).toBeUndefined();
  });
});

describe('a list', () => {
  test.each([
    [4, { afi: 1, safi: 1 }],
    [6, { afi: 2, safi: 1 }],
  ] as const)('is of the global table of IPv%i unicast; of exactly the prefixes that are named', (family, afiSafi) => {
    const p = prefix(family === 4 ? '10.0.0.0/8' : '2001:db8::/32');
    const text = family === 4 ? '10.0.0.0/8' : '2001:db8::/32';
    const three = fromBinary(G3.ListPathRequestSchema, v3.listRequest(family, [p]));
    const four = fromBinary(G4.ListPathRequestSchema, v4.listRequest(family, [p]));
    expect({ tableType: three.tableType, enableOnlyBinary: three.enableOnlyBinary }).toEqual({
      tableType: G3.TableType.GLOBAL,
      enableOnlyBinary: true,
    });
    expect({ tableType: four.tableType, batchSize: four.batchSize }).toEqual({
      tableType: G4.TableType.GLOBAL,
      batchSize: 100n,
    });
    expect(three.prefixes).toMatchObject([{ prefix: text, type: G3.TableLookupPrefix_Type.EXACT }]);
    expect(four.prefixes).toMatchObject([{ prefix: text, type: G4.TableLookupPrefix_Type.EXACT }]);
    for (const request of [three, four]) expect(request.family).toMatchObject(afiSafi);
    expect(fromBinary(G4.ListPathRequestSchema, v4.listRequest(family, [])).prefixes).toEqual([]);
  });
});

const own: OwnPath = {
  prefix: prefix('2001:db8:1::/64'),
  nextHop: address('2001:db8::9'),
  nhc: Uint8Array.of(1, 2, 3),
  communities: [],
  largeCommunities: [],
};
interface Sent {
  readonly origin?: number;
  readonly communities?: readonly number[];
  readonly large?: readonly string[];
  readonly flags?: number;
}
const large = (
  communities: readonly {
    readonly globalAdmin: number;
    readonly localData1: number;
    readonly localData2: number;
  }[],
): string[] => communities.map((c) => `${c.globalAdmin}:${c.localData1}:${c.localData2}`);
/** What each path of a request says beside what path.test.ts reads back. */
const VERSIONS: Readonly<Record<string, (request: Uint8Array) => Sent[]>> = {
  v3: (request) =>
    fromBinary(G3.AddPathStreamRequestSchema, request).paths.map((bytes) => {
      const sent: { -readonly [K in keyof Sent]: Sent[K] } = {};
      for (const { typeUrl, value } of fromBinary(G3.PathSchema, bytes).pattrs) {
        if (typeUrl.endsWith('.OriginAttribute')) sent.origin = fromBinary(OriginAttributeSchema, value).origin;
        if (typeUrl.endsWith('.CommunitiesAttribute'))
          sent.communities = fromBinary(CommunitiesAttributeSchema, value).communities;
        if (typeUrl.endsWith('.LargeCommunitiesAttribute'))
          sent.large = large(fromBinary(LargeCommunitiesAttributeSchema, value).communities);
        if (typeUrl.endsWith('.UnknownAttribute')) sent.flags = fromBinary(UnknownAttributeSchema, value).flags;
      }
      return sent;
    }),
  v4: (request) =>
    fromBinary(G4.AddPathStreamRequestSchema, request).paths.map((bytes) => {
      const sent: { -readonly [K in keyof Sent]: Sent[K] } = {};
      for (const { attr } of fromBinary(G4.PathSchema, bytes).pattrs) {
        if (attr.case === 'origin') sent.origin = attr.value.origin;
        if (attr.case === 'communities') sent.communities = attr.value.communities;
        if (attr.case === 'largeCommunities') sent.large = large(attr.value.communities);
        if (attr.case === 'unknown') sent.flags = attr.value.flags;
      }
      return sent;
    }),
};

describe.each([
  ['v3', v3],
  ['v4', v4],
] as const)('own paths of %s', (name, api) => {
  const says = VERSIONS[name]!;
  const plain: Sent = { origin: 0, flags: 0xc0 };

  test('are of ORIGIN IGP, and have attribute 39 as an optional transitive one; without communities there are none', () =>
    expect(says(api.addRequest([own]))).toEqual([plain]));

  test('have the communities that they are given', () =>
    expect(
      says(api.addRequest([{ ...own, communities: [7, 0xffff_ff01], largeCommunities: [[65001, 2, 3]] }])),
    ).toEqual([{ ...plain, communities: [7, 0xffff_ff01], large: ['65001:2:3'] }]));

  test('have cnpd’s mark beside theirs, once', () => {
    const mark = [65001, MARK_KIND, MARK_OWN] as const;
    const marked = mark.join(':');
    expect(
      says(
        api.addRequest(
          [
            own,
            { ...own, largeCommunities: [[1, 2, 3]] },
            { ...own, largeCommunities: [[...mark], [1, 2, 3]] },
            { ...own, largeCommunities: [[1, 2, 3], [...mark]] },
          ],
          undefined,
          mark,
        ),
      ).map(({ large: some }) => some),
    ).toEqual([[marked], ['1:2:3', marked], [marked, '1:2:3'], ['1:2:3', marked]]);
    expect(says(api.addRequest([own]))).toEqual([plain]);
  });

  test('one after the other say each its own, however much they share', () => {
    const paths: OwnPath[] = [
      own,
      { ...own, communities: [7] },
      { ...own, communities: [7, 8] },
      { ...own, communities: [8, 7] },
      { ...own, communities: [8, 7], largeCommunities: [[1, 2, 3]] },
      { ...own, communities: [8, 7], largeCommunities: [[1, 2, 4]] },
      { ...own, communities: [8, 7], largeCommunities: [[1, 2, 4]] },
      own,
    ];
    expect(
      says(api.addRequest(paths)).map(({ communities = [], large: some = [] }) => [...communities, ...some]),
    ).toEqual([[], [7], [7, 8], [8, 7], [8, 7, '1:2:3'], [8, 7, '1:2:4'], [8, 7, '1:2:4'], []]);
  });

  test('can have another identifier, as a path that gobgpd is tried with has', () => {
    const paths = (request: Uint8Array) =>
      fromBinary(G3.AddPathStreamRequestSchema, request).paths.map((bytes) => api.decodePath(bytes));
    const four: OwnPath = { ...own, prefix: prefix('10.0.0.0/8'), nextHop: address('192.0.2.9') };
    const requestOf = (identifier: number) =>
      [own, four].map((one) => ({
        value: { identifier, prefix: one.prefix, path: { identifier, nextHop: one.nextHop } },
      }));
    expect(paths(api.addRequest([own, four], 300))).toMatchObject(requestOf(300));
    expect(paths(api.addRequest([own, four]))).toMatchObject(requestOf(0x636e_7064));
  });

  test('of many octets are framed as they should be', () => {
    for (const size of [100, 127, 128, 200, 16_300, 16_384, 40_000]) {
      const nhc = new Uint8Array(size).fill(7);
      const [bytes] = fromBinary(G3.AddPathStreamRequestSchema, api.addRequest([{ ...own, nhc }])).paths;
      expect(api.decodePath(bytes!)).toMatchObject({ ok: true, value: { path: { nhc: { length: size } } } });
    }
  });
});

describe('what gobgpd is', () => {
  const about = (global: object): Uint8Array =>
    toBinary(GetBgpResponseSchema, create(GetBgpResponseSchema, { global }));
  test('its AS, router ID, and whether it uses several paths; 0 where BGP is not started', () => {
    expect(decodeAbout(about({ asn: 65_001, routerId: '192.0.2.1', useMultiplePaths: true }))).toEqual({
      as: 65_001,
      routerId: '192.0.2.1',
      multipath: true,
    });
    expect(decodeAbout(new Uint8Array(0))).toEqual({ as: 0, routerId: '', multipath: false });
  });
});

describe('a neighbor', () => {
  const peer = (sent: object | undefined): Uint8Array =>
    toBinary(ListPeerResponseSchema, create(ListPeerResponseSchema, sent ? { peer: sent } : {}));
  test('is asked about with what it was sent, or briefly', () =>
    expect(
      [LIST_PEER_REQUEST, LIST_PEER_BRIEFLY].map((bytes) => fromBinary(ListPeerRequestSchema, bytes).enableAdvertised),
    ).toEqual([true, false]));

  test('its address and AS are those of its session, else those that are configured', () => {
    const conf = { neighborAddress: '192.0.2.8', peerAsn: 8 };
    const state = { neighborAddress: '192.0.2.7', peerAsn: 7, sessionState: 6 };
    expect(decodePeer(peer({ conf, state }))).toMatchObject({ address: '192.0.2.7', as: 7, state: 'established' });
    expect(decodePeer(peer({ conf }))).toMatchObject({ address: '192.0.2.8', as: 8, state: 'unknown' });
    expect(decodePeer(peer({ conf, state: { sessionState: 1 } }))).toMatchObject({
      address: '192.0.2.8',
      as: 8,
      state: 'idle',
    });
    expect(decodePeer(peer({}))).toMatchObject({ address: '', as: 0, state: 'unknown', families: [] });
    expect(decodePeer(peer({ state: { sessionState: 99 } }))).toMatchObject({ state: 'unknown' });
    expect(decodePeer(peer(undefined))).toBeUndefined();
  });

  test('has the families that are in use, by name where they have one, and the sum of their paths', () => {
    const state = (afi: number, safi: number, received: bigint, advertised: bigint, enabled = true) => ({
      state: { family: { afi, safi }, enabled, received, advertised },
    });
    expect(
      decodePeer(
        peer({
          afiSafis: [
            state(1, 1, 1n, 10n),
            state(25, 70, 2n, 20n),
            state(2, 1, 4n, 40n, false),
            state(9, 9, 8n, 80n),
            {},
          ],
        }),
      ),
    ).toMatchObject({ families: ['ipv4-unicast', 'l2vpn-evpn', '9/9'], received: 11, advertised: 110 });
    expect(decodePeer(peer({ afiSafis: [{ state: { enabled: true } }] }))).toMatchObject({ families: ['0/0'] });
  });

  test('news of it are no paths; the last of those that there were means that changes will come from now on', () => {
    const event = (type: PeerEvent_Type): Uint8Array =>
      toBinary(
        WatchEventResponseSchema,
        create(WatchEventResponseSchema, { event: { case: 'peer', value: { type } } }),
      );
    expect(decodeEvent(event(PeerEvent_Type.END_OF_INIT))).toEqual({ type: 'watching' });
    expect(decodeEvent(event(PeerEvent_Type.STATE))).toEqual({ type: 'peer' });
  });

  test('news of it are read by what they have in common with cnpd’s schemas', () => {
    const { number } = WatchEventResponseSchema.field.peer;
    const type = PeerEventSchema.field.type.number;
    // Field 31, a string and a number, on both sides of the type.
    const inner = [0xfa, 1, 1, 0x78, type << 3, PeerEvent_Type.END_OF_INIT, 0xf8, 1, 9];
    expect(decodeEvent(Uint8Array.of((number << 3) | 2, inner.length, ...inner))).toEqual({ type: 'watching' });
    expect(decodeListed(new Uint8Array(0))).toEqual([]);
  });
});
