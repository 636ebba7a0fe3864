import { formatInteger } from '@vigia/contract/text'
import { Link } from 'react-router'

interface NumberLinkProps {
  count: number
  /** A path, or the anchor of a section on this screen. */
  to: string
  /** Effect of pressing it; screen readers read it after the number. */
  action: string
  /** Id of the label beside the number. */
  about: string
  className?: string
}

/**
 * A number that is a link to what it counts; the whole of the nearest positioned box around it can be pressed. The label beside it is not part
 * of its name: "Notas Fiscais", "CTe" and "Empresas" must name only the links of the navigation.
 */
export function NumberLink({ count, to, action, about, className = '' }: NumberLinkProps) {
  const number = formatInteger(count)
  const rest = {
    'aria-label': `${number}, ${action}`,
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
