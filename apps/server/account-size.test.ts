import { readFile } from 'node:fs/promises'
import { answerRuleMax } from '@vigia/contract/codes'
import { batchMax } from '@vigia/contract/companies'
import { logoSizeMax, peopleMax } from '@vigia/contract/forms'
import { keptTextsMax } from '@vigia/contract/manifestation'
import { monthlyReportsMax } from '@vigia/contract/reports'
import { viewsMax } from '@vigia/contract/views'
import { families } from '@vigia/dfe/families/all'
import { expect, test } from 'vitest'
import { sessionsMax } from './accounts/sessions.ts'
import { passkeysMax } from './accounts/webauthn.ts'
import { batchLimits } from './companies/batches.ts'
import { unpaidCertificatesMax } from './companies/certificates.ts'
import { keysMax } from './companies/keys/keys.ts'
import { unpaidLogosMax } from './companies/logo.ts'
import { webhooksMax } from './notifications/webhooks/webhooks.ts'
import { useDatabase, useOwner } from './platform/database.testing.ts'

const client = await useOwner((await useDatabase()).url)

// Bytes of a row with its places in indexes, beside its long texts.
const row = 300
const companies = unpaidCertificatesMax
const ofCompanies = 8 * companies
// PEM of a file of the largest size, which is base64, and the sealed key.
const certificate = (batchMax.fileBytes * 4) / 3 + 4_000
// The table of files keeps name and sentence of each, in UTF-8.
const decidedFile = row + 4 * 255 + 500
const answerTypes = families.flatMap(({ answers }) => answers).length

/** Most bytes of each table that holds what a new account sets up by itself, without a document of the authority. */
const ownBytes: Record<string, number> = {
  account: peopleMax * 2 * row,
  account_company: peopleMax * companies * 100,
  account_directory: peopleMax * 2 * row,
  alert_setting: 50_000,
  alert_test: 100 * row,
  announcement_position: peopleMax * sessionsMax * row,
  announcement_reading: peopleMax * row,
  answer_rule:
    answerRuleMax.rules * (row + 40 * answerRuleMax.companies + 20 * answerRuleMax.issuers + 10 * answerRuleMax.cfops),
  answer_setting: row,
  api_key: keysMax * (row + ofCompanies),
  calendar_feed: peopleMax * row,
  capture_line: 2 * companies * row,
  capture_subscription: 2 * companies * row,
  certificate: unpaidCertificatesMax * (row + certificate),
  certificate_batch: batchLimits.kept * row + batchLimits.open * 8 * batchMax.passwordCharacters,
  certificate_file: batchLimits.waitingBytes + batchLimits.kept * batchMax.files * decidedFile,
  change_position: row,
  company: companies * 4 * row,
  company_family: 2 * companies * row,
  company_logo: unpaidLogosMax * logoSizeMax.width * logoSizeMax.height * 3,
  first_view: peopleMax * 2 * row,
  invitation: peopleMax * (row + ofCompanies),
  letter_choice: peopleMax * row,
  manifestation_text: keptTextsMax * answerTypes * (row + 4_000),
  membership: peopleMax * row,
  monthly_report: peopleMax * monthlyReportsMax * row,
  passkey: peopleMax * passkeysMax * 5 * row,
  recovery_code: peopleMax * 10 * row,
  saved_view: viewsMax * (row + 2_000),
  second_factor: peopleMax * 2 * row,
  session: peopleMax * sessionsMax * 3 * row,
  token_directory: (peopleMax * (sessionsMax + passkeysMax) + keysMax) * row,
  webhook: webhooksMax * (3 * row + ofCompanies),
  workspace: 2 * row,
  workspace_directory: row,
  workspace_key: 2 * row,
}

/** Rows that a call, a letter or a login adds; what limits them is how often people may call. */
const ofCalls =
  'announcement audit certificate_use contact_message happening job mail mail_link notice throttle webhook_delivery'.split(
    ' ',
  )

/** Tables whose size depends on the documents that the authority holds for proved companies. */
const ofDocuments =
  /^(alert|alert_(known|news|verdict)|capture_(call|gap|refusal)|company_month|content(_(index|posting|segment|sum|term|unread))?|count_.+|document(_.+)?|export_part|freight(_.+)?|installment|issuer_certificate|outgoing_event(_call)?|partner(_contact)?|product(_sum)?|receipt|supplier)$/

/** One row each, or a few, whatever accounts there are. */
const ofInstallation = /^(circuit|clock_skew|erasure|installation(_key)?|migration|restore|storage_probe|trouble)$/

test('what one new account takes at its limits is added up, in every table, and stands in docs/security.md', async () => {
  const { rows } = await client.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition",
  )
  const known = (name: string) =>
    name in ownBytes || ofCalls.includes(name) || ofDocuments.test(name) || ofInstallation.test(name)
  const names = rows.map(({ name }) => name)
  // A new table says here what an account may put into it.
  expect(names.filter((name) => !known(name))).toEqual([])
  expect([...Object.keys(ownBytes), ...ofCalls].filter((name) => !names.includes(name))).toEqual([])
  const sum = Object.values(ownBytes).reduce((total, bytes) => total + bytes, 0)
  const text = await readFile(new URL('../../docs/security.md', import.meta.url), 'utf8')
  expect(text).toContain(`at most ${Math.ceil(sum / 10_000_000) * 10} MB`)
  expect(sum).toBeLessThan(250_000_000)
})
