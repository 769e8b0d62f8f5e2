// The gRPC connection to a gobgpd: bytes out, bytes in, over TCP or a UNIX socket, with TLS or without. Answers stay
// bytes, because long ones are decoded a part at a time; nothing here knows what they mean.
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  type ChannelOptions,
  Client,
  type ClientReadableStream,
  type ClientWritableStream,
  type ServiceError,
  credentials,
  status,
} from '@grpc/grpc-js';
import { GobgpError } from './fault.ts';
import type { GobgpOptions } from './gobgp.ts';

/** Of a call, as gobgpd or the transport gives it. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: status;
  constructor(error: ServiceError) {
    super(error.details || error.message);
    this.code = error.code;
  }
}

const out = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const same = (bytes: Buffer): Buffer => bytes;

export class Channel {
  readonly #client: Client;
  readonly #open = new Set<{ cancel(): void }>();

  private constructor(client: Client) {
    this.#client = client;
  }

  /** Connects at the first call. @throws GobgpError naming the file of TLS that cannot be read or is none */
  static async open({ target, tls, maxMessageBytes }: Omit<GobgpOptions, 'learn'>): Promise<Channel> {
    const options: ChannelOptions = {
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': -1,
      // The caller tries again by itself; another attempt starts from nothing, proxies of the environment have no part
      // in it.
      'grpc.enable_retries': 0,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.service_config_disable_resolution': 1,
      'grpc.enable_http_proxy': 0,
      ...(tls?.serverName !== undefined && {
        'grpc.ssl_target_name_override': tls.serverName,
        'grpc.default_authority': tls.serverName,
      }),
    };
    return new Channel(new Client(target, tls ? await tlsCredentials(tls) : credentials.createInsecure(), options));
  }

  /**
   * @param path `/SERVICE/METHOD`
   * @throws CallError (rejects)
   */
  call(path: string, request: Uint8Array, timeoutMs: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(
        path,
        out,
        same,
        request,
        { deadline: Date.now() + timeoutMs },
        (error, answer) => {
          this.#open.delete(call);
          if (error) reject(new CallError(error));
          else resolve(answer!);
        },
      );
      this.#open.add(call);
    });
  }

  /** A stream of answers. `done` is called once, with a CallError unless it ended well. It can be paused. */
  stream(
    path: string,
    request: Uint8Array,
    on: { data(bytes: Buffer): void; done(error?: CallError): void },
    timeoutMs?: number,
  ): ClientReadableStream<Buffer> {
    const call = this.#client.makeServerStreamRequest(
      path,
      out,
      same,
      request,
      timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs },
    );
    this.#open.add(call);
    let over = false;
    const done = (error?: ServiceError): void => {
      if (over) return;
      over = true;
      this.#open.delete(call);
      on.done(error && new CallError(error));
    };
    call
      .on('data', on.data)
      .on('error', done)
      .on('end', () => done());
    return call;
  }

  /**
   * A stream of requests.
   * @returns it, and its end
   * @throws CallError (the end rejects)
   */
  upload(
    path: string,
    timeoutMs: number,
  ): { readonly call: ClientWritableStream<Uint8Array>; readonly end: Promise<void> } {
    let ended: (error?: CallError) => void = () => {};
    const end = new Promise<void>((resolve, reject) => (ended = (error) => (error ? reject(error) : resolve())));
    const call = this.#client.makeClientStreamRequest<Uint8Array, Buffer>(
      path,
      out,
      same,
      { deadline: Date.now() + timeoutMs },
      (error) => {
        this.#open.delete(call);
        ended(error ? new CallError(error) : undefined);
      },
    );
    this.#open.add(call);
    return { call, end };
  }

  /** Ends what is under way too. */
  close(): void {
    for (const call of this.#open) call.cancel();
    this.#client.close();
  }
}

async function tlsCredentials({
  ca,
  certificate,
  key,
}: NonNullable<GobgpOptions['tls']>): Promise<ReturnType<typeof credentials.createSsl>> {
  const [roots, own, secret] = await Promise.all([pem('ca', ca), pem('certificate', certificate), pem('key', key)]);
  return credentials.createSsl(roots ?? null, secret ?? null, own ?? null);
}

/** Each throws for what is none. */
const PARSE = {
  ca: (bytes: Buffer) => new X509Certificate(bytes),
  certificate: (bytes: Buffer) => new X509Certificate(bytes),
  key: createPrivateKey,
} as const;

async function pem(what: keyof typeof PARSE, path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined;
  const bytes = await readFile(path).catch((cause: Error) => {
    throw new GobgpError('tls-file', `the file for tls ${what} cannot be read: ${cause.message}`, { cause });
  });
  // An authority that cannot be read is left out silently: gobgpd's certificate would be reported as wrong.
  try {
    return (PARSE[what](bytes), bytes);
  } catch (cause) {
    throw new GobgpError(
      'not-pem',
      `the file for tls ${what} is no PEM file with ${what === 'key' ? 'a private key' : 'a certificate'}: ${path}`,
      { cause },
    );
  }
}
