// OSPF packets and LSA headers as values, with the same types for both versions (RFC 2328 §A.3; RFC 5340 §A.3). A field
// that a version does not have is 0 and not on the wire. Bodies of LSAs are in lsa/types.ts. Router IDs, area IDs and
// link-state IDs are unsigned 32-bit numbers.

/** Identifies an LSA; its instances differ in their sequence number. */
export interface LsaKey {
  /** OSPFv2: 8 bits. OSPFv3: 16 bits, with U-bit and scope. */
  readonly type: number;
  readonly lsId: number;
  readonly advertisingRouter: number;
}

/** Header and body as bytes. */
export interface RawLsa extends LsaKey {
  readonly raw: Uint8Array;
}

export interface LsaHeader extends LsaKey {
  /** Seconds, 16 bits, as on the wire. */
  readonly age: number;
  /** OSPFv2 only. */
  readonly options: number;
  /** Signed. */
  readonly sequence: number;
  readonly checksum: number;
  /** Bytes, header included. */
  readonly length: number;
}

/** A whole LSA with a verified checksum. */
export interface Lsa extends LsaHeader {
  /** `length` bytes, a view of the packet. Copy it before keeping or aging it. */
  readonly raw: Uint8Array;
}

interface PacketHeader {
  readonly routerId: number;
  readonly areaId: number;
  /** OSPFv3 only. */
  readonly instanceId: number;
}

export interface Hello extends PacketHeader {
  readonly kind: 'hello';
  /** OSPFv2 only; ignored on point-to-point links. */
  readonly networkMask: number;
  /** OSPFv3 only. */
  readonly interfaceId: number;
  /** 8 bits in OSPFv2, 24 in OSPFv3. */
  readonly options: number;
  /** Seconds. */
  readonly helloInterval: number;
  readonly priority: number;
  /** Seconds: 32 bits in OSPFv2, 16 in OSPFv3. */
  readonly deadInterval: number;
  readonly designatedRouter: number;
  readonly backupDesignatedRouter: number;
  /** Router IDs of the routers that hellos were received from recently. */
  readonly neighbors: readonly number[];
}

export interface DatabaseDescription extends PacketHeader {
  readonly kind: 'database-description';
  /** Bytes of the largest IP datagram. */
  readonly mtu: number;
  readonly options: number;
  /** The flags I, M and MS. */
  readonly initialize: boolean;
  readonly more: boolean;
  readonly master: boolean;
  /** Unsigned 32 bits. */
  readonly sequence: number;
  readonly headers: readonly LsaHeader[];
}

export interface LinkStateRequest extends PacketHeader {
  readonly kind: 'link-state-request';
  readonly requests: readonly LsaKey[];
}

export interface LinkStateUpdate extends PacketHeader {
  readonly kind: 'link-state-update';
  readonly lsas: readonly Lsa[];
}

export interface LinkStateAcknowledgment extends PacketHeader {
  readonly kind: 'link-state-acknowledgment';
  readonly headers: readonly LsaHeader[];
}

export type OspfPacket = Hello | DatabaseDescription | LinkStateRequest | LinkStateUpdate | LinkStateAcknowledgment;
