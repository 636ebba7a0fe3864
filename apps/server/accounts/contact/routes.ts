import { sendContact } from '@vigia/contract/site'
import { handle } from '../../platform/http/http.ts'
import { countTry, type Limit, networkOf } from '../../platform/http/throttle.ts'
import { keepMessage } from './contact.ts'

const perAddress: Limit = { name: 'contact by address', times: 10, withinMs: 3_600_000 }

export const contactRoutes = [
  handle(sendContact, async (ctx, { body, caller }) => {
    await countTry(ctx, perAddress, networkOf(caller.address))
    await keepMessage(ctx, {
      name: body.nome,
      email: body.email,
      phone: body.celular,
      company: body.empresa,
      message: body.mensagem,
      suspect: Boolean(body.confirmacao?.trim()),
    })
    return {
      data: null,
      message: `Recebemos sua mensagem. Quando respondermos, será pelo e-mail ${body.email}.`,
    }
  }),
]
