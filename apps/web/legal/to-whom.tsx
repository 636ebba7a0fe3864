import { whenGiven, whenMissing } from '../lib/given.ts'

/** To whom to write, after "escreva": the address, or the form where the installation has none. */
export function ToWhom({ email }: { email: string }) {
  const linkClass = 'font-semibold text-brand underline underline-offset-3'
  return (
    <>
      <span className={whenGiven.contact}>
        para{' '}
        <a href={`mailto:${email}`} className={`${linkClass} break-all`}>
          {email}
        </a>
      </span>
      <span className={whenMissing.contact}>
        em{' '}
        <a href="/#contato" className={linkClass}>
          Fale com a Gente
        </a>
      </span>
    </>
  )
}
