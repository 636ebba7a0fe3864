import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DocumentFacts, Party } from './facts.ts'
import { primaryRole, roleNames, rolesOf, unnamedRole } from './roles.ts'

const company = '44555666000181'
const branch = '44555666000262'

const facts = (type: 'nfe' | 'cte', parties: Party[], complete = true): DocumentFacts => ({
  kind: 'document',
  type,
  root: type === 'nfe' ? 'nfeProc' : 'cteProc',
  complete,
  chave: '35260811222333000181550010000123451876543214',
  mod: type === 'nfe' ? '55' : '57',
  serie: 1,
  numero: 12345,
  issuedAt: '2026-08-10T09:15:00-03:00',
  issuerTaxId: '11222333000181',
  issuerName: 'FORNECEDOR',
  amount: '1',
  parties,
  tpAmb: '1',
  situation: 'authorized',
})

const party = (role: number, taxId = company): Party => ({ role, taxId })
const mask = (...roles: number[]) => roles.reduce((sum, role) => sum | (1 << role), 0)

describe('rolesOf', () => {
  test('collects every role', () => {
    const document = facts('cte', [party(0, '77888999000181'), party(7), party(1), party(3)])
    expect(rolesOf(document, company)).toBe(mask(7, 1, 3))
  })

  test('compares all 14 positions: a branch is another company', () => {
    const document = facts('nfe', [party(1, branch), party(2)])
    expect(rolesOf(document, company)).toBe(mask(2))
    expect(rolesOf(document, branch)).toBe(mask(1))
  })

  test('is Terceiro when nothing matches', () => {
    const roles = rolesOf(facts('nfe', [party(0, branch)]), company)
    expect(roles).toBe(mask(unnamedRole))
    expect(primaryRole('nfe', roles)).toBe(3)
    expect(primaryRole('cte', roles)).toBe(3)
    // An event may still add a role.
    expect(primaryRole('nfe', roles | mask(2))).toBe(2)
  })

  test('is Destinatário for a resumo', () => {
    expect(rolesOf(facts('nfe', [party(0, '11222333000181')], false), company)).toBe(mask(1))
    expect(rolesOf(facts('nfe', [party(0)], false), company)).toBe(mask(0, 1))
  })
})

describe('primaryRole', () => {
  test('NF-e: emitente, destinatário, transportador, terceiro', () => {
    expect(primaryRole('nfe', mask(0, 1, 2, 3))).toBe(0)
    expect(primaryRole('nfe', mask(1, 2, 3))).toBe(1)
    expect(primaryRole('nfe', mask(2, 3))).toBe(2)
    expect(primaryRole('nfe', mask(3))).toBe(3)
  })

  test('CT-e: emitente, tomador, remetente, destinatário, expedidor, recebedor, terceiro', () => {
    const order = [0, 7, 4, 1, 5, 6, 3]
    order.forEach((role, index) => {
      expect(primaryRole('cte', mask(...order.slice(index)))).toBe(role)
    })
  })

  test('is one of the roles held', () => {
    const held = fc.subarray([0, 1, 3, 4, 5, 6, 7], { minLength: 1 })
    fc.assert(fc.property(held, (roles) => roles.includes(primaryRole('cte', mask(...roles)))))
    expect(primaryRole('nfe', 0)).toBe(3)
  })

  test('each code has a name', () => {
    expect(roleNames).toHaveLength(8)
  })
})
