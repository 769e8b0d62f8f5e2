// Why a gobgpd cannot be used, or does not take paths: by a code, which the remedy goes by, and in words.

export type GobgpFaultCode =
  /** Nobody listens there. */
  | 'not-there'
  /** Connected, but a request is not answered, or not completely. */
  | 'no-answer'
  | 'another-program'
  /** A gobgpd whose API cnpd does not support, or another gRPC server. */
  | 'unknown-api'
  | 'not-started'
  | 'message-too-long'
  /** One of the two has TLS and the other has not, or they do not agree. */
  | 'tls'
  /** A file of cnpd's that cannot be read. */
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
