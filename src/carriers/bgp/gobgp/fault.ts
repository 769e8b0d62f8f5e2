// What goes wrong with a gobgpd, where the cause is known. Errors of the libraries get their code in reason.ts.
import { messageOf } from '../../../model/error-text.ts';
import type { GobgpFault, GobgpFaultCode } from '../../../model/gobgp-fault.ts';

export class GobgpError extends Error {
  override readonly name = 'GobgpError';
  readonly code: GobgpFaultCode;
  /** @param message for an operator */
  constructor(code: GobgpFaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What a call of the client has thrown. */
export const faultOf = (error: unknown): GobgpFault => ({
  code: error instanceof GobgpError ? error.code : 'other',
  reason: messageOf(error),
});
