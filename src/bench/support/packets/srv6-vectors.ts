// The sixteen cases of RFC 6040 figure 4 (FCN figure 6) for a tunnel exit: the congestion field inside and outside, and
// what has to leave.

/** Congestion fields are numbers as in the header: Not-ECT 0, ECT(1) 1, ECT(0) 2, CE 3. */
const FIELDS = [0, 1, 2, 3] as const;
/** By inner, then by outer field; null: dropped. */
const LEAVES: readonly (readonly (number | null)[])[] = [
  [0, 0, 0, null],
  [1, 1, 1, 3],
  [2, 1, 2, 3],
  [3, 3, 3, 3],
];
export const VECTORS = FIELDS.length ** 2;

/** Sets the congestion field of an IPv6 header that begins at `at`. */
export function setCongestionField(packet: Uint8Array, at: number, field: number): void {
  packet[at + 1] = (packet[at + 1]! & 0xcf) | (field << 4);
}

/** @param receive lets one packet pass the tunnel exit. Returns the field it left with, or null. */
export function vectorsMet(receive: (inner: number, outer: number) => number | null): number {
  return FIELDS.flatMap((inner) => FIELDS.map((outer) => receive(inner, outer) === LEAVES[inner]![outer])).filter(
    Boolean,
  ).length;
}
