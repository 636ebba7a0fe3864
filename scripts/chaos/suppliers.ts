import type { ListRow } from '../../tests/support/client.ts'
import type { Chance } from './chance.ts'
import type { Installation } from './installation.ts'
import { sleep } from './processes.ts'

/** Suppliers who cancel a note now and then, whatever its destinatário is about to do with it; until `signal`. */
export async function cancelNotes(
  { authority, companies }: Installation,
  { chance, everyMs }: { chance: Chance; everyMs: number },
  signal: AbortSignal,
): Promise<void> {
  for (let number = 1; ; number++) {
    await sleep(chance.between(0, 2 * everyMs), signal)
    if (signal.aborted) return
    const { client, id } = chance.pick(companies)
    const { body } = await client.call<{ items: ListRow[] }>(
      'GET',
      `/v1/api/DocumentosFiscais?TipoDFe=0&IdEmpresa=${id}`,
    )
    if (!body.success) continue
    const open = body.data.items.filter(({ status }) => status.codigoEvento !== cancelamento)
    if (open.length > 0) await authority.receive(cancellation(chance.pick(open).chave, number))
  }
}

const cancelamento = 110111

// As the authority keeps it. Nobody verifies the signature of a received event, so there is none.
function cancellation(chave: string, number: number): string {
  const now = `${new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 19)}-03:00`
  const [cUF, cnpj] = [chave.slice(0, 2), chave.slice(6, 20)]
  const about = `<chNFe>${chave}</chNFe>`
  const kind = `<tpEvento>${cancelamento}</tpEvento>`
  const nProt = (prefix: string) => `<nProt>${prefix}${cUF}26${String(number).padStart(10, '0')}</nProt>`
  return `<procEventoNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><evento versao="1.00"><infEvento Id="ID${cancelamento}${chave}01"><cOrgao>${cUF}</cOrgao><tpAmb>2</tpAmb><CNPJ>${cnpj}</CNPJ>${about}<dhEvento>${now}</dhEvento>${kind}<nSeqEvento>1</nSeqEvento><verEvento>1.00</verEvento><detEvento versao="1.00"><descEvento>Cancelamento</descEvento>${nProt('1')}<xJust>Pedido cancelado pelo comprador</xJust></detEvento></infEvento></evento><retEvento versao="1.00"><infEvento><tpAmb>2</tpAmb><verAplic>CAOS</verAplic><cOrgao>${cUF}</cOrgao><cStat>135</cStat><xMotivo>Evento registrado e vinculado a NF-e</xMotivo>${about}${kind}<xEvento>Cancelamento registrado</xEvento><nSeqEvento>1</nSeqEvento><dhRegEvento>${now}</dhRegEvento>${nProt('3')}</infEvento></retEvento></procEventoNFe>`
}
