import { shownIfSet, shownIfUnset } from '../lib/site.ts'
import { buttonClass } from '../ui/button.tsx'
import { Popup, PopupActions } from './popup.tsx'

export const writeToUsId = 'escreva'

/** Content of "Fale com a Gente" while the script of the form is not loaded. */
export function WriteToUs({ email }: { email: string }) {
  return (
    <Popup id={writeToUsId} title="Escreva para nós">
      <div className="grid gap-2 px-5 py-5">
        <p className={shownIfSet.contact}>
          Escreva para{' '}
          <a href={`mailto:${email}`} className="font-semibold text-brand underline underline-offset-3">
            {email}
          </a>
          . A resposta vai para o seu e-mail.
        </p>
        <p className={shownIfSet.contact}>O formulário desta página precisa de JavaScript, e ele não chegou a abrir.</p>
        <p className={shownIfUnset.contact}>
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
