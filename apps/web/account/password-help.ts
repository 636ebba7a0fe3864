import common from './common-passwords.txt?raw'

/** Hint under the field of a new password; the server decides. */
export function passwordHelp(typed: string): string {
  const rule = 'De 6 a 100 caracteres.'
  return commonPasswords.has(typed.trim().toLowerCase()) ? `${rule} Esta está entre as senhas mais usadas.` : rule
}

const commonPasswords = new Set(common.trimEnd().split('\n'))
