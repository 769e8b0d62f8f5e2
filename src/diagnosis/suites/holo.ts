// Holo beside cnpd: asked and configured over its gRPC northbound. It reads addresses only of interfaces that the
// kernel had before its configuration named them, so cnpd starts first.
import { configureHolo } from '../../holo/configure.ts';
import { type HoloNorthbound, connectHolo } from '../../holo/northbound.ts';
import type { Intent } from '../../intent/intent.ts';
import type { RouterSuite } from '../../model/router-suite.ts';
import { askedOf, examineHolo } from '../holo/examine.ts';

/** @param target of the northbound, `HOST:PORT` */
export function holoSuite(
  intent: Intent,
  target: string,
  connect: (target: string) => HoloNorthbound = connectHolo,
): RouterSuite {
  const connected = async <T>(use: (northbound: HoloNorthbound) => Promise<T>): Promise<T> => {
    const northbound = connect(target);
    try {
      return await use(northbound);
    } finally {
      northbound.close();
    }
  };
  const nothing = { id: 'holo', claim: 'cnpd.yaml has no isis, ospfv2 or ospfv3 section, so Holo is not checked' };
  return {
    name: 'holo',
    configuredAfterStart: true,
    examine: async () =>
      askedOf(intent).length === 0
        ? [{ ...nothing, state: 'ok' as const }]
        : connected((northbound) => examineHolo(intent, target, northbound)),
    configure: (options, dependencies) =>
      connected(async (northbound) => {
        const examine = () => examineHolo(intent, target, northbound);
        return (await configureHolo(examine, options, northbound, dependencies)).remaining;
      }),
  };
}
