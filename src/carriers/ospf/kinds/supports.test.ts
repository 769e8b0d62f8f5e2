// What the senders of a prefix understand, in OSPF: advertised, learned, withdrawn, copied between areas.
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { byKind, sendersOf } from '../../../model/advertisement.fixture.ts';
import type { AdvertisementOf } from '../../../model/advertisement.ts';
import { type SenderFormat, understood } from '../../../model/understood.ts';
import { fromHex } from '../../../packet/hex.ts';
import { type AnyVersion, type ContentAgent, declaration, encoded, proxyAddress } from '../content.fixture.ts';
import { LEAF, SETTLED, VERSIONS, entriesOf, line } from '../leaking/leaking.fixture.ts';
import { lsaWith, readByKind } from './reading.fixture.ts';

const senders = (
  version: AnyVersion,
  isProxied: boolean,
  ...formats: readonly SenderFormat[]
): AdvertisementOf<'sender-prefix'>[] =>
  sendersOf(declaration(version, [1], 7)).map(({ kind, prefix, proxy }) => ({
    kind,
    prefix,
    ...(isProxied && { proxy }),
    supports: understood(formats),
  }));
const learned = ({ reports, reachable }: ContentAgent): string[] =>
  [...reports.values()]
    .filter(({ originator }) => reachable.has(originator))
    .flatMap(({ advertisements }) => byKind(advertisements).prefixes)
    .map(({ pnc, proxy, supports }) => `${pnc ? 'P' : '-'} ${proxy ? 'proxy' : 'none'} ${supports?.join()}`);

describe.each(VERSIONS)('OSPFv%d', (version) => {
  test('PNC-5.2-c, PNC-5.3-c: it crosses areas with the flag and without it, changes, and is withdrawn', () => {
    const { net, leaf, border, core } = line(version);
    net.declare(leaf, senders(version, true, 'fast-cnp', 'long-haul-roce'));
    net.run(2 * SETTLED);
    for (const agent of [border, core]) expect(learned(agent)).toContain('P proxy fast-cnp,long-haul-roce');
    net.declare(leaf, senders(version, false, 'long-haul-roce'));
    net.run(2 * SETTLED);
    for (const agent of [border, core]) expect(learned(agent)).toContain('- none long-haul-roce');
    net.declare(leaf, declaration(version, [1], 7));
    net.run(2 * SETTLED);
    expect(learned(core)).toEqual(['P proxy undefined']);
    net.declare(leaf, []);
    net.run(2 * SETTLED);
    expect([learned(core), entriesOf(border, 0)]).toEqual([[], []]);
  });

  test('it is advertised without a proxy of the other family, which is counted', () => {
    const { net, leaf, core } = line(version);
    const proxy = address(proxyAddress(version === 2 ? 3 : 2, 1));
    net.declare(
      leaf,
      senders(version, false, 'long-haul-roce').map((one) => ({ ...one, proxy })),
    );
    net.run(2 * SETTLED);
    expect(learned(core)).toEqual(['- none long-haul-roce']);
    expect([leaf.content.unencodable, leaf.count('originate.proxy-of-other-family')]).toEqual([1, 1]);
  });

  test.each(['', '01', '018000', '0280'])('"%s" is counted, and the prefix counts without it', (hex) => {
    const { net, leaf } = line(version);
    net.declare(leaf, senders(version, true, 'long-haul-roce'));
    net.run(SETTLED);
    const [{ supports, ...entry }] = entriesOf(leaf, 1) as [ReturnType<typeof entriesOf>[number]];
    const subTlv = { ...supports!.subTlv, value: fromHex(hex) };
    const { lsa, key } = encoded(
      version,
      LEAF,
      lsaWith(version, LEAF, [{ ...entry, supports: { ...supports!, subTlv } } as never]),
    );
    const read = readByKind(version, { ...key, raw: lsa.raw });
    expect({
      warnings: read.warnings,
      supports: read.prefixes.map((one) => one.supports),
      pnc: read.prefixes[0]?.pnc,
    }).toEqual({
      warnings: ['bad-supports'],
      supports: [undefined],
      pnc: true,
    });
  });

  test('a copy has the bits that this version does not know, too', () => {
    const { net, leaf, border } = line(version);
    net.declare(leaf, senders(version, true, 'long-haul-roce'));
    net.run(SETTLED);
    const [entry] = entriesOf(leaf, 1);
    const value = fromHex('013f');
    border.now = net.now;
    const supports = { ...entry!.supports!, subTlv: { ...entry!.supports!.subTlv, value } };
    border.hears(1, LEAF, lsaWith(version, LEAF, [{ ...entry!, supports } as never]));
    border.pass(SETTLED);
    expect(entriesOf(border, 0).map((one) => one.supports?.subTlv.value)).toEqual([value]);
  });
});
