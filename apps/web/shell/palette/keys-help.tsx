import { Fragment, useState } from 'react'
import { Checkbox } from '../../ui/form/checkbox.tsx'
import { areScreenKeysOn, setScreenKeys } from '../../ui/hooks/screen-keys.ts'
import { Dialog } from '../../ui/overlay/dialog.tsx'

const keys: readonly [string, readonly [keys: string[], does: string][]][] = [
  [
    'Em toda parte',
    [
      [['Ctrl', 'K'], 'Ir para uma tela, empresa, fornecedor ou nota'],
      [['Ctrl', 'B'], 'Abrir e fechar a navegação'],
      [['?'], 'Estas teclas'],
    ],
  ],
  [
    'Nas listas de documentos',
    [
      [['/'], 'Pesquisar'],
      [['j'], 'Próximo documento'],
      [['k'], 'Documento anterior'],
      [['x'], 'Selecionar o documento'],
      [['← →'], 'Selecionar, copiar a chave e visualizar, na linha'],
      [['Enter'], 'Abrir o documento'],
    ],
  ],
  [
    'Em Empresas',
    [
      [['j'], 'Próxima empresa'],
      [['k'], 'Empresa anterior'],
      [['x'], 'Selecionar a empresa'],
      [['← →'], 'Selecionar, sincronizar e editar, na linha'],
      [['Enter'], 'Abrir a empresa'],
    ],
  ],
]

/** The keys that do something, behind "?". */
export function KeysHelp({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [on, setOn] = useState(areScreenKeysOn)
  return (
    <Dialog open={open} onClose={onClose} title="Teclas">
      <div className="grid gap-5 overflow-y-auto px-5 py-4">
        {keys.map(([title, lines]) => (
          <section key={title} aria-label={title}>
            <h3 className="mb-1 font-semibold">{title}</h3>
            <dl className="[&>div]:border-line [&>div]:border-b">
              {lines.map(([combination, does]) => (
                <div key={does} className="flex min-h-8 items-center justify-between gap-4 py-1">
                  <dt>{does}</dt>
                  <dd className="flex shrink-0 items-center gap-1">
                    {combination.map((key, index) => (
                      <Fragment key={key}>
                        {index > 0 && '+'}
                        <kbd className="rounded-[4px] border border-line px-1.5 font-sans text-muted text-sm">
                          {key}
                        </kbd>
                      </Fragment>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <Checkbox
          label="Usar as teclas de uma letra só"
          checked={on}
          onChange={({ target }) => {
            setScreenKeys(target.checked)
            setOn(target.checked)
          }}
        />
      </div>
    </Dialog>
  )
}
