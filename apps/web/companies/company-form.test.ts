import type { CompanyDetail } from '@vigia/contract/companies'
import { createFormControl } from 'react-hook-form'
import { expect, test } from 'vitest'
import {
  type CompanyFields,
  changedNames,
  companyResolver,
  takeAsSaved,
  toFields,
  toForm,
  toUpdate,
} from './company-form.ts'

const fields: CompanyFields = {
  RazaoSocial: 'Papelaria Sol',
  Email: '',
  Uf: '35',
  SincronizacaoAutomatica: true,
  ConfiguracoesNfe: {
    Emitente: true,
    Destinatario: true,
    Transportador: false,
    Terceiro: true,
    ManifestarCienciaAutomaticamente: false,
  },
  ConfiguracoesCte: {
    Emitente: true,
    Remetente: true,
    Destinatario: true,
    Expedidor: true,
    Recebedor: true,
    Tomador: true,
    Terceiro: true,
  },
  CertificadoDigital: { Certificado: undefined, Senha: 'guardada pelo navegador' },
}
const judge = (part: Partial<CompanyFields>) =>
  companyResolver({ ...fields, ...part }, undefined, { fields: {}, shouldUseNativeValidation: false })

test('the password is sent only with a new certificate', () => {
  expect(Object.keys(toForm(fields, '7')).filter((name) => name.startsWith('CertificadoDigital'))).toEqual([])
  const Certificado = new File(['x'], 'nova.pfx')
  expect(toForm({ ...fields, CertificadoDigital: { Certificado, Senha: 'certa' } }, '7')).toMatchObject({
    IdEmpresa: '7',
    'ConfiguracoesNfe.Transportador': false,
    'CertificadoDigital.Certificado': Certificado,
    'CertificadoDigital.Senha': 'certa',
  })
})

// The company before changes by another person.
const fresh: CompanyDetail = {
  razaoSocial: 'Papelaria Sol',
  cnpj: '12ABC34501DE35',
  email: '',
  sincronizacaoAutomatica: true,
  empresaUf: { codUf: 35, uf: 'SP' },
  dataValidadeCertificadoDigital: null,
  configuracaoNFe: {
    emitenteNFe: true,
    destinatarioNFe: true,
    transportadorNFe: false,
    terceiroNFe: true,
    manifestarCienciaAutomaticamente: false,
    ultimoNsu: '',
    mensagemSincronizacao: '',
  },
  configuracaoCTe: {
    emitenteCTe: true,
    remetenteCTe: true,
    destinatarioCTe: true,
    expedidorCTe: true,
    recebedorCTe: true,
    tomadorCTe: true,
    terceiroCTe: true,
    ultimoNsu: '',
    mensagemSincronizacao: '',
  },
  ativa: true,
  captura: [],
  certificado: null,
  cienciaAutomatica: null,
  temLogo: false,
}
const everyField = [
  'IdEmpresa',
  'RazaoSocial',
  'Email',
  'Uf',
  'SincronizacaoAutomatica',
  ...['Emitente', 'Destinatario', 'Transportador', 'Terceiro', 'ManifestarCienciaAutomaticamente'].map(
    (name) => `ConfiguracoesNfe.${name}`,
  ),
  ...['Emitente', 'Remetente', 'Destinatario', 'Expedidor', 'Recebedor', 'Tomador', 'Terceiro'].map(
    (name) => `ConfiguracoesCte.${name}`,
  ),
]

test('a save sends every field, also when nothing was changed', () => {
  const sent = toUpdate(fields, [], fresh, '7')
  expect(Object.keys(sent).toSorted()).toEqual(everyField.toSorted())
  expect(sent).toEqual(toForm({ ...toFields(fresh) }, '7'))
  const CertificadoDigital = { Certificado: new File(['x'], 'nova.pfx'), Senha: 'certa' }
  expect(toUpdate({ ...fields, CertificadoDigital }, [], fresh, '7')).toMatchObject({
    'CertificadoDigital.Certificado': CertificadoDigital.Certificado,
    'CertificadoDigital.Senha': 'certa',
  })
})

