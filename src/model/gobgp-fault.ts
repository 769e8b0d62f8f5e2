// Why a gobgpd cannot be used or does not accept paths: a code, which selects the remedy, and a text.

export type GobgpFaultCode =
  /** No process listens at the target. */
  | 'not-there'
  /** Connected, but a request gets no answer or an incomplete one. */
  | 'no-answer'
  | 'another-program'
  /** A gobgpd whose API cnpd does not support, or another gRPC server. */
  | 'unknown-api'
  | 'not-started'
  | 'message-too-long'
  /** Only one of the two uses TLS, or the handshake fails. */
  | 'tls'
  /** A TLS file of cnpd cannot be read. */
  | 'tls-file'
  | 'not-pem'
  | 'certificate-name'
  | 'certificate-time'
  | 'other';

export interface GobgpFault {
  readonly code: GobgpFaultCode;
  /** For an operator. */
  readonly reason: string;
}
