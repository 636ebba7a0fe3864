/** A fault with its clause of PDF/A-2a. */
export const archive = (clause: string, text: string) => `ISO 19005-2, ${clause}: ${text}`

/** A fault with its clause of PDF/UA-1. */
export const access = (clause: string, text: string) => `ISO 14289-1, ${clause}: ${text}`
