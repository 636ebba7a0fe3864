import { Link } from 'react-router'
import { formatInteger } from '../lib/format.ts'

interface NumberLinkProps {
  count: number
  /** An address, or the anchor of a place on this screen. */
  to: string
  /** What pressing it does, for who hears it behind the number. */
  deed: string
  /** The id of the words beside it, which say what is counted. */
  about: string
  className?: string
}

/**
 * A number that leads to what it counts; all of the nearest positioned box around it can be pressed. The words beside it stay out of its
 * name: "Notas Fiscais", "CTe" and "Empresas" name one link of every screen, that of the navigation.
 */
export function NumberLink({ count, to, deed, about, className = '' }: NumberLinkProps) {
  const number = formatInteger(count)
  const rest = {
    'aria-label': `${number}, ${deed}`,
    'aria-describedby': about,
    className: `after:absolute after:inset-0 ${className}`,
  }
  return to.startsWith('#') ? (
    <a href={to} {...rest}>
      {number}
    </a>
  ) : (
    <Link to={to} {...rest}>
      {number}
    </Link>
  )
}
