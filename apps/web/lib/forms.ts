import { zodResolver } from '@hookform/resolvers/zod'
import { config } from 'zod/v4/core'

// The content security policy forbids eval, which zod would otherwise try first and report.
config({ jitless: true })

/** Checks a form by its schema of the contract; zod comes with the first form. */
export const checkedBy = zodResolver
