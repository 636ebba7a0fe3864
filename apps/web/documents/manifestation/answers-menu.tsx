import type { AnswerType } from '../../lib/answer-types.ts'
import type { DocumentKind } from '../../lib/kinds.ts'
import { notifyWarning } from '../../lib/notify.ts'
import type { TriggerProps } from '../../ui/overlay/lazy-with-trigger.tsx'
import { Menu, MenuItem, MenuLine, MenuNote } from '../../ui/overlay/menu.tsx'

const noDocument = 'Selecione pelo menos um documento para manifestar.'

export interface AnswersMenuProps extends TriggerProps {
  kind: DocumentKind
  /** False: no document is selected, and the menu says so. */
  ready?: boolean
  /** Why an answer cannot be given. */
  reasonAgainst?: (code: number) => string | undefined
  onChoose: (answer: AnswerType) => void
  align?: 'start' | 'end'
  inline?: boolean
}

/** The lazy content of `ManifestMenu`. */
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
