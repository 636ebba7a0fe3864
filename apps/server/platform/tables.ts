// Generated from the schema: npx vitest run apps/server/platform/schema -u
import type { MemberRole } from '@vigia/contract/route'
import type { ReportGroup, ReportSubject } from '@vigia/contract/reports'
import type { Proof } from '@vigia/dfe/proof'
import type { ColumnType, GeneratedAlways } from 'kysely'
import type { ServiceCode } from './service.ts'

type Column<Read, Write = Read> = ColumnType<Read, Write, Write>
type Optional<Read, Write = Read> = ColumnType<Read, Write | undefined, Write>

/** The tables as the queries see them. */
export interface Tables {
  account: {
    workspace_id: number
    id: Optional<number>
    email: string
    name: string
    phone: Optional<string | null>
    password_hash: Optional<string | null>
    created_at: Optional<Date, Date | string>
    entered_at: Optional<Date | null, Date | string | null>
    shared: Optional<boolean>
    email_proved_at: Optional<Date | null, Date | string | null>
    new_email: Optional<string | null>
    new_email_until: Optional<Date | null, Date | string | null>
    public_id: Optional<string>
    role: Optional<MemberRole>
    all_companies: Optional<boolean>
    access_until: Optional<Date | null, Date | string | null>
    home_workspace_id: Optional<number | null>
    home_account_id: Optional<number | null>
    invited_by: Optional<number | null>
  }
  account_company: {
    workspace_id: number
    account_id: number
    company_id: number
  }
  account_directory: {
    email: string
    workspace_id: number
    account_id: number
    last_workspace_id: Optional<number | null>
  }
  alert: {
    workspace_id: number
    document_id: Column<bigint, bigint | number>
    company_id: number
    at: Column<bigint, bigint | number>
    score: number
    band: number
    state: Optional<'nova' | 'em-analise' | 'conhecida' | 'confirmada'>
    company_base: string
    issuer_base: string
    chave: string
    rules: string[]
    fired: Column<unknown, string>
    learning: boolean
    judged_at: Optional<Date, Date | string>
    state_by: Optional<number | null>
    state_at: Optional<Date | null, Date | string | null>
    stated_rules: Optional<string[] | null>
    stated_fired: Optional<unknown | null, string | null>
  }
  alert_known: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    company_id: number
    document_id: Column<bigint, bigint | number>
    ceiling: Optional<bigint | null, bigint | number | null>
    until: Column<Date, Date | string>
    said_by: number
    said_at: Optional<Date, Date | string>
    rule: string
    company_base: string
    issuer_base: string
  }
  alert_news: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    document_id: Column<bigint, bigint | number>
    company_id: number
    band: number
    at: Optional<Date, Date | string>
  }
  alert_setting: {
    workspace_id: number
    off: Optional<string[]>
    approval_limit: Optional<bigint | null, bigint | number | null>
    groups: Optional<unknown | null, string | null>
    reviewed_id: Optional<bigint | null, bigint | number | null>
    night_at: Optional<Date | null, Date | string | null>
  }
  alert_test: {
    workspace_id: number
    rule: string
    asked_at: Optional<Date, Date | string>
    document_ids: bigint[]
    taken: Optional<number>
    capped: boolean
    unread: boolean
    judged: Optional<number>
    counts: Column<unknown, string>
    strongest: Column<unknown, string>
    failed: Optional<boolean>
  }
  alert_verdict: {
    workspace_id: number
    document_id: Column<bigint, bigint | number>
    company_id: number
    judged_at: Column<Date, Date | string>
    id: Optional<bigint, bigint | number>
    score: number
    band: number
    rules: string[]
    text: string
  }
  announcement: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    at: Optional<Date, Date | string>
    topic: string
    what: Optional<string | null>
    kind: 'sucesso' | 'error' | 'alert'
    header: string
    body: string
    session_id: Optional<string | null>
    link: Optional<string | null>
    company_ids: Optional<number[] | null>
  }
  announcement_position: {
    workspace_id: number
    session_id: string
    announcement_id: Column<bigint, bigint | number>
  }
  announcement_reading: {
    workspace_id: number
    account_id: number
    read_up_to: Column<bigint, bigint | number>
  }
  answer_rule: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    position: number
    name: string
    active: boolean
    answer: 'ciencia' | 'ciencia-apos' | 'perguntar' | 'sugerir-confirmacao' | 'preparar-desconhecimento'
    after_days: Optional<number | null>
    conditions: Column<unknown, string>
    saved_by: number
    saved_at: Optional<Date, Date | string>
  }
  answer_setting: {
    workspace_id: number
    two_from: Optional<string | null>
    saved_by: number
    saved_at: Optional<Date, Date | string>
  }
  api_key: {
    workspace_id: number
    id: Optional<number>
    public_id: Optional<string>
    name: string
    author: GeneratedAlways<string>
    scopes: string[]
    start: string
    token_hash: Optional<Buffer | null>
    created_at: Optional<Date, Date | string>
    created_by: number
    expires_at: Optional<Date | null, Date | string | null>
    used_at: Optional<Date | null, Date | string | null>
    company_ids: Optional<number[] | null>
  }
  audit: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    at: Optional<Date, Date | string>
    account_id: Optional<number | null>
    actor: string
    action: string
    description: string
    address: Optional<string | null>
    search: string
    times: Optional<number>
  }
  calendar_feed: {
    workspace_id: number
    account_id: number
    token_hash: Buffer
    created_at: Optional<Date, Date | string>
    kind: Optional<number>
  }
  capture_call: {
    line_id: number
    id: Optional<bigint, bigint | number>
    at: Optional<Date, Date | string>
    query: 'page' | 'position' | 'note'
    answer: 'page' | 'end' | 'absent' | 'gone' | 'blocked' | 'down' | 'refused certificate' | 'refused line' | 'refused us' | 'lost' | 'failed'
    nsu_before: Column<bigint, bigint | number>
    nsu_after: Column<bigint, bigint | number>
    c_stat: Optional<number | null>
    x_motivo: Optional<string | null>
    documents: Optional<number>
    bytes: Optional<number>
    duration_ms: Optional<number>
    error: Optional<string | null>
    passed_from: Optional<bigint | null, bigint | number | null>
    cause: Optional<string | null>
    chave: Optional<string | null>
  }
  capture_gap: {
    line_id: number
    from_nsu: Column<bigint, bigint | number>
    to_nsu: Column<bigint, bigint | number>
    found_at: Optional<Date, Date | string>
    lost: Optional<boolean>
    passed: Optional<boolean>
  }
  capture_line: {
    id: Optional<number>
    service: number
    cnpj: string
    last_nsu: Optional<bigint, bigint | number>
    max_nsu: Optional<bigint, bigint | number>
    next_at: Optional<Date | null, Date | string | null>
    allowed_at: Optional<Date, Date | string>
    lease_by: Optional<string | null>
    lease_until: Optional<Date | null, Date | string | null>
    lease_for: Optional<'first' | 'due' | 'copies' | 'gap' | 'check' | null>
    asked_at: Optional<Date | null, Date | string | null>
    asked: Optional<string | null>
    state: Optional<'waiting' | 'blocked' | 'failed' | 'stopped'>
    told_state: Optional<'waiting' | 'blocked' | 'failed' | 'stopped'>
    message: Optional<string>
    failures: Optional<number>
    last_success_at: Optional<Date | null, Date | string | null>
    gap_at: Optional<Date | null, Date | string | null>
    catch_up: Optional<boolean>
    catch_up_at: Optional<Date, Date | string>
    automatic: Optional<boolean>
    wanted: Optional<boolean>
    paused: Optional<boolean>
    trouble_since: Optional<Date | null, Date | string | null>
  }
  capture_refusal: {
    line_id: number
    workspace_id: number
    certificate_id: number
    at: Optional<Date, Date | string>
    rests_until: Column<Date, Date | string>
  }
  capture_subscription: {
    line_id: number
    workspace_id: number
    company_id: number
    delivered_nsu: Optional<bigint, bigint | number>
    proved_at: Optional<Date | null, Date | string | null>
    refused: Optional<string | null>
    last_failure: Optional<string | null>
    paused: Optional<boolean>
  }
  certificate: {
    workspace_id: number
    id: Optional<number>
    company_id: number
    holder_cnpj: string
    holder_name: string
    issuer: string
    serial_number: string
    valid_from: Column<Date, Date | string>
    valid_to: Column<Date, Date | string>
    certificate_pem: string
    chain_pem: string[]
    key_encrypted: Buffer
    key_id: string
    uploaded_by: number
    uploaded_at: Optional<Date, Date | string>
    replaced_at: Optional<Date | null, Date | string | null>
    refused_at: Optional<Date | null, Date | string | null>
  }
  certificate_batch: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    account_id: number
    account_name: string
    session_id: string
    address: Optional<string | null>
    started_at: Optional<Date, Date | string>
    received_at: Optional<Date, Date | string>
    total: number
    complete: Optional<boolean>
    passwords: Optional<Buffer | null>
    ended_at: Optional<Date | null, Date | string | null>
  }
  certificate_file: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    batch_id: Column<bigint, bigint | number>
    name: string
    digest: Buffer
    content: Optional<Buffer | null>
    state: Optional<'waiting' | 'replaced' | 'registered' | 'unchanged' | 'failed'>
    message: Optional<string>
    company_id: Optional<number | null>
  }
  certificate_use: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    certificate_id: number
    at: Optional<Date, Date | string>
    service: string
    purpose: string
  }
  change_position: {
    workspace_id: number
    version: Column<bigint, bigint | number>
    forgotten: Optional<bigint, bigint | number>
  }
  circuit: {
    address: string
    failures: Optional<number>
    open_until: Optional<Date | null, Date | string | null>
    since: Optional<Date | null, Date | string | null>
    reason: Optional<string | null>
    detail: Optional<string | null>
  }
  clock_skew: {
    service: number
    seconds: number
    odd: number
  }
  company: {
    workspace_id: number
    id: Optional<number>
    public_id: Optional<string>
    cnpj: string
    name: string
    search: string
    uf: number
    created_at: Optional<Date, Date | string>
    email: Optional<string | null>
    automatic: Optional<boolean>
    acknowledges_since: Optional<Date | null, Date | string | null>
    acknowledges_by: Optional<number | null>
    archived_at: Optional<Date | null, Date | string | null>
    active: GeneratedAlways<boolean>
  }
  company_family: {
    workspace_id: number
    company_id: number
    family: number
    shown: number
  }
  company_logo: {
    workspace_id: number
    company_id: number
    picture: Buffer
  }
  company_month: {
    workspace_id: number
    type: number
    month: string
    notes: number
    company_base: string
    amounts: Column<unknown, string>
    chapters: string[]
  }
  contact_message: {
    id: Optional<bigint, bigint | number>
    at: Optional<Date, Date | string>
    name: string
    email: string
    phone: Optional<string | null>
    company: Optional<string | null>
    message: string
    suspect: boolean
  }
  content_sum: {
    workspace_id: number
    company_id: number
    month: string
    side: number
    kind: number
    documents: number
    key: string
    value: Column<bigint, bigint | number>
    icms: Column<bigint, bigint | number>
    st: Column<bigint, bigint | number>
    ipi: Column<bigint, bigint | number>
    pis: Column<bigint, bigint | number>
    cofins: Column<bigint, bigint | number>
    ibs: Column<bigint, bigint | number>
    cbs: Column<bigint, bigint | number>
    is: Column<bigint, bigint | number>
    fcp: Column<bigint, bigint | number>
  }
  count_month: {
    workspace_id: number
    type: number
    month: string
    company_id: number
    roles: number
    status: number
    n: number
    amount: string
  }
  document: {
    workspace_id: number
    company_id: number
    id: Optional<bigint, bigint | number>
    issued_at: string
    created_at: Optional<Date, Date | string>
    authorized_at: Optional<Date | null, Date | string | null>
    judged_at: Optional<Date | null, Date | string | null>
    judge_at: Optional<Date | null, Date | string | null>
    nsu: Column<bigint, bigint | number>
    supplier_id: number
    number: Column<bigint, bigint | number>
    event_code: number
    type: number
    series: Optional<number | null>
    issued_offset: Optional<number | null>
    roles: number
    status: number
    base_status: number
    complete: boolean
    amount: string
    event_text: Optional<string | null>
    nat_op: Optional<string | null>
    chave: string
    proof: Optional<string | null>
    tp_cte: Optional<number | null>
    corrects: Optional<string | null>
    answer_due_at: Optional<Date | null, Date | string | null>
    answer_due: Optional<number | null>
    own_answers: Optional<unknown | null, string | null>
    cents: GeneratedAlways<bigint>
    alert_band: Optional<number | null>
    reform: Optional<number | null>
    misfits: Optional<boolean>
    suspect: Optional<boolean>
    answered: Optional<boolean>
    asked: Optional<number | null>
    asked_by: Optional<number | null>
    unconfirmed: Optional<number | null>
    suggestion: Optional<unknown | null, string | null>
    ibs: Optional<bigint | null, bigint | number | null>
    cbs: Optional<bigint | null, bigint | number | null>
  }
  document_change: {
    workspace_id: number
    document_id: Column<bigint, bigint | number>
    version: Column<bigint, bigint | number>
    at: Column<Date, Date | string>
    event_id: Optional<bigint | null, bigint | number | null>
    kind: number
    company_id: Optional<number | null>
  }
  document_cite: {
    workspace_id: number
    chave: string
    document_id: Column<bigint, bigint | number>
  }
  document_event: {
    workspace_id: number
    company_id: number
    chave: string
    tp_evento: number
    sequence: number
    orgao: number
    type: number
    rank: number
    status: Optional<number | null>
    summary: boolean
    stated: Optional<boolean>
    registered_at: Column<Date, Date | string>
    happened_at: Column<Date, Date | string>
    nsu: Column<bigint, bigint | number>
    protocol: Optional<string | null>
    author: Optional<string | null>
    description: string
    justification: Optional<string | null>
    known: boolean
    roles: number
    undoes: Optional<number | null>
    undoes_protocol: Optional<string | null>
    undone: Optional<boolean>
    proof: Optional<Proof | null>
  }
  document_export: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    requested_at: Optional<Date, Date | string>
    request: Column<unknown, string>
    account_id: Optional<number | null>
    form: Optional<'zip' | 'pdf'>
    total: Optional<number>
    state: Optional<'waiting' | 'ready' | 'failed'>
    attempt: Optional<number>
    done: Optional<number>
    parts: Optional<number>
    bytes: Optional<bigint, bigint | number>
    problem: Optional<string | null>
    company_ids: Optional<number[] | null>
  }
  document_facts: {
    workspace_id: number
    document_id: Column<bigint, bigint | number>
    company_id: number
    type: number
    chave: string
    side: Optional<number | null>
    purchase: boolean
    standing: boolean
    cancelled_at: Optional<Date | null, Date | string | null>
    counted: boolean
    month: string
    at: Column<Date, Date | string>
    cents: Column<bigint, bigint | number>
    company_base: string
    issuer_base: string
    purpose: Optional<number | null>
    contingency: Optional<string | null>
    lane: Optional<string | null>
    way: Optional<string | null>
    found: Optional<unknown | null, string | null>
    facts: Column<unknown, string>
    sums: Column<unknown, string>
    products: Optional<number[] | null>
    added: Optional<unknown | null, string | null>
  }
  document_reliance: {
    workspace_id: number
    document_id: Column<bigint, bigint | number>
    company_id: number
    checked_at: Optional<Date | null, Date | string | null>
    checked_by: Optional<number | null>
    exported_at: Optional<Date | null, Date | string | null>
    altered_at: Optional<Date | null, Date | string | null>
    altered_by: Optional<number | null>
    remarks: Optional<number>
    booked_at: Optional<Date | null, Date | string | null>
    booked_by: Optional<number | null>
    delivered_at: Optional<Date | null, Date | string | null>
    delivered_by: Optional<number | null>
  }
  document_remark: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    company_id: number
    document_id: Column<bigint, bigint | number>
    text: string
    written_by: number
    written_at: Optional<Date, Date | string>
  }
  document_words: {
    workspace_id: number
    document_id: Column<bigint, bigint | number>
    type: number
    company_id: number
    issued_at: string
    words: string
  }
  erasure: {
    workspace: string
    began_at: Optional<Date, Date | string>
    companies: number
    documents: Column<bigint, bigint | number>
    ended_at: Optional<Date | null, Date | string | null>
  }
  export_part: {
    workspace_id: number
    export_id: Column<bigint, bigint | number>
    n: number
    content: Buffer
  }
  first_view: {
    workspace_id: number
    account_id: number
    type: ServiceCode
    view_id: number
  }
  freight_finding: {
    workspace_id: number
    document_id: Column<bigint, bigint | number>
    company_id: number
    issued_at: string
    told_at: Column<Date, Date | string>
    value: Column<bigint, bigint | number>
    code: string
    sentence: string
    documents: string[]
  }
  freight_mark: {
    workspace_id: number
    document_id: Column<bigint, bigint | number>
    company_id: number
    said_by: number
    said_at: Optional<Date, Date | string>
    code: string
    sentence: string
  }
  happening: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    what: string
    company_id: Optional<number | null>
    payload: Optional<unknown, string>
    ready_at: Optional<Date, Date | string>
    session_id: Optional<string | null>
  }
  installation: {
    singleton: Optional<boolean>
    ambiente: string
    id_key: Buffer
    created_at: Optional<Date, Date | string>
    marked_at: Optional<Date, Date | string>
    held_since: Optional<Date | null, Date | string | null>
    held_why: Optional<string | null>
    restored_at: Optional<Date | null, Date | string | null>
  }
  installation_key: {
    purpose: string
    wrapped: Buffer
    wrapper_id: string
    made_at: Optional<Date, Date | string>
  }
  installment: {
    workspace_id: number
    document_id: Column<bigint, bigint | number>
    place: number
    company_id: number
    due_on: string
    amount: Column<bigint, bigint | number>
    number: string
    issuer: string
    standing: boolean
    paid_at: Optional<Date | null, Date | string | null>
    paid_by: Optional<number | null>
  }
  invitation: {
    workspace_id: number
    id: Optional<number>
    public_id: Optional<string>
    email: string
    role: MemberRole
    company_ids: Optional<number[] | null>
    access_until: Optional<Date | null, Date | string | null>
    invited_by: number
    token_hash: Buffer
    sent_at: Optional<Date, Date | string>
    expires_at: Column<Date, Date | string>
  }
  issuer_certificate: {
    workspace_id: number
    id: Optional<number>
    sha256: Buffer
    der: Buffer
  }
  job: {
    id: Optional<bigint, bigint | number>
    kind: string
    workspace_id: Optional<number | null>
    key: Optional<string>
    payload: Optional<unknown, string>
    queued_at: Optional<Date, Date | string>
    run_at: Optional<Date, Date | string>
    attempts: Optional<number>
    lease: Optional<string | null>
    lease_until: Optional<Date | null, Date | string | null>
    error: Optional<string | null>
  }
  letter_choice: {
    workspace_id: number
    account_id: number
    alerts: Optional<'criticos' | 'criticos-e-resumo' | 'resumo' | 'nenhum' | null>
    deadlines: Optional<'diario' | 'semanal' | 'nenhum' | null>
    critical_id: Optional<bigint, bigint | number>
    critical_at: Optional<Date | null, Date | string | null>
    digest_id: Optional<bigint, bigint | number>
    digest_at: Optional<Date | null, Date | string | null>
    deadlines_at: Optional<Date | null, Date | string | null>
    reports_at: Optional<Date | null, Date | string | null>
  }
  mail: {
    id: Optional<bigint, bigint | number>
    workspace_id: Optional<number | null>
    kind: string
    recipient: string
    payload: Optional<unknown, string>
    state: Optional<'waiting' | 'sent' | 'failed' | 'dropped'>
    created_at: Optional<Date, Date | string>
    useless_at: Optional<Date | null, Date | string | null>
    failures: Optional<number>
    problem: Optional<string | null>
    settled_at: Optional<Date | null, Date | string | null>
    message_id: Optional<string>
  }
  mail_link: {
    workspace_id: number
    token_hash: Buffer
    account_id: number
    created_at: Optional<Date, Date | string>
    expires_at: Column<Date, Date | string>
    used_at: Optional<Date | null, Date | string | null>
    mail_id: Optional<bigint | null, bigint | number | null>
    purpose: 'password' | 'email' | 'new-email'
  }
  manifestation_text: {
    workspace_id: number
    type: ServiceCode
    choice: number
    text: string
    kept_at: Optional<Date, Date | string>
  }
  membership: {
    workspace_id: number
    account_id: number
    home_workspace_id: number
    home_account_id: number
  }
  monthly_report: {
    workspace_id: number
    id: Optional<number>
    account_id: number
    company_id: Optional<number | null>
    subject: ReportSubject
    grouping: ReportGroup
  }
  notice: {
    workspace_id: number
    key: string
    at: Optional<Date, Date | string>
  }
  outgoing_event: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    company_id: number
    document_id: Column<bigint, bigint | number>
    type: number
    cnpj: string
    chave: string
    tp_evento: number
    sequence: number
    state: Optional<'asked' | 'waiting' | 'sending' | 'registered' | 'rejected' | 'unconfirmed'>
    message: Optional<string>
    justification: Optional<string | null>
    corrections: Optional<unknown | null, string | null>
    why: string
    requested_by: Optional<number | null>
    requested_at: Optional<Date, Date | string>
    next_at: Optional<Date, Date | string>
    lease_by: Optional<string | null>
    lease_until: Optional<Date | null, Date | string | null>
    failures: Optional<number>
    signed_xml: Optional<string | null>
    sent_at: Optional<Date | null, Date | string | null>
    c_stat: Optional<number | null>
    x_motivo: Optional<string | null>
    protocol: Optional<string | null>
    registered_at: Optional<Date | null, Date | string | null>
    answered_at: Optional<Date | null, Date | string | null>
    rule_id: Optional<bigint | null, bigint | number | null>
    approved_by: Optional<number | null>
  }
  partner: {
    workspace_id: number
    first_at: Column<Date, Date | string>
    company_base: string
    issuer_base: string
    name: string
    first_chave: string
  }
  partner_contact: {
    workspace_id: number
    company_base: string
    contact: string
    issuer_base: string
  }
  passkey: {
    workspace_id: number
    account_id: number
    digest: Buffer
    public_id: Optional<string>
    credential_id: string
    public_key: Buffer
    counter: Column<bigint, bigint | number>
    transports: string[]
    name: string
    created_at: Optional<Date, Date | string>
    used_at: Optional<Date | null, Date | string | null>
  }
  product: {
    workspace_id: number
    id: Optional<number>
    issuer: string
    code: string
    name: string
    ncm: string
    unit: string
    gtin: Optional<string | null>
    bare: string
    hash: GeneratedAlways<number>
  }
  product_sum: {
    workspace_id: number
    product_id: number
    company_id: number
    month: string
    side: number
    documents: number
    value: Column<bigint, bigint | number>
    quantity: Column<bigint, bigint | number>
  }
  receipt: {
    workspace_id: number
    company_id: number
    service: number
    nsu: Column<bigint, bigint | number>
    received_at: Optional<Date, Date | string>
    schema: string
    problem: Optional<string | null>
    unread: boolean
    chave: Optional<string | null>
    again_at: Optional<Date | null, Date | string | null>
    content: Buffer
    issuer_certificate_id: Optional<number | null>
  }
  recovery_code: {
    workspace_id: number
    account_id: number
    code_hash: Buffer
    used_at: Optional<Date | null, Date | string | null>
  }
  saved_view: {
    workspace_id: number
    id: Optional<number>
    public_id: Optional<string>
    type: ServiceCode
    name: string
    address: string
    saved_by: number
    saved_at: Optional<Date, Date | string>
  }
  second_factor: {
    workspace_id: number
    account_id: number
    secret: Buffer
    confirmed_at: Optional<Date | null, Date | string | null>
    last_step: Optional<bigint, bigint | number>
  }
  session: {
    workspace_id: number
    token_hash: Buffer
    account_id: number
    public_id: Optional<string>
    created_at: Optional<Date, Date | string>
    expires_at: Column<Date, Date | string>
    seen_at: Optional<Date, Date | string>
    address: Optional<string | null>
    agent: Optional<string | null>
    proved_at: Optional<Date, Date | string>
    with_factor: Optional<boolean>
  }
  storage_probe: {
    who: string
    at: Optional<Date, Date | string>
    filler: Buffer
  }
  supplier: {
    workspace_id: number
    id: Optional<number>
    tax_id: string
    name: string
    search: string
    suspect: Optional<boolean>
  }
  throttle: {
    key: Buffer
    count: number
    until: Column<Date, Date | string>
  }
  token_directory: {
    token_hash: Buffer
    workspace_id: number
    kept_until: Column<Date, Date | string>
  }
  trouble: {
    key: string
    since: Optional<Date, Date | string>
    sentence: string
    ended_at: Optional<Date | null, Date | string | null>
    told_at: Optional<Date | null, Date | string | null>
  }
  webhook: {
    workspace_id: number
    id: Optional<number>
    public_id: Optional<string>
    url: string
    kinds: string[]
    company_ids: Optional<number[] | null>
    secret: Buffer
    old_secret: Optional<Buffer | null>
    old_until: Optional<Date | null, Date | string | null>
    created_at: Optional<Date, Date | string>
    version: Column<bigint, bigint | number>
    paused_at: Optional<Date | null, Date | string | null>
    problem: Optional<string | null>
    delivered_at: Optional<Date | null, Date | string | null>
    saved_by: Optional<number | null>
  }
  webhook_delivery: {
    workspace_id: number
    id: Optional<bigint, bigint | number>
    public_id: Optional<string>
    webhook_id: number
    version: Optional<bigint | null, bigint | number | null>
    document_id: Optional<bigint | null, bigint | number | null>
    kind: string
    body: string
    created_at: Optional<Date, Date | string>
    state: Optional<'waiting' | 'delivered' | 'failed'>
    attempts: Optional<number>
    failures: Optional<number>
    failing_since: Optional<Date | null, Date | string | null>
    tried_at: Optional<Date | null, Date | string | null>
    duration_ms: Optional<number | null>
    status: Optional<number | null>
    answer: Optional<string | null>
    problem: Optional<string | null>
  }
  workspace: {
    id: Optional<number>
    public_id: Optional<string>
    name: string
    plan: number
    created_at: Optional<Date, Date | string>
    trial_until: Optional<Date, Date | string>
    paid_from: Optional<Date | null, Date | string | null>
    paid_until: Optional<Date | null, Date | string | null>
    paused_at: Optional<Date | null, Date | string | null>
    erase_at: Optional<Date | null, Date | string | null>
    requires_factor: Optional<boolean>
  }
  workspace_directory: {
    public_id: string
    workspace_id: number
  }
  workspace_key: {
    workspace_id: number
    key_id: string
    wrapped: Buffer
    wrapper_id: string
  }
}
