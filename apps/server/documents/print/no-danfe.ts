// Apart from what reads the database, so that the thread of the panel loads it alone.

const withoutDanfe =
  'Esta é uma NFC-e (modelo 65). O DANFE é da NF-e (modelo 55); o da NFC-e é o cupom com QR Code que a loja entrega, e não é montado aqui. O XML está guardado e íntegro, e pode ser baixado.'

/** Why a note of the model `mod` has no DANFE here; undefined when it has one. */
export function noDanfeText(mod: string | undefined): string | undefined {
  return mod === '65' ? withoutDanfe : undefined
}
