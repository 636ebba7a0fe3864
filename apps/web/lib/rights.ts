import { mayAs, type RouteDefinition } from '@vigia/contract/route'
import { useScreenQuery } from './query.ts'
import { accountQuery } from './response-adapter.ts'

/** Whether the person may make calls for which one has to be `atLeast`; true while that is not known: the server decides. */
export function useMay(atLeast: RouteDefinition['atLeast']): boolean {
  const { data } = useScreenQuery(accountQuery, {})
  return data?.papel === undefined || mayAs(data.papel, atLeast)
}
