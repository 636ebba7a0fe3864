import type { MemberRole } from '@vigia/contract/route'
import type { Proof } from '@vigia/sefaz/proof'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { ServiceCode } from './service.ts'

type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>
type Optional<T> = ColumnType<T, T | undefined, T>

interface InstallationTable {
  marked_at: Timestamp
  held_since: Optional<Date | null>
  held_why: Optional<string | null>
}
interface WorkspaceTable {
  id: Generated<number>
  public_id: Generated<string>
  name: string
  plan: number
  created_at: Timestamp
  trial_until: Timestamp
  paid_from: Optional<Date | null>
  paid_until: Optional<Date | null>
  paused_at: Optional<Date | null>
  review_at: Timestamp
  erase_at: Optional<Date | null>
  requires_factor: Generated<boolean>
}
interface AccountTable {
  workspace_id: number
  id: Generated<number>
  email: string
  name: string
  phone: Optional<string | null>
  password_hash: string | null
  created_at: Timestamp
  shared: Generated<boolean>
  entered_at: Optional<Date | null>
  email_proved_at: Optional<Date | null>
  new_email: Optional<string | null>
  new_email_until: Optional<Date | null>
  public_id: Generated<string>
  role: Generated<MemberRole>
  all_companies: Generated<boolean>
  access_until: Optional<Date | null>
  home_workspace_id: Optional<number | null>
  home_account_id: Optional<number | null>
  invited_by: Optional<number | null>
}
interface AccountCompanyTable {
  workspace_id: number
  account_id: number
}
interface MembershipTable {
  workspace_id: number
  account_id: number
  home_workspace_id: number
  home_account_id: number
}
interface InvitationTable {
  workspace_id: number
  id: Generated<number>
  public_id: Generated<string>
  email: string
  role: MemberRole
  company_ids: number[] | null
  access_until: Optional<Date | null>
  invited_by: number
  token_hash: Buffer
  sent_at: Timestamp
  expires_at: Timestamp
}
interface CalendarFeedTable {
  workspace_id: number
  account_id: number
  /** 0 deadlines of answers, 1 payments. */
  kind: Optional<number>
  token_hash: Buffer
  created_at: Timestamp
}
interface PasskeyTable {
  workspace_id: number
  account_id: number
  digest: Buffer
  public_id: Generated<string>
  credential_id: string
  public_key: Buffer
  counter: bigint
  transports: string[]
  name: string
  created_at: Timestamp
  used_at: Optional<Date | null>
}
interface AccountDirectoryTable {
  email: string
  workspace_id: number
  account_id: number
}
interface WorkspaceDirectoryTable {
  public_id: string
  workspace_id: number
}
interface TokenDirectoryTable {
  token_hash: Buffer
  workspace_id: number
}
interface SessionTable {
  token_hash: Buffer
  workspace_id: number
  account_id: number
  created_at: Timestamp
  expires_at: Timestamp
  public_id: Generated<string>
  address: Optional<string | null>
  agent: Optional<string | null>
  seen_at: Timestamp
  proved_at: Timestamp
  with_factor: Generated<boolean>
}
interface SecondFactorTable {
  workspace_id: number
  account_id: number
  secret: Buffer
  begun_at: Timestamp
  confirmed_at: Optional<Date | null>
  last_step: ColumnType<bigint, number | undefined, number>
}
interface RecoveryCodeTable {
  workspace_id: number
  account_id: number
  code_hash: Buffer
  used_at: Optional<Date | null>
}
/** What a link that a mail carries is for. */
export type LinkPurpose = 'password' | 'email' | 'new-email'
interface MailLinkTable {
  token_hash: Buffer
  workspace_id: number
  account_id: number
  purpose: LinkPurpose
  created_at: Timestamp
  expires_at: Timestamp
  used_at: Optional<Date | null>
  mail_id: Optional<bigint | null>
}
interface ThrottleTable {
  key: Buffer
  count: number
}
interface MailTable {
  id: Generated<bigint>
  workspace_id: Optional<number | null>
  kind: string
  recipient: string
  payload: ColumnType<unknown, string | undefined, string>
  state: Generated<'waiting' | 'sent' | 'failed' | 'dropped'>
  created_at: Timestamp
  next_at: Timestamp
  useless_at: Optional<Date | null>
  lease_until: Optional<Date | null>
  failures: Generated<number>
  problem: Optional<string | null>
  settled_at: Optional<Date | null>
}
interface NoticeTable {
  workspace_id: number
  key: string
  at: Timestamp
}
interface HappeningTable {
  workspace_id: number
  id: Generated<bigint>
  at: Timestamp
  what: string
  company_id: number | null
  payload: ColumnType<unknown, string | undefined, string>
  ready_at: Timestamp
  session_id: Optional<string | null>
}
interface AnnouncementTable {
  workspace_id: number
  id: Generated<bigint>
  at: Timestamp
  topic: string
  what: Optional<string | null>
  kind: 'sucesso' | 'error' | 'alert'
  header: string
  body: string
  link: Optional<string | null>
  useless_at: Optional<Date | null>
  session_id: Optional<string | null>
  company_ids: Optional<number[] | null>
}
interface ManifestationTextTable {
  workspace_id: number
  type: ServiceCode
  choice: number
  text: string
  kept_at: Timestamp
}
interface DocumentRemarkTable {
  workspace_id: number
  id: Generated<bigint>
  company_id: number
  document_id: bigint
  text: string
  written_by: number
  written_at: Timestamp
}
interface ProductTable {
  workspace_id: number
  id: Generated<number>
  issuer: string
  code: string
  name: string
  ncm: string
  unit: string
  gtin: string | null
}
interface AlertTable {
  workspace_id: number
  document_id: bigint
  company_id: number
  at: bigint
  score: number
  band: number
  state: Generated<'nova' | 'em-analise' | 'conhecida' | 'confirmada'>
  company_base: string
  issuer_base: string
  chave: string
  rules: string[]
  fired: ColumnType<unknown, string, string>
  learning: boolean
  judged_at: Timestamp
}
interface AlertNewsTable {
  workspace_id: number
  id: Generated<bigint>
  document_id: bigint
  company_id: number
  band: number
  at: Timestamp
}
interface LetterChoiceTable {
  workspace_id: number
  account_id: number
  alerts: Optional<'criticos' | 'criticos-e-resumo' | 'resumo' | 'nenhum' | null>
  deadlines: Optional<'diario' | 'semanal' | 'nenhum' | null>
  critical_id: Generated<bigint>
  critical_at: Optional<Date | null>
  digest_id: Generated<bigint>
  digest_at: Optional<Date | null>
  deadlines_at: Optional<Date | null>
  reports_at: Optional<Date | null>
}
interface AlertVerdictTable {
  workspace_id: number
  document_id: bigint
  judged_at: Timestamp
  id: Generated<bigint>
  score: number
  band: number
  rules: string[]
  text: string
}
interface AlertKnownTable {
  workspace_id: number
  id: Generated<bigint>
  company_id: number
  document_id: bigint
  ceiling: Optional<bigint | null>
  until: Timestamp
  said_by: number
  rule: string
  company_base: string
  issuer_base: string
}
interface SavedViewTable {
  workspace_id: number
  id: Generated<number>
  public_id: Generated<string>
  type: ServiceCode
  name: string
  address: string
  saved_by: number
  saved_at: Timestamp
}
interface FirstViewTable {
  workspace_id: number
  account_id: number
  type: ServiceCode
  view_id: number
}
interface ContactMessageTable {
  id: Generated<bigint>
  at: Timestamp
  name: string
  email: string
  phone: Optional<string | null>
  company: Optional<string | null>
  message: string
  suspect: boolean
}
interface AuditTable {
  workspace_id: number
  id: Generated<bigint>
  at: Timestamp
  account_id: number | null
  actor: string
  action: string
  description: string
  address: string | null
  search: string
  times: Generated<number>
}
interface ApiKeyTable {
  workspace_id: number
  id: Generated<number>
  public_id: Generated<string>
  name: string
  scopes: string[]
  start: string
  token_hash: Buffer | null
  created_by: number
  expires_at: Date | null
  used_at: Optional<Date | null>
  company_ids: Optional<number[] | null>
}
interface CompanyTable {
  workspace_id: number
  id: Generated<number>
  public_id: Generated<string>
  cnpj: string
  name: string
  search: string
  uf: number
  active: GeneratedAlways<boolean>
  archived_at: Optional<Date | null>
  created_at: Timestamp
  email: Optional<string | null>
  automatic: Generated<boolean>
  shown_nfe: Generated<number>
  shown_cte: Generated<number>
  acknowledges_since: Optional<Date | null>
  acknowledges_by: Optional<number | null>
}
interface CertificateTable {
  workspace_id: number
  id: Generated<number>
  company_id: number
  holder_cnpj: string
  holder_name: string
  issuer: string
  serial_number: string
  valid_from: Timestamp
  valid_to: Timestamp
  certificate_pem: string
  chain_pem: string[]
  key_encrypted: Buffer
  key_id: string
  uploaded_by: number
  uploaded_at: Timestamp
  replaced_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  refused_at: Optional<Date | null>
}
interface CertificateUseTable {
  workspace_id: number
  id: Generated<bigint>
  certificate_id: number
  at: Timestamp
  service: string
  purpose: string
}
interface WorkspaceKeyTable {
  workspace_id: number
  key_id: string
  wrapped: Buffer
  wrapper_id: string
}
interface InstallationKeyTable {
  purpose: string
  wrapped: Buffer
  wrapper_id: string
}
interface ReceiptTable {
  workspace_id: number
  company_id: number
  service: number
  nsu: bigint
  received_at: Timestamp
  schema: string
  problem: string | null
  unread: boolean
  content: Buffer
  issuer_certificate_id: Optional<number | null>
}
interface SupplierTable {
  workspace_id: number
  id: Generated<number>
  tax_id: string
  name: string
  search: string
}
interface DocumentTable {
  workspace_id: number
  company_id: number
  id: Generated<bigint>
  issued_at: string
  created_at: Timestamp
  authorized_at: Date | null
  nsu: bigint
  supplier_id: number
  number: number
  event_code: number
  type: number
  series: number
  issued_offset: number | null
  roles: number
  status: number
  base_status: number
  complete: boolean
  amount: string
  chave: string
  tp_cte: Optional<number | null>
}
interface DocumentExportTable {
  workspace_id: number
  id: Generated<bigint>
  requested_at: Timestamp
  request: ColumnType<unknown, string, string>
  account_id: number | null
  form: Generated<'zip' | 'pdf'>
  total: Generated<number>
  state: Generated<'waiting' | 'ready' | 'failed'>
  attempt: Generated<number>
  done: Generated<number>
  parts: Generated<number>
  bytes: Generated<bigint>
  problem: string | null
  lease_until: Timestamp | null
  company_ids: Optional<number[] | null>
}
interface ExportPartTable {
  workspace_id: number
  export_id: bigint
  n: number
}
interface CertificateBatchTable {
  workspace_id: number
  id: Generated<bigint>
  account_id: number
  account_name: string
  session_id: string
  address: string | null
  received_at: Timestamp
  total: number
  complete: Generated<boolean>
  passwords: Buffer | null
  ended_at: Optional<Date | null>
}
interface CertificateFileTable {
  workspace_id: number
  id: Generated<bigint>
  batch_id: bigint
  name: string
  digest: Buffer
  content: Buffer | null
  state: Generated<'waiting' | 'replaced' | 'registered' | 'unchanged' | 'failed'>
  message: Generated<string>
  company_id: Optional<number | null>
  attempt: Generated<number>
  lease_until: Timestamp | null
}
interface CompanyLogoTable {
  workspace_id: number
  company_id: number
  picture: Buffer
}
interface DocumentEventTable {
  workspace_id: number
  company_id: number
  chave: string
  tp_evento: number
  sequence: number
  orgao: number
  type: number
  rank: number
  status: number | null
  summary: boolean
  registered_at: Timestamp
  nsu: bigint
  protocol: string | null
  author: string | null
  description: string
  justification: string | null
  known: boolean
  roles: number
  undone: Generated<boolean>
  stated: Generated<boolean>
  proof: Optional<Proof | 'unable' | null>
}
interface CaptureLineTable {
  id: Generated<number>
  service: number
  cnpj: string
  last_nsu: Optional<bigint>
  max_nsu: Optional<bigint>
  next_at: ColumnType<Date | null, Date | string | null, Date | string | null>
  allowed_at: Timestamp
  lease_by: Optional<string | null>
  lease_until: ColumnType<Date | null, Date | null | undefined, Date | string | null>
  state: Optional<'waiting' | 'blocked' | 'failed' | 'stopped'>
  message: Optional<string>
  failures: Optional<number>
  last_success_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  catch_up: Optional<boolean>
  gap_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  asked_at: Optional<Date | null>
  automatic: Generated<boolean>
  wanted: Generated<boolean>
  catch_up_at: Timestamp
  lease_for: Optional<'first' | 'due' | 'copies' | 'gap' | 'check' | null>
  paused: Generated<boolean>
  told_state: Generated<'waiting' | 'blocked' | 'failed' | 'stopped'>
  trouble_since: Optional<Date | null>
  first_rank: Generated<number>
  asked_chave: Optional<string | null>
}
interface CaptureRefusalTable {
  line_id: number
  workspace_id: number
  certificate_id: number
  at: Timestamp
  rests_until: Timestamp
}
interface CaptureSubscriptionTable {
  line_id: number
  workspace_id: number
  company_id: number
  delivered_nsu: Optional<bigint>
  proved_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  last_failure: Optional<string | null>
  refused: Optional<string | null>
  paused: Generated<boolean>
}
interface CaptureCallTable {
  line_id: number
  id: Generated<bigint>
  at: Timestamp
  query: 'distNSU' | 'consNSU' | 'consChNFe'
  chave: Optional<string | null>
  nsu_before: bigint
  nsu_after: bigint
  c_stat: number | null
  x_motivo: string | null
  documents: Optional<number>
  bytes: Optional<number>
  duration_ms: Optional<number>
  error: string | null
  passed_from: Optional<bigint | null>
}
interface CaptureGapTable {
  line_id: number
  from_nsu: bigint
  to_nsu: bigint
  lost: Optional<boolean>
  passed: Generated<boolean>
}
interface CircuitTable {
  address: string
  failures: Optional<number>
  open_until: Optional<Date | null>
  since: Optional<Date | null>
  reason: Optional<string | null>
  detail: Optional<string | null>
}
interface TroubleTable {
  key: string
  since: Timestamp
  sentence: string
  ended_at: Optional<Date | null>
  told_at: Optional<Date | null>
}
interface OutgoingEventTable {
  workspace_id: number
  id: Generated<bigint>
  company_id: number
  document_id: bigint
  type: number
  cnpj: string
  chave: string
  tp_evento: number
  sequence: number
  state: Optional<'asked' | 'waiting' | 'sending' | 'registered' | 'rejected' | 'unconfirmed'>
  message: Optional<string>
  justification: string | null
  corrections: ColumnType<unknown, string | null | undefined, string | null> | null
  why: string
  rule_id: Optional<bigint | null>
  requested_by: number | null
  requested_at: Timestamp
  next_at: ColumnType<Date, Date | undefined, Date>
  lease_by: Optional<string | null>
  lease_until: Optional<Date | null>
  failures: Optional<number>
  signed_xml: Optional<string | null>
  sent_at: Optional<Date | null>
  c_stat: Optional<number | null>
  x_motivo: Optional<string | null>
  protocol: Optional<string | null>
  registered_at: Optional<Date | null>
  answer_xml: Optional<string | null>
  answered_at: Optional<Date | null>
  approved_by: Optional<number | null>
  approved_at: Optional<Date | null>
}
interface AnswerSettingTable {
  workspace_id: number
  two_from: string | null
  saved_by: number
  saved_at: Timestamp
}
interface AnswerRuleTable {
  workspace_id: number
  id: Generated<bigint>
  position: number
  name: string
  active: boolean
  answer: 'ciencia' | 'ciencia-apos' | 'perguntar' | 'sugerir-confirmacao' | 'preparar-desconhecimento'
  after_days: number | null
  conditions: ColumnType<unknown, string, string>
  saved_by: number
  saved_at: Timestamp
}
interface WebhookTable {
  workspace_id: number
  id: Generated<number>
  public_id: Generated<string>
  url: string
  kinds: string[]
  company_ids: number[] | null
  secret: Buffer
  old_secret: Optional<Buffer | null>
  created_at: Timestamp
  version: bigint
  paused_at: Optional<Date | null>
  problem: Optional<string | null>
  delivered_at: Optional<Date | null>
  failures: Optional<number>
  saved_by: Optional<number | null>
}
interface WebhookDeliveryTable {
  workspace_id: number
  id: Generated<bigint>
  public_id: Generated<string>
  webhook_id: number
  version: bigint | null
  document_id: bigint | null
  kind: string
  body: string
  state: Optional<'waiting' | 'delivered' | 'failed'>
  attempts: Optional<number>
  status: Optional<number | null>
  answer: Optional<string | null>
  problem: Optional<string | null>
}
interface OutgoingEventCallTable {
  workspace_id: number
  id: Generated<bigint>
  event_id: bigint
  at: Timestamp
  c_stat: number | null
  x_motivo: string | null
  error: string | null
  duration_ms: Optional<number>
}

