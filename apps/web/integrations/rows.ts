import type { RouteData } from '@vigia/contract/route'
import type { listKeys, listWebhookDeliveries, listWebhooks } from '@vigia/contract/workspace'

export type Key = RouteData<typeof listKeys>['chaves'][number]
export type Webhook = RouteData<typeof listWebhooks>['webhooks'][number]
export type Delivery = RouteData<typeof listWebhookDeliveries>['entregas'][number]
