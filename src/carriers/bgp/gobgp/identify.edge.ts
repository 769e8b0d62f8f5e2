// Which gobgpd answers at the other end of a channel, and with which version of its API.
import { status } from '@grpc/grpc-js';
import type { GobgpApi } from './api.ts';
import { CallError, type Channel } from './channel.edge.ts';
import { GobgpError } from './fault.ts';
import { type About, GET_BGP_REQUEST, decodeAbout } from './messages.ts';
import { v3 } from './v3.ts';
import { v4 } from './v4.ts';

const APIS: readonly GobgpApi[] = [v3, v4];

/** @throws GobgpError, CallError */
export async function identify(
  channel: Channel,
  timeoutMs: number,
): Promise<{ readonly api: GobgpApi; readonly about: About }> {
  for (const api of APIS) {
    try {
      const about = decodeAbout(await channel.call(`/${api.service}/GetBgp`, GET_BGP_REQUEST, timeoutMs));
      if (about.as === 0)
        throw new GobgpError(
          'not-started',
          'BGP is not started in gobgpd: its configuration has no [global.config], or gobgpd is still reading it',
        );
      return { api, about };
    } catch (error) {
      if (!(error instanceof CallError && error.code === status.UNIMPLEMENTED)) throw error;
    }
  }
  throw new GobgpError(
    'unknown-api',
    `the server is not a gobgpd that cnpd knows: it has neither ${APIS.map((api) => api.service).join(' nor ')}`,
  );
}
