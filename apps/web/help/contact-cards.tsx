import { Mail, MessageCircle, SquarePen } from 'lucide-react'
import type { ReactNode } from 'react'
import { useContact } from '../lib/contact.ts'
import { site } from '../lib/site.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'

/** Three ways to contact a person, without a promised response time (section 2). */
export function ContactCards() {
  const contact = useContact()
  const { contactEmail, whatsapp } = site
  const form = (words: string) => (
    <Button variant="outline" aria-haspopup="dialog" onClick={contact.show}>
      {words}
    </Button>
  )
  return (
    <section aria-labelledby="contato-titulo" className="mt-6">
      <h2 id="contato-titulo" className="pb-2 text-lg">
        Falar com uma pessoa
      </h2>
      <ul className="ledger grid md:grid-cols-3">
        <Card
          icon={<Mail aria-hidden />}
          title="E-mail"
          note="Respondemos por ordem de chegada. O prazo depende de quem cuida desta instalação."
        >
          {contactEmail ? (
            <span className="flex min-w-0 items-center gap-1">
              <a
                href={`mailto:${contactEmail}`}
                className="min-w-0 break-words font-semibold text-brand underline underline-offset-3"
              >
                {contactEmail}
              </a>
              <CopyButton text={contactEmail} label="Copiar o e-mail" />
            </span>
          ) : (
            form('Escrever pelo formulário')
          )}
        </Card>
        <Card
          icon={<MessageCircle aria-hidden />}
          title="WhatsApp"
          note={
            whatsapp
              ? 'Para o que é rápido. Fora do horário de quem atende, a resposta vem depois. Não envie senhas nem certificados.'
              : 'Este canal não está ligado nesta instalação. O formulário chega às mesmas pessoas, que respondem por e-mail, por ordem de chegada.'
          }
        >
          {whatsapp ? (
            <a
              href={`https://wa.me/${whatsapp}`}
              target="_blank"
              rel="noreferrer"
              className={buttonClass({ variant: 'outline' })}
            >
              Abrir o WhatsApp
            </a>
          ) : (
            form('Escrever pelo formulário')
          )}
        </Card>
        <Card
          icon={<SquarePen aria-hidden />}
          title="Formulário"
          note="Já vai com o seu nome e e-mail. A resposta chega no seu e-mail, sem prazo garantido."
        >
          {form('Fale com a Gente')}
        </Card>
      </ul>
    </section>
  )
}

interface CardProps {
  icon: ReactNode
  title: string
  note: string
  children: ReactNode
}

function Card({ icon, title, note, children }: CardProps) {
  return (
    <li className="flex flex-col gap-3 border-line border-b py-4 md:border-l md:px-5 md:first:border-l-0 md:first:pl-0 md:last:pr-0">
      <div className="flex-1">
        <h3 className="flex items-center gap-2 [&_svg]:size-4.5 [&_svg]:text-muted">
          {icon}
          {title}
        </h3>
        <p className="mt-1 text-muted">{note}</p>
      </div>
      <div className="flex min-h-9 items-center">{children}</div>
    </li>
  )
}
