import type { RouteDefinition } from '@vigia/contract/route'
import { AppError } from '../errors.ts'
import type { Session } from './session.ts'

/** Refuses a call of `route` that changes what all visitors of a shared login see, or their way in. */
export function requireOwnLogin(
  { method, shared }: Pick<RouteDefinition, 'method' | 'shared'>,
  session: Pick<Session, 'shared'> | null,
): void {
  if (session?.shared && method !== 'GET' && !shared)
    throw new AppError(
      'conflict',
      'Esta conta é compartilhada: o que muda nela muda para todos que a visitam, e por isso isto não pode ser feito aqui. Nada foi alterado. Para experimentar, crie uma conta só sua.',
    )
}
