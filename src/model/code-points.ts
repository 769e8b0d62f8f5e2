// Every code point that the drafts leave unassigned, with cnpd's default and its reason. Each can be overridden under `code-points:` in
// cnpd.yaml and is shown by `cnpctl show codepoints`. Defaults are from the experimental ranges that RFC 4727 and others reserve.

export interface CodePoint {
  readonly name: CodePointName;
  readonly description: string;
  readonly default: number;
  readonly min: number;
  readonly max: number;
  /** Where the default comes from and why it is safe. */
  readonly source: string;
}

export type CodePointName = 'pnc-udp-port' | 'isis-pnc-flag-bit';

export const CODE_POINTS: readonly CodePoint[] = [
  {
    name: 'pnc-udp-port',
    description: 'UDP destination port of the Congestion Notification to Proxy message',
    default: 1021,
    min: 1,
    max: 65535,
    source: 'PNC §4 and §7 TBD1; 1021 is exp1 of RFC 4727',
  },
  {
    name: 'isis-pnc-flag-bit',
    description: 'bit of the IS-IS Prefix Attribute Flags sub-TLV that is the P-flag, bit 0 being the most significant',
    default: 7,
    min: 0,
    max: 63,
    source: 'PNC §5.1, suggested value',
  },
];

export type CodePointValues = Readonly<Record<CodePointName, number>>;

export const DEFAULT_CODE_POINTS: CodePointValues = Object.fromEntries(CODE_POINTS.map((c) => [c.name, c.default])) as CodePointValues;
