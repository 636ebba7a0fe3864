import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describeApi } from '@vigia/server/platform/http/openapi'
import { routes } from '@vigia/server/start'

// `npm run api` writes the description of the API, as a server shows it at /docs/json, for tools that want a file.
const file = path.join(import.meta.dirname, '../docs/openapi.json')
const contract = routes.map(({ route }) => route)
// An image has no folder of documents.
await mkdir(path.dirname(file), { recursive: true })
await writeFile(file, `${JSON.stringify(describeApi(contract, 'Vigia Fiscal'), null, 2)}\n`)
console.log('docs/openapi.json')
