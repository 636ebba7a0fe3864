import { getAccount } from '@vigia/contract/accounts'
import { mayAs, type RouteDefinition } from '@vigia/contract/route'
import { useScreenQuery } from './query.ts'

/** Whether the person may make calls for which one has to be `atLeast`; true while that is not known: the server decides. */
export function useMay(atLeast: RouteDefinition['atLeast']): boolean {
  const { data } = useScreenQuery(getAccount, {})
  return data?.papel === undefined || mayAs(data.papel, atLeast)
}

/** Whether the person may change what holds for everybody: who administers, but not those who share an account, where the server refuses it. */
export function useMayDecide(): boolean {
  const { data } = useScreenQuery(getAccount, {})
  return useMay('administrador') && !data?.compartilhada
}
