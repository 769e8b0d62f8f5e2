// Every counter of the carrier: its name and its meaning. `<…>` stands for a code that is appended. counters.test.ts
// compares the table with the sources. `count` in effects.ts counts; docs/counters.md is made from tables like this
// one.

export interface CounterRow {
  readonly name: string;
  readonly meaning: string;
}

const row = (name: string, meaning: string): CounterRow => ({ name, meaning });

export const ISIS_COUNTERS: readonly CounterRow[] = [
  row('isis.rx.hello', 'hellos received'),
  row('isis.rx.lsp', 'LSPs received'),
  row('isis.rx.csnp', 'CSNPs received'),
  row('isis.rx.psnp', 'PSNPs received'),
  row('isis.rx.level-not-ours', 'LSPs and SNPs of a level that is not configured'),
  row('isis.rx.queue-full', 'PDUs dropped because they arrived faster than they were handled'),
  row('isis.rx.failed.<errno>', 'receive errors of the packet socket'),
  row('isis.tx.hello', 'hellos sent'),
  row('isis.tx.lsp', 'LSPs sent, retransmissions included'),
  row('isis.tx.csnp', 'CSNPs sent'),
  row('isis.tx.psnp', 'PSNPs sent'),
  row('isis.tx.failed.<errno>', 'PDUs that the packet socket refused; IS-IS retransmits'),
  row('isis.frame.<code>', 'Ethernet frames with IS-IS and a malformed header'),
  row('isis.pdu.oversized', 'PDUs longer than the interface allows'),
  row('isis.pdu.<code>', 'PDUs rejected: truncated, bad-checksum, tlv-overrun (of an LSP: isis.lsp.unusable), …'),
  row('isis.tlv.<code>', 'malformed TLVs skipped; the rest of the PDU is used'),
  row('isis.sub-tlv.<code>', 'malformed sub-TLVs skipped; the rest of the TLV is used'),
  row('isis.auth.<scope>.wrong-key', 'PDUs dropped: HMAC-MD5 digest differs; scope interface, area or domain'),
  row('isis.auth.<scope>.missing', 'PDUs dropped: a key is configured and they have no authentication'),
  row('isis.auth.<scope>.unsupported', 'PDUs dropped: authentication other than HMAC-MD5'),
  row('isis.hello.area-mismatch', 'hellos from another area; level 1 requires the same area'),
  row('isis.hello.level-mismatch', 'hellos without a level in common'),
  row('isis.hello.lan', 'LAN hellos: the other end lacks "isis network point-to-point"'),
  row('isis.hello.no-three-way', 'hellos without a usable TLV 240'),
  row('isis.hello.contradictory', 'hellos with several different TLVs 240'),
  row('isis.hello.not-for-us', 'hellos that name another system or circuit as their neighbor'),
  row('isis.hello.own-system-id', 'hellos with our own system ID: a loop, or FRR has the same NET'),
  row('isis.hello.system-id-changed', 'hellos of another system on an adjacency, which is taken down'),
  row('isis.adjacency.hold-expired', 'adjacencies lost because no hello came within the hold time'),
  row('isis.interface.vanished', 'times that another program deleted the interface'),
  row('isis.interface.create-failed', 'failed attempts to create the interface again'),
  row('isis.lsp.no-adjacency', 'LSPs received while the level had no adjacency'),
  row('isis.lsp.confusion', 'LSPs with the sequence number of another version: purged'),
  row('isis.lsp.contradictory-prefix', 'LSPs that list a prefix both with and without the P-flag'),
  row(
    'isis.lsp.unusable.<code>',
    'LSPs stored and acknowledged, with unusable content: zero-sequence, zero-checksum, tlv-overrun',
  ),
  row(
    'isis.lsp.doubted',
    'LSPs with odd content that would replace another: set aside until FRR is known to have them',
  ),
  row('isis.lsp.refused-by-neighbor', 'LSPs with odd content forgotten because FRR does not have them'),
  row('isis.lsp.expired', 'LSPs whose lifetime ended without a refresh'),
  row('isis.lsp.requested', 'LSPs requested because the neighbor listed a newer or unknown version'),
  row('isis.lsp.request-unanswered', 'requested LSPs that did not arrive'),
  row('isis.lsdb.full', 'LSPs refused because the database is full'),
  row(
    'isis.lsdb.not-expanded',
    'LSPs whose prefixes and SIDs are not learned because database and learned table have reached their limit',
  ),
  row('isis.purge.received', "purges of others' LSPs received"),
  row('isis.purge.forbidden-tlv', 'authenticated purges with TLVs that RFC 6233 forbids: refused'),
  row('isis.snp.no-adjacency', 'SNPs received while the level had no adjacency'),
  row('isis.snp.own-system-id', 'SNPs with our own system ID: a loop'),
  row('isis.snp.wrong-source', 'SNPs from a system other than the neighbor'),
  row('isis.snp.contradictory', 'LSPs that one SNP lists in two versions'),
  row('isis.csnp.bad-range', 'CSNPs whose range ends before its start'),
  row('isis.csnp.entry-outside-range', 'entries of CSNPs outside their range'),
  row('isis.csnp.not-ascending', 'entries of CSNPs out of order'),
  row('isis.own.issued', 'fragments of our LSP issued, refreshes included'),
  row('isis.own.purged', 'LSPs with our system ID purged'),
  row('isis.own.sequence-bumped', 'fragments issued again because the network had a higher sequence number'),
  row('isis.own.sequence-wrap', 'fragments temporarily unused because their sequence numbers are used up'),
  row(
    'isis.own.contested',
    'LSPs with our system ID that another router repeatedly issues: a duplicate system ID, or forgery',
  ),
  row('isis.own.confusion', 'fragments received with our sequence number and different contents'),
  row('isis.own.foreign-purge', 'fragments purged by another router: issued again'),
  row('isis.own.unknown-fragment-purged', 'LSPs with our system ID that we do not, or no longer, originate: purged'),
  row('isis.originate.duplicate-prefix', 'prefixes declared twice: the lower proxy address is used'),
  row('isis.originate.unusable-sid', 'SIDs not advertised because they are outside their locator, or its length is 0'),
  row('isis.originate.unusable-group-member', 'group members not advertised because no packet could reach them'),
  row(
    'isis.originate.router-address-left-out',
    'router addresses not advertised: not unicast, or not the first of their family',
  ),
  row('isis.originate.no-room', 'prefixes and SIDs not advertised because all fragments are full'),
  row('isis.carry.carried', 'prefixes and SIDs leaked into the other level (PNC §5.1, RFC 9352 §7.1)'),
  row('isis.carry.withdrawn', 'leaked prefixes and SIDs withdrawn again'),
];
