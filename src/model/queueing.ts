// How flows are held at a port: in classes of an HTB, or by departure times that an fq keeps.

/** `auto`: by departure times where the port has an fq already, otherwise in classes. */
export type Queueing = 'auto' | 'htb' | 'fq';
export const QUEUEINGS: readonly Queueing[] = ['auto', 'htb', 'fq'];
