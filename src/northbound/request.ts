// What Get, Set and Subscribe check in the same way, and what their answers repeat.
import { create } from '@bufbuild/protobuf';
import { Encoding, type Extension, type ModelData, type Path, PathSchema } from './gen/gnmi/gnmi_pb.js';
import { RpcError } from './rpc-error.ts';
import { MODULE } from './schema.ts';

export const SUPPORTED_ENCODINGS = [Encoding.JSON, Encoding.JSON_IETF, Encoding.PROTO] as const;

/** Paths of a Get, subscriptions of a Subscribe. */
const MAX_PATHS = 64;

/** @throws RpcError UNIMPLEMENTED */
export function checkEncoding(encoding: Encoding): void {
  if ((SUPPORTED_ENCODINGS as readonly Encoding[]).includes(encoding)) return;
  throw new RpcError(
    'UNIMPLEMENTED',
    `encoding ${Encoding[encoding] ?? encoding} is not served: ` +
      `use ${SUPPORTED_ENCODINGS.map((e) => Encoding[e]).join(', ')}`,
  );
}

/** @throws RpcError INVALID_ARGUMENT */
export function checkModels(models: readonly ModelData[]): void {
  const model = models.find((m) => m.name !== MODULE.name || (m.version !== '' && m.version !== MODULE.version));
  if (!model) return;
  throw new RpcError(
    'INVALID_ARGUMENT',
    `model ${JSON.stringify(`${model.name} ${model.version}`.slice(0, 100))} is not served: ` +
      `${MODULE.name} ${MODULE.version} is`,
  );
}

/** An ignored extension would change what the client believes to have got. @throws RpcError UNIMPLEMENTED */
export function checkExtensions(extensions: readonly Extension[]): void {
  const [first] = extensions;
  if (first) throw new RpcError('UNIMPLEMENTED', `the extension ${first.ext.case ?? '(unknown)'} is not served`);
}

/** @throws RpcError INVALID_ARGUMENT */
export function checkCount(what: string, count: number): void {
  if (count > MAX_PATHS)
    throw new RpcError('INVALID_ARGUMENT', `${count} ${what} in one request; at most ${MAX_PATHS}`);
}

/** Answers have absolute paths; from the prefix they repeat the target, as gNMI §2.2.2.1 requires, and the origin. */
export function echoed(prefix: Path | undefined, path: Path | undefined): { prefix?: Path } {
  const origin = prefix?.origin || path?.origin || '';
  const target = prefix?.target ?? '';
  return origin || target ? { prefix: create(PathSchema, { origin, target }) } : {};
}
