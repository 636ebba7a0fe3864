import type { z } from 'zod'

/** The message for each field of a form that is not filled in right; nothing when all are. */
export function problemsOf(form: z.ZodType, values: unknown): Record<string, string> {
  const { error } = form.safeParse(values)
  return Object.fromEntries(error?.issues.map(({ path, message }) => [String(path[0]), message]).reverse() ?? [])
}
