import { formatCount } from '@vigia/contract/text'
import { ChevronDown, Search } from 'lucide-react'
import { Fragment, useDeferredValue, useEffect, useId, useState } from 'react'
import { Link, NavigationType, useLocation, useNavigationType, useSearchParams } from 'react-router'
import { useContact } from '../lib/contact.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { Input } from '../ui/form/input.tsx'
import { useDebounced } from '../ui/hooks/debounce.ts'
import { Page } from '../ui/page.tsx'
import { type Article, questions, situations, words } from './articles.ts'
import { ContactCards } from './contact-cards.tsx'
import { guides } from './guides.ts'
import { type Found, markTerms, searchArticles, termsOf } from './search.ts'

const library: [kind: string, Article[]][] = [
  ['Pergunta frequente', [...questions]],
  ['Mensagem ou situação', [...situations]],
  ['Guia', guides.flatMap(({ steps }) => steps)],
  ['Palavra', [...words]],
]

export function HelpPage() {
  const { text, search } = useSearchText()
  const asked = useDeferredValue(text.trim())
  const found = asked ? searchArticles(library, asked) : null
  useNamedArticle(found === null)
  return (
    <Page
      title="Ajuda"
      site={productName}
      subtitle="Respostas curtas, o que cada mensagem quer dizer e como falar com uma pessoa."
    >
      <search className="block max-w-xl">
        <label htmlFor="help-search" className="sr-only">
          Buscar na ajuda
        </label>
        <div className="relative">
          <Search aria-hidden className="pointer-events-none absolute inset-y-0 left-3.5 my-auto size-4.5 text-muted" />
          <Input
            id="help-search"
            type="search"
            value={text}
            maxLength={100}
            autoComplete="off"
            spellCheck={false}
            placeholder="656, certificado vencido, só resumo…"
            className="h-11! pl-10.5! text-lg!"
            onChange={(event) => search(event.target.value)}
          />
        </div>
        <Count found={found} asked={asked} />
      </search>
      {found ? <Results found={found} asked={asked} onClear={() => search('')} /> : <Everything />}
    </Page>
  )
}

// Typing writes the address; going back or following a link restores the field from it.
function useSearchText() {
  const [params, setParams] = useSearchParams()
  const asked = params.get('busca') ?? ''
  const [text, setText] = useState(asked)
  const { key } = useLocation()
  const typed = useNavigationType() === NavigationType.Replace
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new place in the history changes the field.
  useEffect(() => {
    if (!typed) setText(asked)
  }, [key])
  const search = (next: string) => {
    setText(next)
    setParams(next.trim() ? { busca: next.trim() } : {}, { replace: true })
  }
  return { text, search }
}

// Announced after a pause in typing, because a count after every letter would be noise.
function Count({ found, asked }: { found: readonly Found[] | null; asked: string }) {
  const sentence = found
    ? `${found.length === 0 ? 'Nenhum resultado' : formatCount(found.length, 'resultado', 'resultados')} para “${asked}”`
    : ''
  const said = useDebounced(sentence, 400)
  return (
    <>
      <p aria-hidden className="mt-2 min-h-5 text-muted">
        {sentence}
      </p>
      <p role="status" className="sr-only">
        {said}
      </p>
    </>
  )
}

// An address may name an article: /help#656.
function useNamedArticle(shown: boolean) {
  const { hash, key } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same address asked for again leads there again.
  useEffect(() => {
    const article = shown && hash ? document.getElementById(decodeURIComponent(hash.slice(1))) : null
    if (!article) return
    const details = article.closest('details')
    if (details) details.open = true
    article.scrollIntoView()
    details?.querySelector('summary')?.focus({ preventScroll: true })
  }, [hash, key, shown])
}

interface ResultsProps {
  found: readonly Found[]
  asked: string
  onClear: () => void
}