test('changed fields are sent as typed, the others with what somebody else saved meanwhile', () => {
  const theirs: CompanyDetail = {
    ...fresh,
    razaoSocial: 'Papelaria Lua',
    email: 'lua@exemplo.com',
    empresaUf: { codUf: 41, uf: 'PR' },
    configuracaoCTe: { ...fresh.configuracaoCTe, tomadorCTe: false },
  }
  const mine = {
    ...fields,
    Email: 'sol@exemplo.com',
    ConfiguracoesNfe: { ...fields.ConfiguracoesNfe, Terceiro: false },
  }
  expect(toUpdate(mine, ['Email', 'ConfiguracoesNfe.Terceiro'], theirs, '7')).toEqual({
    ...toForm(toFields(theirs), '7'),
    Email: 'sol@exemplo.com',
    'ConfiguracoesNfe.Terceiro': false,
  })
})

test.each([
  ['turned off elsewhere stays off', true, false, false, false],
  ['turned on elsewhere stays on', false, false, true, true],
  ['turned on here goes on', true, true, false, true],
  ['turned off here goes off', false, true, true, false],
  ['off everywhere stays off', false, false, false, false],
])('automatic Ciência %s', (_, onPage, touched, now, sent) => {
  const name = 'ConfiguracoesNfe.ManifestarCienciaAutomaticamente'
  const mine = {
    ...fields,
    ConfiguracoesNfe: { ...fields.ConfiguracoesNfe, ManifestarCienciaAutomaticamente: onPage },
  }
  const theirs = { ...fresh, configuracaoNFe: { ...fresh.configuracaoNFe, manifestarCienciaAutomaticamente: now } }
  const dirty = { Email: true, ConfiguracoesNfe: { ManifestarCienciaAutomaticamente: touched } }
  expect(toUpdate(mine, changedNames(mine, dirty), theirs, '7')[name]).toBe(sent)
})

test('the certificate does not count as a changed field: it is always sent', () => {
  const dirty = { Email: true, Uf: false, CertificadoDigital: { Senha: true } }
  const CertificadoDigital = { Certificado: new File(['x'], 'nova.pfx'), Senha: 'certa' }
  expect(changedNames({ ...fields, CertificadoDigital }, dirty)).toEqual(['Email'])
})

test('what is typed during the request stays unsaved', () => {
  const { formControl: form } = createFormControl<CompanyFields>({ defaultValues: fields })
  let dirty: unknown
  form.subscribe({ formState: { isDirty: true, dirtyFields: true }, callback: (state) => (dirty = state.dirtyFields) })
  const names = ['RazaoSocial', 'Email', 'ConfiguracoesNfe.Transportador'] as const
  for (const name of [...names, 'Uf', 'CertificadoDigital.Certificado', 'CertificadoDigital.Senha'] as const)
    form.register(name)
  const Certificado = new File(['x'], 'nova.pfx')
  form.setValue('Email', 'sol@exemplo.com', { shouldDirty: true })
  form.setValue('ConfiguracoesNfe.Transportador', true, { shouldDirty: true })
  form.setValue('CertificadoDigital', { Certificado, Senha: 'certa' }, { shouldDirty: true })
  const sent = structuredClone({ ...form.getValues(), CertificadoDigital: undefined })
  form.setValue('Email', 'lua@exemplo.com', { shouldDirty: true })
  form.setValue('Uf', '41', { shouldDirty: true })
  takeAsSaved(form, { ...sent, CertificadoDigital: { Certificado, Senha: 'certa' } }, [...names])
  expect(form.getValues()).toMatchObject({
    Email: 'lua@exemplo.com',
    Uf: '41',
    ConfiguracoesNfe: { Transportador: true },
    CertificadoDigital: { Certificado: undefined },
  })
  expect(dirty).toMatchObject({ Email: true, Uf: true })
  expect(dirty).not.toHaveProperty('ConfiguracoesNfe.Transportador')
})

test('the messages are the contract’s, each at its field', async () => {
  expect((await judge({})).errors).toEqual({})
  expect((await judge({ RazaoSocial: ' ' })).errors.RazaoSocial?.message).toBe('Razão social é obrigatória')
  expect((await judge({ Email: 'a@b' })).errors.Email?.message).toBe('Email inválido')
  const Certificado = new File(['x'], 'nova.pfx')
  expect((await judge({ CertificadoDigital: { Certificado, Senha: '' } })).errors).toEqual({})
})
