import { peopleMax } from '@vigia/contract/forms'
import type { RouteData } from '@vigia/contract/route'
import { getTeam, invite } from '@vigia/contract/team'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useScreenQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { Invitations } from './invitations.tsx'
import { People } from './people.tsx'
import { InviteDialog } from './rights-dialogs.tsx'
import { WorkspaceSettings } from './workspace-settings.tsx'

/** Members of the workspace with their rights, and invitations. */
export function TeamPage() {
  const mayManage = useMay('administrador')
  return (
    <Page title="Equipe" site={productName} subtitle="Pessoas do escritório e o que cada uma pode fazer.">
      {mayManage ? (
        <Team />
      ) : (
        <Notice tone="info" title="A equipe é cuidada por quem administra o workspace.">
          Peça a essa pessoa o que faltar ao seu acesso. Para sair do workspace, use "Minha conta".
        </Notice>
      )}
    </Page>
  )
}

function Team() {
  const team = useScreenQuery(getTeam, {})
  return (
    <Changes by={invite}>
      <Loaded query={team}>{(data) => <TeamSections {...data} />}</Loaded>
    </Changes>
  )
}

function TeamSections({ nome, exigeSegundoFator, pessoas, convites }: RouteData<typeof getTeam>) {
  const [inviting, setInviting] = useState(false)
  const isFull = pessoas.length + convites.length >= peopleMax
  return (
    <>
      <section aria-labelledby="pessoas-titulo" className="mb-12">
        <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
          <h2 id="pessoas-titulo" className="text-lg">
            Pessoas
          </h2>
          <Button onClick={() => setInviting(true)} disabled={isFull}>
            <UserPlus aria-hidden className="size-4" />
            Convidar
          </Button>
        </div>
        {isFull && (
          <p className="mb-3 text-muted">
            Um workspace tem até {peopleMax} pessoas, com as convidadas. Para convidar outra, tire antes uma.
          </p>
        )}
        <People people={pessoas} />
      </section>
      {convites.length > 0 && (
        <section aria-labelledby="convites-titulo" className="mb-12">
          <h2 id="convites-titulo" className="mb-4 text-lg">
            Convites
          </h2>
          <Invitations invitations={convites} />
        </section>
      )}
      <section aria-labelledby="workspace-titulo" className="mb-12">
        <h2 id="workspace-titulo" className="mb-4 text-lg">
          Workspace
        </h2>
        <WorkspaceSettings key={nome} name={nome} requiresFactor={exigeSegundoFator} />
      </section>
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </>
  )
}
