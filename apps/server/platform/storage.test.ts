import { expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { useDatabase, useOwner } from './database.testing.ts'
import { createLogger } from './log.ts'
import { createStorage, storageSentence, storageTask } from './storage.ts'

const { db, url } = await useDatabase()
const owner = await useOwner(url)

let freeBytes = 1e12
const open = () =>
  createStorage({ db, config: readConfig({}, '/'), log: createLogger('silent') }, async () => freeBytes)

// Makes PostgreSQL fail as it does with a full disk, or as a standby.
const failProbe = (sqlstate: string) =>
  owner.query(`create or replace function no_room() returns trigger language plpgsql as $$ begin raise sqlstate '${sqlstate}'; end $$;
    create or replace trigger no_room before insert on storage_probe for each row execute function no_room()`)

test.each([
  ['53100', 'no-space'],
  ['25006', 'read-only'],
  ['58030', 'broken'],
] as const)('a row that cannot be written (%s) is trouble until one can', async (sqlstate, reason) => {
  await failProbe(sqlstate)
  expect(await open().prove()).toBe(false)
  const storage = open()
  storage.noteFailure(Object.assign(new Error('x'), { code: sqlstate }))
  expect(storage.trouble).toMatchObject({ reason })
  // It is not tried again at once.
  await owner.query('drop trigger no_room on storage_probe')
  expect(await storage.prove()).toBe(false)
  expect(await open().prove()).toBe(true)
})

test('a disk with less than 256 MiB is full before the database finds out, and people are told', async () => {
  freeBytes = 255 * 1024 * 1024
  const storage = open()
  expect(await storage.prove()).toBe(false)
  expect(storage.freeBytes).toBe(freeBytes)
  expect(storageSentence({ ...storage.trouble!, since: new Date('2026-11-23T12:00:00Z') })).toBe(
    'No servidor não há espaço em disco desde 23/11 às 09:00. Nada é consultado na SEFAZ enquanto não puder ser guardado; os documentos já guardados estão seguros e a captura volta sozinha. Quem administra o sistema precisa liberar espaço.',
  )
  expect(storageTask(storage.trouble!)).toMatch(/O que fazer: libere espaço no disco da pasta DATA_DIR/)
  freeBytes = 1e12
  expect(await open().prove()).toBe(true)
})

test('an error of another kind says nothing about it', () => {
  const storage = open()
  storage.noteFailure(Object.assign(new Error('x'), { code: '40001' }))
  storage.noteFailure(null)
  expect(storage.trouble).toBeNull()
})
