// For tests: what the builder of notifications is told, with the code points as they are when nothing is said of them.
export const CODES = { option: 0x9e, ioamOption: 0x9e, icrc: 'cover' } as const;
export const LONG_HAUL = {
  icmpv6Type: 200,
  objectClass: 247,
  timestamp: false,
  deviceId: null,
  pathId: null,
  padToCnp: false,
};
