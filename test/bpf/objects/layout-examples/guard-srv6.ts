// The layouts of the border guard and of the SRv6 programs (example.ts).
import { prefix } from '../../../../src/model/prefix.ts';
import { A, A_HEX, type Example, u32 } from './example.ts';

const GUARD_PORT = {
  ...{ udpPort: 0x1234, arnUdpPort: 0x5678 },
  ...{ fastCnpOption: 0x9e, fastCnpIoamOption: 0x9d, longHaulIcmpv6Type: 200 },
};

export const GUARD: readonly Example[] = [
  {
    valuesOf: ['guard_ports'],
    fields: {
      udp_port: 0x1234,
      arn_udp_port: 0x5678,
      fast_cnp_option: 0x9e,
      fast_cnp_ioam_option: 0x9d,
      long_haul_icmpv6_type: 200,
      long_haul_roce: 1,
    },
    written: (ts) => [ts.encodeGuardPort(GUARD_PORT)],
    size: (ts) => ts.GUARD_PORT_SIZE,
    read: (ts, bytes) => ts.decodeGuardPort(bytes),
    is: GUARD_PORT,
    unread: ['long_haul_roce'],
  },
  {
    valuesOf: ['guard_allow_inbound', 'guard_allow_outbound'],
    fields: 6,
    narrow: [''],
    written: (ts) => [ts.encodeAllowed(prefix('::/0'))],
  },
  { valuesOf: ['guard_end_con_sids'], fields: 1, written: (ts) => [ts.GUARDED_VALUE] },
];

const SRV6_CONFIG = {
  defaultSource: A,
  hasRows: true,
  ecnMode: 'compatibility',
  dscp: { kind: 'pipe', outerDscp: 46 },
  sharedIngress: true,
} as const;
const SID = { families: [4, 6], endCon: true, decapsulate: true, ownRoute: true, table: u32(1) } as const;

export const SRV6: readonly Example[] = [
  {
    valuesOf: ['srv6_config'],
    fields: {
      default_source: A_HEX,
      has_default: 1,
      has_rows: 1,
      compatibility: 1,
      uniform: 0,
      outer_dscp: 46,
      shared_ingress: 1,
    },
    written: (ts) => [ts.encodeSrv6Config(SRV6_CONFIG)],
    size: (ts) => ts.SRV6_CONFIG_SIZE,
    read: (ts, bytes) => ts.decodeSrv6Config(bytes),
    is: SRV6_CONFIG,
  },
  {
    valuesOf: ['srv6_config'],
    fields: {
      default_source: '00'.repeat(16),
      has_default: 0,
      has_rows: 0,
      compatibility: 0,
      uniform: 1,
      outer_dscp: 0xff,
      shared_ingress: 0,
    },
    narrow: ['default_source'],
    written: (ts) => [
      ts.encodeSrv6Config({
        defaultSource: null,
        hasRows: false,
        ecnMode: 'normal',
        dscp: { kind: 'uniform' },
        sharedIngress: false,
      }),
    ],
  },
  { valuesOf: ['srv6_local_sources'], fields: 1, written: (ts) => [ts.FLAG] },
  {
    valuesOf: ['srv6_sids'],
    fields: { families: 3, end_con: 1, decapsulate: 1, own_route: 1, table: u32(1) },
    written: (ts) => [ts.encodeSid(SID)],
    size: (ts) => ts.SID_SIZE,
    read: (ts, bytes) => ts.decodeSid(bytes),
    is: SID,
  },
];
