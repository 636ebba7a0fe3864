import { ChevronDown, Stamp } from 'lucide-react'
import type { ReactElement } from 'react'
import { notifyWarning } from '../lib/notify.ts'
import { Button } from '../ui/button.tsx'
import { Menu, MenuItem, MenuLine, MenuNote } from '../ui/menu.tsx'
import type { Answer } from './answers.ts'
import type { DocumentKind } from './kinds.ts'

const noDocument = 'Selecione pelo menos um documento para manifestar.'

interface ManifestMenuProps {
  kind: DocumentKind
  /** False: there is nothing yet that could be answered, and the menu says so. */
  ready?: boolean
  /** Why an answer cannot be given. */
  reasonAgainst?: (code: number) => string | undefined
  onChoose: (answer: Answer) => void
  trigger?: ReactElement
  align?: 'start' | 'end'
  inline?: boolean
}

/** The answers that can be given; none is proposed before the others. */
export function ManifestMenu({
  kind,
  ready = true,
  reasonAgainst,
  onChoose,
  trigger,
  align = 'end',
  inline = false,
}: ManifestMenuProps) {
  return (
    <Menu
      align={align}
      inline={inline}
      trigger={
        trigger ?? (
          <Button variant="outline" size="sm">
            <Stamp aria-hidden className="size-4" />
            Manifestar
            <ChevronDown aria-hidden className="-mr-1 size-4" />
          </Button>
        )
      }
    >
      {!ready && (
        <>
          <MenuNote>{noDocument}</MenuNote>
          <MenuLine />
        </>
      )}
      {kind.answers.map((answer) => {
        const reason = reasonAgainst?.(answer.code)
        return (
          <MenuItem
            key={answer.code}
            note={reason}
            disabled={reason !== undefined}
            onSelect={() => (ready ? onChoose(answer) : notifyWarning(noDocument))}
          >
            {answer.label}
          </MenuItem>
        )
      })}
    </Menu>
  )
}
