import { site } from './site.ts'

export const { productName = 'Vigia Fiscal' } = site

export const productVersion = 'v1.0'
