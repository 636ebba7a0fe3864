import { beginPasskey, challengePasskey, type PasskeyAnswer, type PasskeyRegistration } from '@vigia/contract/accounts'
import { call } from './api.ts'
import { dataOf } from './query.ts'

// Passkeys of this browser and of devices in reach. The library is loaded on first use.

const library = () => import('@simplewebauthn/browser')

/** Whether this browser supports passkeys at this address, which must be a host name. */
export function arePasskeysHere(): boolean {
  return window.isSecureContext && 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/.test(location.hostname)
}

/** A failed request for a passkey; `message` is for the person. */
export class PasskeyError extends Error {
  override name = 'PasskeyError'
}

/** Asks for a passkey; throws PasskeyError on failure. */
export async function askForPasskey(): Promise<PasskeyAnswer> {
  const [{ startAuthentication }, envelope] = await Promise.all([library(), call(challengePasskey, {})])
  const optionsJSON = dataOf(envelope) as Parameters<typeof startAuthentication>[0]['optionsJSON']
  return (await startAuthentication({ optionsJSON }).catch(fail)) as PasskeyAnswer
}

/** Has a passkey made for the account of the session; throws PasskeyError when none is. */
export async function makePasskey(): Promise<PasskeyRegistration> {
  const [{ startRegistration }, envelope] = await Promise.all([library(), call(beginPasskey, {})])
  const optionsJSON = dataOf(envelope) as Parameters<typeof startRegistration>[0]['optionsJSON']
  return (await startRegistration({ optionsJSON }).catch(fail)) as PasskeyRegistration
}

const words: Partial<Record<string, string>> = {
  InvalidStateError: 'Este aparelho já tem uma passkey desta conta.',
  NotAllowedError: 'Nenhuma passkey foi usada: o pedido foi cancelado, ou o tempo acabou.',
  AbortError: 'Nenhuma passkey foi usada: o pedido foi cancelado, ou o tempo acabou.',
}

function fail(cause: unknown): never {
  const name = cause instanceof Error ? cause.name : ''
  throw new PasskeyError(
    words[name] ?? 'Este aparelho ou navegador não conseguiu usar uma passkey. Entre com a senha.',
    { cause },
  )
}
