import { listSystemJobs } from '@vigia/contract/system'
import { formatMoment } from '@vigia/contract/text'
import { useScreenQuery } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { useNow } from '../ui/hooks/clock.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'

/** Jobs of the installation, for its administrators where it has one workspace. */
export function SystemPage() {
  const now = useNow()
  const jobs = useScreenQuery(listSystemJobs, {}, { refreshMs: 15_000 })
  return (
    <Page
      title="Trabalhos do sistema"
      site={productName}
      subtitle="O que o sistema tem a fazer, o que falha e quando é tentado de novo."
    >
      <Loaded query={jobs}>
        {({ items, impedimento }) =>
          impedimento !== null ? (
            <p className="max-w-[70ch]">{impedimento}</p>
          ) : (
            <div className="ledger overflow-x-auto">
              <table className="w-full">
                <thead>
                  <tr className="border-line border-b text-left">
                    <th scope="col" className="py-2 pr-4">
                      Trabalho
                    </th>
                    <th scope="col" className="py-2 pr-4">
                      Na fila
                    </th>
                    <th scope="col" className="py-2 pr-4">
                      Agora
                    </th>
                    <th scope="col" className="py-2 pr-4">
                      Com falha
                    </th>
                    <th scope="col" className="py-2 pr-4">
                      Próximo
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {items.map(({ trabalho, nome, esperam, executando, falhando, proximo, erro }) => (
                    <tr key={trabalho} className="border-line border-b align-top">
                      <th scope="row" className="py-2 pr-4 text-left font-normal">
                        {nome}
                        {erro && <p className="break-words text-muted text-sm">{erro}</p>}
                      </th>
                      <td className="py-2 pr-4">{esperam}</td>
                      <td className="py-2 pr-4">{executando}</td>
                      <td className={`py-2 pr-4 ${falhando > 0 ? 'font-semibold text-error' : ''}`}>{falhando}</td>
                      <td className="py-2">{proximo ? formatMoment(proximo, now) : ''}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Page>
  )
}