/** The tables as the queries see them; a test compares them with a migrated database. */
export interface Tables {
  installation: InstallationTable
  workspace: WorkspaceTable
  account: AccountTable
  account_directory: AccountDirectoryTable
  account_company: AccountCompanyTable
  membership: MembershipTable
  invitation: InvitationTable
  workspace_directory: WorkspaceDirectoryTable
  token_directory: TokenDirectoryTable
  session: SessionTable
  second_factor: SecondFactorTable
  passkey: PasskeyTable
  calendar_feed: CalendarFeedTable
  recovery_code: RecoveryCodeTable
  api_key: ApiKeyTable
  company: CompanyTable
  certificate: CertificateTable
  receipt: ReceiptTable
  supplier: SupplierTable
  webhook: WebhookTable
  webhook_delivery: WebhookDeliveryTable
  document: DocumentTable
  document_event: DocumentEventTable
  document_export: DocumentExportTable
  export_part: ExportPartTable
  certificate_batch: CertificateBatchTable
  certificate_file: CertificateFileTable
  company_logo: CompanyLogoTable
  capture_line: CaptureLineTable
  capture_subscription: CaptureSubscriptionTable
  capture_call: CaptureCallTable
  capture_refusal: CaptureRefusalTable
  capture_gap: CaptureGapTable
  certificate_use: CertificateUseTable
  workspace_key: WorkspaceKeyTable
  installation_key: InstallationKeyTable
  circuit: CircuitTable
  trouble: TroubleTable
  outgoing_event: OutgoingEventTable
  outgoing_event_call: OutgoingEventCallTable
  manifestation_text: ManifestationTextTable
  document_remark: DocumentRemarkTable
  answer_rule: AnswerRuleTable
  answer_setting: AnswerSettingTable
  product: ProductTable
  alert: AlertTable
  alert_verdict: AlertVerdictTable
  alert_news: AlertNewsTable
  letter_choice: LetterChoiceTable
  alert_known: AlertKnownTable
  saved_view: SavedViewTable
  first_view: FirstViewTable
  mail_link: MailLinkTable
  throttle: ThrottleTable
  mail: MailTable
  notice: NoticeTable
  happening: HappeningTable
  announcement: AnnouncementTable
  contact_message: ContactMessageTable
  audit: AuditTable
}
