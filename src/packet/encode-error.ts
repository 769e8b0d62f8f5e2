// What encoders throw: a value that its place on the wire cannot hold is a mistake of the caller, not of the network.

export class EncodeError extends RangeError {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'EncodeError';
    this.code = code;
  }
}
