// Hexadecimal text ↔ bytes, for vectors, logs and captures.

/** White space is ignored. @throws RangeError when the rest is not pairs of hexadecimal digits */
export function fromHex(text: string): Uint8Array {
  const digits = text.replace(/\s+/g, '');
  if (!/^([0-9a-f]{2})*$/i.test(digits)) throw new RangeError('not pairs of hexadecimal digits');
  return new Uint8Array(Buffer.from(digits, 'hex'));
}

export const toHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
