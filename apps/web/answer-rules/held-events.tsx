import { listHeldEvents, releaseHeldEvents } from '@vigia/contract/answer-rules'
import { listPath } from '@vigia/contract/codes'
import { formatCount, formatInstantDate } from '@vigia/contract/text'
import { familyOf } from '@vigia/dfe/families/lookup'
import { Link } from 'react-router'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Loaded } from '../ui/loaded.tsx'

/** The events that wait for a release; nothing when none waits. */
export function HeldEvents() {
  const held = useScreenQuery(listHeldEvents, {})
  const action = useAction(releaseHeldEvents, { onSuccess: ({ message }) => notifySuccess(message) })
  if (!held.error && held.data?.desde == null) return null
  return (
    <section aria-labelledby="envio-retido" className="mb-8">
      <h2 id="envio-retido" className="mb-2 text-xl">
        O envio à SEFAZ ainda não foi liberado
      </h2>
      <Loaded query={held}>
        {({ desde, motivo, items, totalDeItens, impedimento }) => (
          <div className="grid justify-items-start gap-3">
            <p className="max-w-[70ch]">
              {motivo} Desde {formatInstantDate(desde ?? '')}, tudo o que for pedido espera aqui até alguém conferir:
              depois de registrada, uma manifestação não se apaga.{' '}
              {totalDeItens === 0
                ? 'Nada espera agora.'
                : `${formatCount(totalDeItens, 'manifestação sai', 'manifestações saem')} quando o envio for liberado:`}
            </p>
            {items.length > 0 && (
              <ul aria-label="O que sairia" className="ledger w-full [&>li]:border-line [&>li]:border-b">
                {items.map((item) => (
                  <li key={`${item.idDFe} ${item.descricao} ${item.pedidaEm}`} className="py-3">
                    <p className="break-words">
                      <span className="font-semibold">{item.descricao}</span> ·{' '}
                      <Link
                        to={`${listPath(item.tipoDFe)}?periodo=todos&busca=${item.chave}`}
                        className="text-brand underline underline-offset-3"
                      >
                        {familyOf(item.tipoDFe).name} {item.numero}
                      </Link>{' '}
                      de {item.emitente}, para {item.empresa}
                    </p>
                    <p className="break-words text-muted text-sm">{item.motivo}</p>
                  </li>
                ))}
              </ul>
            )}
            {totalDeItens > items.length && (
              <p className="text-muted text-sm">
                As {items.length} mais antigas de {totalDeItens}.
              </p>
            )}
            {impedimento === null ? (
              <Button busy={action.isPending} onClick={() => action.mutate({})}>
                Liberar o envio
              </Button>
            ) : (
              <p className="text-muted">{impedimento}</p>
            )}
          </div>
        )}
      </Loaded>
    </section>
  )
}
