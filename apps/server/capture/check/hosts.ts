import { X509Certificate } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { pinnedAuthorities } from '@vigia/sefaz/chain'
import { mayBeKept, readAuthorities, readGivenAuthorities } from '../../companies/authorities.ts'
import type { Config } from '../../config.ts'
import { fetchOutside, OutboundError } from '../../platform/http/outbound.ts'
import type { CheckReport } from './check.ts'
import { commonName, describeFailure } from './check-texts.ts'
import { examineHost, type HostReport } from './probe.ts'

type HostsConfig = Pick<Config, 'sefaz'>

export interface ExaminedHost extends CheckReport {
  report: HostReport
  /** Difference between the clocks; null: the host did not tell. */
  clock: string | null
}

/** Opens TLS to each host of the environment, without certificate and query. */
export async function examineHosts(config: HostsConfig): Promise<ExaminedHost[]> {
  const { distribution, manifestation, cteEvents } = config.sefaz.endpoints
  const urls = [distribution.nfe, distribution.cte, manifestation, ...Object.values(cteEvents)]
  const hosts = new Map(urls.map((url) => [new URL(url).host, url]))
  const ca = await readAuthorities(config)
  return Promise.all(
    [...hosts.values()].map(async (url) => {
      const report = await examineHost(url, ca)
      return { report, ...describeHost(report, config) }
    }),
  )
}

/** The lines of all, those of hosts that say the same once. */
export function describeHosts(hosts: ExaminedHost[]): string[] {
  const alike = Map.groupBy(hosts, ({ lines }) => lines.slice(1).join('\n'))
  return [...alike].flatMap(([lines, some]) => ['', some.map(({ report }) => report.host).join(', '), lines])
}

const clockDifferenceMaxMs = 5 * 60_000

function describeHost(
  { host, protocol, chain, error, clockAheadMs }: HostReport,
  config: HostsConfig,
): Omit<ExaminedHost, 'report'> {
  // The issuer of the last one is named too, unless it is the root itself.
  const names = new Set([...chain.map(({ subject }) => subject), ...chain.slice(-1).map(({ issuer }) => issuer)])
  const path = chain.length === 0 ? [] : [`Cadeia: ${[...names].map(commonName).join(' ← ')}`]
  const until = chain[0] ? [`Certificado do servidor: até ${formatBrasiliaMoment(chain[0].validToDate)}`] : []
  if (error)
    return {
      ok: false,
      clock: null,
      lines: [host, ...[...describeFailure(error, config.sefaz).lines, ...path, ...until].map(indent)],
    }
  const isClockOff = clockAheadMs !== null && Math.abs(clockAheadMs) > clockDifferenceMaxMs
  const clock = clockAheadMs === null ? null : describeClock(clockAheadMs, isClockOff)
  const lines = [
    protocol
      ? `Identidade confirmada (${protocol}).`
      : 'Identidade confirmada. O servidor exige o certificado da empresa já ao abrir a conexão: npm run sefaz -- check prova o resto.',
    ...path,
    ...until,
    ...(clock === null ? [] : [clock]),
  ]
  return { ok: !isClockOff, clock, lines: [host, ...lines.map(indent)] }
}

const indent = (line: string) => `  ${line}`

function describeClock(aheadMs: number, isOff: boolean): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000)
  const told = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutos`
  const difference = `Relógio desta máquina: ${told} ${aheadMs > 0 ? 'atrás' : 'à frente'} do servidor.`
  return isOff
    ? `${difference} O que fazer: acerte o relógio (NTP); com ele errado a SEFAZ recusa eventos e bloqueia consultas.`
    : difference
}

/** Fetches the pinned authorities that are missing here and the intermediate authorities that hosts do not send, and keeps those that may be trusted. */
export async function fetchAuthorities(
  config: HostsConfig,
  { fetch = fetchOutside }: { fetch?: (address: string) => Promise<Uint8Array> } = {},
): Promise<CheckReport> {
  const lines: string[] = []
  let ok = true
  const known = new Set(
    (await readAuthorities(config)).flatMap((pem) =>
      (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
        (one) => new X509Certificate(one).fingerprint256,
      ),
    ),
  )
  const given = await readGivenAuthorities(config)
  const keepFrom = async (name: string, address: string, mayKeep: (one: X509Certificate) => boolean) => {
    const found = await fetchCertificate(address, fetch)
    if (typeof found === 'string') {
      ok = false
      lines.push(
        `${name}: não foi buscado em ${address} (${found}). O que já havia continua valendo; tente de novo mais tarde.`,
      )
    } else if (known.has(found.fingerprint256)) lines.push(`${name}: já está aqui.`)
    else if (!mayKeep(found)) {
      ok = false
      lines.push(
        `${name}: o arquivo de ${address} não é o esperado (SHA-256 ${found.fingerprint256}) e não foi guardado. Pode ser um proxy ou um arquivo trocado: não confie nele, e confira se há uma versão nova do programa.`,
      )
    } else {
      await keep(config, found)
      known.add(found.fingerprint256)
      lines.push(`${name}: buscado em ${address}, conferido e guardado.`)
    }
  }
  for (const { name, sha256, address } of pinnedAuthorities)
    if (address && !known.has(sha256)) await keepFrom(name, address, (one) => one.fingerprint256 === sha256)
  for (const { report } of await examineHosts(config)) {
    const last = report.chain.at(-1)
    const address = last && /^CA Issuers - URI:"?([^"\s]+)/m.exec(last.infoAccess ?? '')?.[1]
    if (report.error?.kind === 'tls-chain' && address)
      await keepFrom(`Autoridade de ${report.host}`, address, (one) => mayBeKept(one, given))
  }
  if (lines.length === 0) lines.push('Nada falta: as autoridades conhecidas já estão aqui.')
  return { ok, lines }
}

async function fetchCertificate(
  address: string,
  fetch: (address: string) => Promise<Uint8Array>,
): Promise<X509Certificate | string> {
  try {
    return new X509Certificate(await fetch(address))
  } catch (error) {
    return error instanceof OutboundError ? 'o endereço não respondeu com o arquivo' : 'não é um certificado'
  }
}

async function keep({ sefaz }: HostsConfig, authority: X509Certificate): Promise<void> {
  await mkdir(sefaz.caFolder, { recursive: true })
  const name = authority.fingerprint256.replaceAll(':', '').toLowerCase()
  await writeFile(join(sefaz.caFolder, `${name}.pem`), authority.toString())
}
