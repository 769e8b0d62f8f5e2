// BTH opcodes and the extended transport headers that follow each (InfiniBand vol. 1 §9.2, §9.3). RC is 0x00, UC 0x20,
// UD 0x60, XRC 0xA0 plus the operation.

export type ExtendedHeader = 'xrceth' | 'deth' | 'reth' | 'atomic' | 'aeth' | 'atomic-ack' | 'immediate' | 'ieth';

/** Bytes on the wire. */
export const EXTENDED_HEADER_LENGTH: Readonly<Record<ExtendedHeader, number>> = {
  xrceth: 4,
  deth: 8,
  reth: 16,
  atomic: 28,
  aeth: 4,
  'atomic-ack': 8,
  immediate: 4,
  ieth: 4,
};

interface Opcode {
  readonly code: number;
  readonly name: string;
  /** In wire order. */
  readonly headers: readonly ExtendedHeader[];
}

export const OPCODE = {
  sendFirst: 0x00,
  sendMiddle: 0x01,
  sendLast: 0x02,
  sendOnly: 0x04,
  writeFirst: 0x06,
  writeMiddle: 0x07,
  writeLast: 0x08,
  writeOnly: 0x0a,
  readRequest: 0x0c,
  readResponseFirst: 0x0d,
  readResponseMiddle: 0x0e,
  readResponseLast: 0x0f,
  readResponseOnly: 0x10,
  acknowledge: 0x11,
  udSendOnly: 0x64,
  cnp: 0x81,
} as const;

type Operation = readonly [operation: number, name: string, ...headers: ExtendedHeader[]];

const SEND_AND_WRITE: readonly Operation[] = [
  [0x00, 'SEND_FIRST'],
  [0x01, 'SEND_MIDDLE'],
  [0x02, 'SEND_LAST'],
  [0x03, 'SEND_LAST_IMMEDIATE', 'immediate'],
  [0x04, 'SEND_ONLY'],
  [0x05, 'SEND_ONLY_IMMEDIATE', 'immediate'],
  [0x06, 'RDMA_WRITE_FIRST', 'reth'],
  [0x07, 'RDMA_WRITE_MIDDLE'],
  [0x08, 'RDMA_WRITE_LAST'],
  [0x09, 'RDMA_WRITE_LAST_IMMEDIATE', 'immediate'],
  [0x0a, 'RDMA_WRITE_ONLY', 'reth'],
  [0x0b, 'RDMA_WRITE_ONLY_IMMEDIATE', 'reth', 'immediate'],
];

const READ_ATOMIC_ACK: readonly Operation[] = [
  [0x0c, 'RDMA_READ_REQUEST', 'reth'],
  [0x0d, 'RDMA_READ_RESPONSE_FIRST', 'aeth'],
  [0x0e, 'RDMA_READ_RESPONSE_MIDDLE'],
  [0x0f, 'RDMA_READ_RESPONSE_LAST', 'aeth'],
  [0x10, 'RDMA_READ_RESPONSE_ONLY', 'aeth'],
  [0x11, 'ACKNOWLEDGE', 'aeth'],
  [0x12, 'ATOMIC_ACKNOWLEDGE', 'aeth', 'atomic-ack'],
  [0x13, 'COMPARE_SWAP', 'atomic'],
  [0x14, 'FETCH_ADD', 'atomic'],
  [0x16, 'SEND_LAST_INVALIDATE', 'ieth'],
  [0x17, 'SEND_ONLY_INVALIDATE', 'ieth'],
];

/** In XRC the requests name the shared receive queue first; responses do not. */
const isResponse = (operation: number): boolean => operation >= 0x0d && operation <= 0x12;

function service(prefix: string, base: number, operations: readonly Operation[], first?: ExtendedHeader): Opcode[] {
  return operations.map(([operation, name, ...headers]) => ({
    code: base + operation,
    name: `${prefix}_${name}`,
    headers: first && !isResponse(operation) ? [first, ...headers] : headers,
  }));
}

export const OPCODES: ReadonlyMap<number, Opcode> = new Map(
  [
    ...service('RC', 0x00, [...SEND_AND_WRITE, ...READ_ATOMIC_ACK]),
    ...service('UC', 0x20, SEND_AND_WRITE),
    ...service(
      'UD',
      0x60,
      SEND_AND_WRITE.filter(([operation]) => operation === 0x04 || operation === 0x05),
      'deth',
    ),
    ...service('XRC', 0xa0, [...SEND_AND_WRITE, ...READ_ATOMIC_ACK], 'xrceth'),
    { code: OPCODE.cnp, name: 'CNP', headers: [] },
  ].map((opcode) => [opcode.code, opcode]),
);
