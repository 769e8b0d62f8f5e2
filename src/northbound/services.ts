// gNMI as a gRPC service. Answers to Get are built a few at a time; the rest wait in a queue of bounded length.
import { create } from '@bufbuild/protobuf';
import type { Server as GrpcServer, UntypedHandleCall } from '@grpc/grpc-js';
import type { Steps, Work } from '../model/work.ts';
import { limitConcurrency } from './concurrency.ts';
import type { NorthboundDependencies } from './dependencies.ts';
import { CapabilityResponseSchema, gNMI } from './gen/gnmi/gnmi_pb.js';
import { answerGet } from './get.ts';
import { type Cancelled, handle, served } from './grpc.ts';
import { SUPPORTED_ENCODINGS } from './request.ts';
import type { Access, CheckPath } from './rights.ts';
import { RpcError } from './rpc-error.ts';
import { MODULE } from './schema.ts';
import { answerSet } from './set.ts';
import { Subscriptions } from './subscribe/service.ts';
import { UnreadAnswers } from './unread.ts';

const GNMI_VERSION = '0.10.0';
/** 4,096 members, one update each, have 90,000. */
const MOST_FIELDS_OF_SET = 200_000;
const AT_ONCE = 2;
const WAITING = 512;
/** For answers in one turn of the event loop. */
const BUDGET_MS = 4;

interface GnmiOptions {
  readonly access: Access;
  /** Bound on one encoded answer, bytes. */
  readonly maxAnswerBytes: number;
}

const now = (): bigint => BigInt(Date.now()) * 1_000_000n;

export function addGnmi(grpc: GrpcServer, options: GnmiOptions, dependencies: NorthboundDependencies): void {
  const { access, maxAnswerBytes } = options;
  const { actions, source, work } = dependencies;
  const inLine = limitConcurrency(AT_ONCE, WAITING);
  const unread = dependencies.unread ?? new UnreadAnswers(dependencies);
  const subscriptions = dependencies.subscriptions ?? new Subscriptions(dependencies);
  const capabilities = async () =>
    create(CapabilityResponseSchema, {
      supportedModels: [MODULE],
      supportedEncodings: [...SUPPORTED_ENCODINGS],
      gNMIVersion: GNMI_VERSION,
    });
  const { method } = gNMI;
  grpc.addService(
    {
      capabilities: served(method.capabilities),
      get: served(method.get),
      set: served(method.set),
      subscribe: served(method.subscribe),
    },
    {
      capabilities: handle(method.capabilities, capabilities, dependencies),
      get: handle(
        method.get,
        (request, { cancelled, certificate }) =>
          inLine(() => {
            const checkRead: CheckPath = (path) => access.checkRead(path, certificate);
            return whileAsked(work, answerGet(request, source, { maxAnswerBytes, now, checkRead }), cancelled);
          }),
        { ...dependencies, unread },
      ),
      set: handle(
        method.set,
        async (request, { certificate }) => {
          const checkWrite: CheckPath = (path) => access.checkWrite(path, certificate);
          return answerSet(request, {
            now,
            apply: (changes) => actions.set(changes),
            config: actions.config,
            checkWrite,
          });
        },
        { ...dependencies, mostFields: MOST_FIELDS_OF_SET },
      ),
      subscribe: subscriptions.handler(access) as UntypedHandleCall,
    },
  );
}

/** Rejects with CANCELLED when the client no longer waits for the answer. */
function whileAsked<T>(work: Work, steps: Steps<T>, cancelled: Cancelled): Promise<T> {
  return new Promise((onDone, onError) => {
    const onPause = (): void => {
      if (!cancelled()) return;
      cancel();
      onError(new RpcError('CANCELLED', 'the client went away'));
    };
    const cancel = work.run(steps, { budgetMs: BUDGET_MS, onDone, onError, onPause });
  });
}
