/** @throws RangeError unless the text is whole bytes in hexadecimal */
export function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array(Buffer.from(text, 'hex'));
  if (bytes.length * 2 !== text.length) throw new RangeError('bytes are not in hexadecimal');
  return bytes;
}
