// Whether FRR and cnpd sign and accept IS-IS PDUs alike. Only the interface's key comes with configuration lines.
import type { FrrLine } from '../../frr/check.ts';
import type { Password } from '../../frr/running-config.ts';
import { type Finding, mend } from './finding.ts';
import type { View } from './isis-view.ts';

/** Of hellos, on the interface. */
export function checkHelloKey(view: View): Finding | undefined {
  const { link, want } = view;
  return compareKeys(link.password, want.authentication.interface?.key, false, 'isis.authentication.interface', {
    context: `interface ${want.interface}`,
    command: 'isis password',
  });
}

/** Of a level's LSPs and sequence number PDUs. */
export function checkLevelKey({ instance, want }: View, level: 1 | 2): Finding | undefined {
  const [password, key, name, command] =
    level === 1
      ? ([instance.areaPassword, want.authentication.area?.key, 'area', 'area-password'] as const)
      : ([instance.domainPassword, want.authentication.domain?.key, 'domain', 'domain-password'] as const);
  const finding = compareKeys(password, key, true, `isis.authentication.${name}`, {
    context: `router isis ${instance.tag}`,
    command,
  });
  // The key of an area or domain is shared with all its routers: reported, not set.
  return finding && { code: finding.code, problem: finding.problem, remedy: finding.remedy };
}

function compareKeys(
  has: Password | undefined,
  key: string | undefined,
  snp: boolean,
  where: string,
  { context, command }: { context: string; command: string },
): Finding | undefined {
  if (key === undefined)
    return has === undefined
      ? undefined
      : {
          code: 'key-only-in-frr',
          problem: `FRR has ${command} (${has.kind}), cnpd.yaml has no ${where}`,
          remedy: `set ${where} in cnpd.yaml to FRR's key, as { hmac-md5: KEY }`,
        };
  const undo =
    has === undefined
      ? `no ${command}`
      : `${command} ${has.kind} ${has.key}${has.snpValidate ? ' authenticate snp validate' : ''}`;
  const line: FrrLine = {
    context,
    line: `${command} md5 ${key}${snp ? ' authenticate snp validate' : ''}`,
    undo,
    secret: key,
  };
  if (has === undefined) return mend('key-only-in-cnpd', `cnpd.yaml has ${where}, FRR has no ${command}`, [line]);
  if (has.kind !== 'md5') return mend('key-clear-text', `FRR's ${command} is clear text, cnpd uses HMAC-MD5`, [line]);
  if (has.key !== key)
    return mend('keys-differ', `the keys of FRR's ${command} and ${where} in cnpd.yaml differ`, [line]);
  return snp && !has.snpValidate
    ? mend('authentication-snp', `FRR does not authenticate CSNPs and PSNPs, so cnpd drops them`, [line])
    : undefined;
}
