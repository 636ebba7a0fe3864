import { expect, test } from 'vitest'
import { openCertificate } from './certificates.ts'

test('beyond ten files of a workspace that wait to be opened others are refused, and only theirs', async () => {
  const open = (workspaceId: number) =>
    openCertificate(workspaceId, new File(['no certificate'], 'empresa.pfx'), 'segredo').catch(
      ({ code }: { code: string }) => code,
    )
  const [many, other] = [Array.from({ length: 13 }, () => open(1)), open(2)]
  expect((await Promise.all(many)).filter((code) => code === 'too-many')).toHaveLength(2)
  expect(await other).toBe('invalid-input')
})
