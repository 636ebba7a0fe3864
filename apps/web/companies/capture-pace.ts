import { type Capture, captureProgress } from '../lib/capture.ts'

/** Position of a capture at a moment. */
export interface Sighting {
  nsu: number
  at: number
}

const sightMs = 8_000

/** Estimated remaining time of a capture at its pace since `first`; null if unknown. */
export function remainingMs(capture: Capture, first: Sighting, now: number): number | null {
  const gained = Number(capture.ultimoNsu) - first.nsu
  const took = now - first.at
  if (captureProgress(capture) === null || gained <= 0 || took < sightMs) return null
  return ((Number(capture.maxNsu) - Number(capture.ultimoNsu)) / gained) * took
}

/** "menos de 1 minuto", "cerca de 12 minutos", "cerca de 3 horas". */
export function durationText(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return 'menos de 1 minuto'
  if (minutes < 90) return minutes === 1 ? 'cerca de 1 minuto' : `cerca de ${minutes} minutos`
  return `cerca de ${Math.round(minutes / 60)} horas`
}

/** Whether something may change within seconds. */
export function isMoving(captures: readonly Capture[]): boolean {
  return captures.some(
    (capture) =>
      capture.estado === 'capturando' || (capture.estado === 'aguardando' && (isUnheard(capture) || isBehind(capture))),
  )
}

/** The authority has not responded about the CNPJ yet. */
export function isUnheard({ estado, ultimaResposta }: Capture): boolean {
  return estado === 'aguardando' && ultimaResposta === null
}

/** The authority responded that it has nothing for the CNPJ. */
export function isNothingThere(capture: Capture): boolean {
  return capture.estado === 'aguardando' && Number(capture.maxNsu) === 0 && !isUnheard(capture)
}

const isBehind = (capture: Capture) => captureProgress(capture) !== null
