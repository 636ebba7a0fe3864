/**
 * Rejections of the client's certificate, for all services (NT 2014.002 and NT 2020.001, group A).
 */
export const certificateMotives: Record<number, string> = {
  280: 'Rejeicao: Certificado Transmissor invalido',
  281: 'Rejeicao: Certificado Transmissor Data Validade',
  282: 'Rejeicao: Certificado Transmissor sem CNPJ',
  283: 'Rejeicao: Certificado Transmissor - erro Cadeia de Certificacao',
  284: 'Rejeicao: Certificado Transmissor revogado',
  285: 'Rejeicao: Certificado Transmissor difere ICP-Brasil',
  286: 'Rejeicao: Certificado Transmissor erro no acesso a LCR',
}
