import { notifyWarning } from '../lib/notify.ts'
import { Menu, MenuItem, MenuLine, MenuNote } from '../ui/menu.tsx'
import type { Opening } from '../ui/opener.tsx'
import type { Answer } from './answers.ts'
import type { DocumentKind } from './kinds.ts'

const noDocument = 'Selecione pelo menos um documento para manifestar.'

export interface AnswersMenuProps extends Opening {
  kind: DocumentKind
  /** False: there is nothing yet that could be answered, and the menu says so. */
  ready?: boolean
  /** Why an answer cannot be given. */
  reasonAgainst?: (code: number) => string | undefined
  onChoose: (answer: Answer) => void
  align?: 'start' | 'end'
  inline?: boolean
}

/** What a `ManifestMenu` opens. */
export function AnswersMenu({ kind, ready = true, reasonAgainst, onChoose, ...menu }: AnswersMenuProps) {
  return (
    <Menu {...menu}>
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
