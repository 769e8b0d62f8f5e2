// Remedies for a gobgpd that cannot be used, by the cause: for the problems of the running daemon and for `cnpctl
// doctor`.
import type { GobgpFaultCode } from '../../model/gobgp-fault.ts';

type Remedy = (target: string) => string;

const start: Remedy = (target) =>
  `start gobgpd with --api-hosts ${target.replace(/^unix:\/+/, 'unix:///')}, or set bgp.gobgp.target in cnpd.yaml`;
const tls: Remedy = (target) =>
  target.startsWith('unix:')
    ? start(target)
    : "compare bgp.gobgp.tls in cnpd.yaml with gobgpd's --tls, --tls-cert-file and (gobgpd 4) " +
      '--tls-client-ca-file; cnpd must be able to read its files';

const hangs: Remedy = (target) =>
  `see whether \`gobgp global\` answers: if it does not, restart gobgpd, and if it stays busy ` +
  `find out why; if it does, another program listens at ${target}: set bgp.gobgp.target in cnpd.yaml`;
const another: Remedy = (target) =>
  `another program listens at ${target} (\`ss -lntp\`), or a gobgpd with --tls: ` +
  'set bgp.gobgp.target or bgp.gobgp.tls in cnpd.yaml';
const name: Remedy = () =>
  "set bgp.gobgp.tls.server-name in cnpd.yaml to a name of gobgpd's certificate (`openssl x509 -noout -ext " +
  'subjectAltName -in` its --tls-cert-file)';

/** Absent: the remedy depends on the request. */
const REMEDIES: { readonly [C in GobgpFaultCode]?: Remedy } = {
  'no-answer': hangs,
  'another-program': another,
  'unknown-api': () => 'set bgp.gobgp.target in cnpd.yaml to a gobgpd 3 or 4: cnpd speaks their APIs',
  'not-started': () => 'give gobgpd a configuration with [global.config], as and router-id',
  'message-too-long': () => 'raise bgp.gobgp.max-message in cnpd.yaml',
  tls,
  'tls-file': tls,
  'not-pem': () =>
    'replace it with a PEM file, as gobgpd has it: a certificate begins with -----BEGIN CERTIFICATE-----, ' +
    'a key with -----BEGIN … PRIVATE KEY-----',
  'certificate-name': name,
  'certificate-time': () =>
    'give gobgpd a new certificate (--tls-cert-file) and start it again; ' +
    "if the certificate is valid, correct this machine's clock",
};

/** For a gobgpd that cannot be used. */
export const gobgpRemedy = (target: string, fault: GobgpFaultCode): string => (REMEDIES[fault] ?? start)(target);

/** For a gobgpd that is connected and accepts no paths. */
export const refusalRemedy = (target: string, fault: GobgpFaultCode): string =>
  REMEDIES[fault]?.(target) ??
  "gobgpd's log (journalctl -u gobgpd) shows more; " +
    '`gobgp global rib add PREFIX nexthop ADDRESS` shows whether it accepts any path';

/** For policies that cannot be installed. @param nameTaken another policy has the name of one of them */
export const policyRemedy = (nameTaken: boolean): string =>
  nameTaken
    ? "rename it in gobgpd's configuration, or remove it (`gobgp policy del NAME`, " +
      '`gobgp policy large-community del NAME`); ' +
      'or bgp.policy: off in cnpd.yaml, and policies of your own as in frr-configs/bgp-gobgpd.toml'
    : "gobgpd's log (journalctl -u gobgpd) shows more, and `gobgp policy` and `gobgp global policy` list what there " +
      'is; or bgp.policy: off in cnpd.yaml, and policies of your own as in frr-configs/bgp-gobgpd.toml';

/** For paths that gobgpd accepted and does not have. @param noTable families without a table, if that is why */
export const droppedRemedy = (noTable: readonly string[] | undefined): string =>
  noTable
    ? "add the family to gobgpd's configuration, if [[global.afi-safis]] names only others (" +
      noTable.map((name) => `[[global.afi-safis]] [global.afi-safis.config] afi-safi-name = "${name}"`).join(', ') +
      '), and restart gobgpd'
    : "let gobgpd's import policy accept local paths: `gobgp global policy` shows it, " +
      'in its configuration it is [global.apply-policy.config] (default-import-policy)';
