// Large communities (RFC 8092) by which cnpd's routers of one domain know paths, whichever gobgpd put them in:
// AS:KIND:WHAT, the AS of whoever put the mark on. gobgpd's policies match them; they can match neither attribute 39
// nor a path identifier of another router.

/** "cnpd", as the path identifier. */
export const MARK_KIND = 0x636e_7064;
/** The path is cnpd's: it must not leave the domain. */
export const MARK_OWN = 1;
/** The path came into the domain from a neighbor outside: its attribute 39 is not trusted. */
export const MARK_OUTSIDE = 2;

export type Mark = 'own' | 'outside';

/** Whoever put it on: too little trust does no harm. */
export const markOf = (kind: number, what: number): Mark | undefined =>
  kind !== MARK_KIND ? undefined : what === MARK_OUTSIDE ? 'outside' : what === MARK_OWN ? 'own' : undefined;

/** Of two marks: what came from outside is not ours, whatever else it has. */
export const strongest = (a: Mark | undefined, b: Mark | undefined): Mark | undefined =>
  a === 'outside' || b === 'outside' ? 'outside' : (a ?? b);
