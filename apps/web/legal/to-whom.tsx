import { shownIfSet, shownIfUnset } from '../lib/site.ts'

/** Contact after the word "escreva": the e-mail address, or the form if there is none. */
export function ToWhom({ email }: { email: string }) {
  const linkClass = 'font-semibold text-brand underline underline-offset-3'
  return (
    <>
      <span className={shownIfSet.contact}>
        para{' '}
        <a href={`mailto:${email}`} className={`${linkClass} break-all`}>
          {email}
        </a>
      </span>
      <span className={shownIfUnset.contact}>
        em{' '}
        <a href="/#contato" className={linkClass}>
          Fale com a Gente
        </a>
      </span>
    </>
  )
}
