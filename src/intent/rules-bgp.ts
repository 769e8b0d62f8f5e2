// Rules of `bgp`.
import { isLocalTarget } from './bgp-values.ts';
import { BGP_DEFAULTS } from './build-bgp.ts';
import { type Report, type Rule, type View, oneAFamily, unique } from './rules-view.ts';

function nextHops({ bgp }: View, report: Report): void {
  const path = ['bgp', 'next-hop'] as const;
  if (bgp?.['next-hop']?.length === 0)
    report(
      path,
      'one address, or one of each family',
      'an empty list is no next hop: leave it out, and the loopbacks are taken',
    );
  oneAFamily(bgp?.['next-hop'], path, 'next hop', report);
}

function uniqueBgp({ bgp }: View, report: Report): void {
  const text = (of: unknown): string => String(of);
  unique(bgp?.domain, (i) => ['bgp', 'domain', i], text, 'AS number', report);
  unique(bgp?.confederation, (i) => ['bgp', 'confederation', i], text, 'AS number', report);
  unique(
    bgp?.['large-communities'],
    (i) => ['bgp', 'large-communities', i],
    (c) => c.join(':'),
    'large community',
    report,
  );
  unique(
    bgp?.communities,
    (i) => ['bgp', 'communities', i],
    (c) => `${Math.floor(c / 65_536)}:${c % 65_536}`,
    'community',
    report,
  );
}

/** Who can speak to gobgpd can change every route of this router, and gobgpd asks nobody who he is. */
function transport({ gobgp }: View, report: Report): void {
  if (!gobgp) return;
  const target = 'target' in gobgp ? gobgp.target : BGP_DEFAULTS.target;
  const path = ['bgp', 'gobgp'] as const;
  if ('tls' in gobgp && gobgp.plaintext === true)
    report([...path, 'plaintext'], 'tls, or plaintext: on', 'with tls nothing is sent in plain text');
  if (target === undefined) return;
  if ('tls' in gobgp && target.startsWith('unix:'))
    report([...path, 'tls'], 'tls only with HOST:PORT', 'gobgpd has no TLS on a UNIX socket, and needs none there');
  if ('tls' in gobgp || ('plaintext' in gobgp && gobgp.plaintext !== false) || isLocalTarget(target)) return;
  const reason =
    `${target} is another machine: ` + 'without tls whoever is on the way can change the routes of this network';
  report([...path, 'target'], 'a target on this machine; else tls, or plaintext: on', reason);
}

function ownCertificate({ gobgp }: View, report: Report): void {
  const tls = gobgp?.tls;
  if (!tls || 'certificate' in tls === 'key' in tls) return;
  const [there, missing] = 'key' in tls ? ['key', 'certificate'] : ['certificate', 'key'];
  report(
    ['bgp', 'gobgp', 'tls', there],
    'certificate and key, or neither',
    `${there} without ${missing}: both are needed to prove who cnpd is`,
  );
}

export const BGP_RULES: readonly Rule[] = [nextHops, uniqueBgp, transport, ownCertificate];
