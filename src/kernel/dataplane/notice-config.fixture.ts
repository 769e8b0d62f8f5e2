// For tests: the configuration of the builder of notifications, with the default code points.
export const CODES = { option: 0x9e, ioamOption: 0x9e, icrc: 'cover' } as const;
export const LONG_HAUL = {
  icmpv6Type: 200,
  objectClass: 247,
  timestamp: false,
  deviceId: null,
  pathId: null,
  padToCnp: false,
};
