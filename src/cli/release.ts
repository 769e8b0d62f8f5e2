// `cnpctl release`: lets held flows go, and traffic that is paused for neighbors.
import { type Context, print, printJson, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { onSetSocket } from './set-socket.ts';

export async function release(
  context: Context,
  sender: string | undefined,
  receiver: string | undefined,
  qpn: number | undefined,
  { all = false }: { readonly all?: boolean },
): Promise<ExitCode> {
  const isWhole = sender !== undefined && receiver !== undefined && qpn !== undefined;
  if (all ? sender !== undefined : !isWhole) {
    context.err('cnpctl: name one flow (SENDER RECEIVER QPN, as `cnpctl show holds` has them), or --all\n');
    return EXIT.usage;
  }
  const flow = isWhole ? { sender, receiver, receiverQpn: qpn } : undefined;
  const released = await withCnpd(onSetSocket(context), (client) => client.release(flow));
  if (context.options.output === 'json') printJson(context, { released });
  else {
    const what = all ? 'hold' : 'flow';
    print(context, [`${released} ${released === 1 ? what : `${what}s`} let go`]);
  }
  return released > 0 || all ? EXIT.ok : EXIT.problem;
}
