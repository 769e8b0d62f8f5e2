// Area addresses of IS-IS (ISO 10589) as operators write them: `49.0001`.

/** @param hex its digits */
export const dottedArea = (hex: string): string =>
  [hex.slice(0, 2), ...(hex.slice(2).match(/.{1,4}/g) ?? [])].join('.');

export const formatArea = (area: Uint8Array): string => dottedArea(Buffer.from(area).toString('hex'));