function Results({ found, asked, onClear }: ResultsProps) {
  const contact = useContact()
  const terms = termsOf(asked)
  return (
    <section aria-label="Resultados da busca" className="mt-4 max-w-3xl">
      <ul className="ledger [&>li]:border-line [&>li]:border-b">
        {found.map(({ article, kind }) => (
          <li key={`${kind} ${article.id}`} className="py-4">
            <p className="text-muted text-sm">{kind}</p>
            <h2 className="text-lg">
              <Marked text={article.title} terms={terms} />
              {article.code && (
                <span className="ml-2 font-normal text-muted text-sm">
                  código <Marked text={article.code} terms={terms} />
                </span>
              )}
            </h2>
            <ArticleBody article={article} terms={terms} />
          </li>
        ))}
        {found.length === 0 && (
          <li className="py-4">
            <p>
              Não encontramos nada com essas palavras. Tente o código que a mensagem mostra, ou menos palavras — ou
              conte para a gente o que aconteceu.
            </p>
          </li>
        )}
      </ul>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button variant="outline" onClick={onClear}>
          Limpar busca
        </Button>
        <Button variant="outline" aria-haspopup="dialog" onClick={contact.show}>
          Fale com a Gente
        </Button>
      </div>
    </section>
  )
}

function Everything() {
  return (
    <>
      <ContactCards />
      <div className="mt-10 grid grid-cols-[minmax(0,1fr)] gap-x-12 gap-y-10 lg:grid-cols-[minmax(0,1fr)_minmax(260px,340px)]">
        <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-10">
          <Foldables title="Perguntas frequentes" articles={questions} />
          <Foldables title="O que esta mensagem quer dizer?" articles={situations} />
        </div>
        <div className="grid content-start gap-10">
          {guides.map((guide) => (
            <Steps key={guide.title} {...guide} />
          ))}
        </div>
      </div>
      <section aria-labelledby="palavras" className="mt-10">
        <h2 id="palavras" className="pb-2 text-lg">
          Palavras do fisco, em português
        </h2>
        <dl className="ledger grid gap-x-12 md:grid-cols-2">
          {words.map(({ id, title, body }) => (
            <div key={id} id={id} className="scroll-mt-16 border-line border-b py-2.5">
              <dt className="font-semibold">{title}</dt>
              <dd className="text-muted">{body[0]}</dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  )
}

function Steps({ title, steps }: (typeof guides)[number]) {
  const heading = useId()
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading} className="pb-2 text-lg">
        {title}
      </h2>
      <ul className="ledger [&>li]:border-line [&>li]:border-b">
        {steps.map(({ id, title: step, body, link }) => (
          <li key={id} id={id} className="scroll-mt-16 py-2">
            <Link to={link.to} className="font-semibold text-brand underline underline-offset-3">
              {step}
            </Link>
            <p className="text-muted text-sm">{body[0]}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Foldables({ title, articles }: { title: string; articles: readonly Article[] }) {
  const heading = useId()
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading} className="pb-2 text-lg">
        {title}
      </h2>
      <div className="ledger">
        {articles.map((article) => (
          <details key={article.id} id={article.id} className="group scroll-mt-14 border-line border-b">
            <summary className="flex min-h-11 cursor-pointer list-none items-center gap-3 py-2 hover:bg-sunken focus-visible:-outline-offset-2 [&::-webkit-details-marker]:hidden">
              <h3 className="min-w-0 flex-1">
                {article.title}
                {article.code && <span className="ml-2 font-normal text-muted text-sm">código {article.code}</span>}
              </h3>
              <ChevronDown
                aria-hidden
                className="mr-1 size-4 shrink-0 text-muted transition-transform duration-150 group-open:rotate-180"
              />
            </summary>
            <div className="max-w-prose pb-4">
              <ArticleBody article={article} terms={[]} />
            </div>
          </details>
        ))}
      </div>
    </section>
  )
}

function ArticleBody({ article: { body, program, link }, terms }: { article: Article; terms: readonly string[] }) {
  return (
    <div className="mt-1 grid gap-2">
      {body.map((paragraph) => (
        <p key={paragraph}>
          <Marked text={paragraph} terms={terms} />
        </p>
      ))}
      {program && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: with the keyboard it is scrolled.
        <pre tabIndex={0} className="overflow-x-auto rounded-control bg-sunken px-3 py-2 text-sm">
          <code>{program}</code>
        </pre>
      )}
      {link && (
        <p>
          <Link to={link.to} className="font-semibold text-brand underline underline-offset-3">
            {link.words}
          </Link>
        </p>
      )}
    </div>
  )
}

function Marked({ text, terms }: { text: string; terms: readonly string[] }) {
  return markTerms(text, terms).map(({ text: piece, found }, index) =>
    found ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text.
      <mark key={index} className="rounded-[3px] bg-warning-soft px-0.5 text-ink">
        {piece}
      </mark>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text.
      <Fragment key={index}>{piece}</Fragment>
    ),
  )
}
