import { whenGiven, whenMissing } from '../lib/given.ts'
import { buttonClass } from '../ui/button.tsx'
import { Popup, PopupActions } from './popup.tsx'

export const writeToUsId = 'escreva'

/** What "Fale com a Gente" opens while there is no script for the form. */
export function WriteToUs({ email }: { email: string }) {
  return (
    <Popup id={writeToUsId} title="Escreva para nós">
      <div className="grid gap-2 px-5 py-5">
        <p className={whenGiven.contact}>
          Escreva para{' '}
          <a href={`mailto:${email}`} className="font-semibold text-brand underline underline-offset-3">
            {email}
          </a>
          . A resposta vai para o seu e-mail.
        </p>
        <p className={whenGiven.contact}>O formulário desta página precisa de JavaScript, e ele não chegou a abrir.</p>
        <p className={whenMissing.contact}>
          O formulário precisa de JavaScript, e ele não chegou a abrir. Ative-o no navegador e recarregue a página.
        </p>
      </div>
      <PopupActions>
        <button type="submit" className={buttonClass({ variant: 'outline' })}>
          Fechar
        </button>
      </PopupActions>
    </Popup>
  )
}
