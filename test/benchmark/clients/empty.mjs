/** What Node itself takes. */
export function construct() {}
