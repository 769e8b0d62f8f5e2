// The boundary of every decoder: a value or a precise error, never an exception, never a read outside the buffer.
import { type Result, fail } from '../model/result.ts';

export interface DecodeError {
  /** Stable, dotted-counter friendly: `truncated`, `bad-checksum`, … */
  readonly code: string;
  /** Byte offset in the buffer given to the decoder. */
  readonly offset: number;
  readonly detail: string;
}

export type Decoded<T> = Result<T, DecodeError>;

export const malformed = (
  code: string,
  offset: number,
  detail: string,
): { readonly ok: false; readonly error: DecodeError } => fail({ code, offset, detail });

/** The same error, its offset counted from `by` bytes earlier. */
export const shifted = (error: DecodeError, by: number): DecodeError => ({ ...error, offset: error.offset + by });
