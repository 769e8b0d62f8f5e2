// What stands in place of a secret wherever a configuration is shown. Neither is taken as a key: a file made from what
// was shown would replace every key of the router.

/** In answers and messages. */
export const HIDDEN = '<hidden>';
/** In a support bundle. */
export const MASK = '<masked>';
