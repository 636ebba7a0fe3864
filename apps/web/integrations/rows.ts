import type { listWebhookDeliveries, listWebhooks } from '@vigia/contract/changes'
import type { listKeys } from '@vigia/contract/keys'
import type { RouteData } from '@vigia/contract/route'

export type Key = RouteData<typeof listKeys>['chaves'][number]
export type Webhook = RouteData<typeof listWebhooks>['webhooks'][number]
export type Delivery = RouteData<typeof listWebhookDeliveries>['entregas'][number]
