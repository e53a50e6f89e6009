/**
 * The definition of the whole REST API. The server, clients and the OpenAPI document are made from it.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { AuditExportApi } from "./AuditExportApi.ts"
import { BooksApi } from "./BooksApi.ts"
import { CreditNotesApi } from "./CreditNotesApi.ts"
import { CreditsApi } from "./CreditsApi.ts"
import { CustomerExportApi } from "./CustomerExportApi.ts"
import { DeliveriesApi } from "./DeliveriesApi.ts"
import { EntitlementsApi } from "./EntitlementsApi.ts"
import { EventsApi } from "./EventsApi.ts"
import { EventTypesApi } from "./EventTypesApi.ts"
import { HealthApi } from "./HealthApi.ts"
import { HoldsApi } from "./HoldsApi.ts"
import { InvoicesApi } from "./InvoicesApi.ts"
import { MeterRebuildsApi } from "./MeterRebuildsApi.ts"
import { MoneyApi } from "./MoneyApi.ts"
import { PayerLinksApi } from "./PayerLinksApi.ts"
import { PaymentMethodSetupsApi } from "./PaymentMethodSetupsApi.ts"
import { PaymentsApi } from "./PaymentsApi.ts"
import { PlansApi } from "./PlansApi.ts"
import { ProviderNoticesApi } from "./ProviderNoticesApi.ts"
import { RefundResolutionsApi } from "./RefundResolutionsApi.ts"
import * as ResourceApi from "./ResourceApi.ts"
import { SubscriptionsApi } from "./SubscriptionsApi.ts"
import { TestClockAdvancesApi } from "./TestClockAdvancesApi.ts"
import { TokenRatingsApi } from "./TokenRatingsApi.ts"
import { UsageApi } from "./UsageApi.ts"
import { WebhookEndpointsApi } from "./WebhookEndpointsApi.ts"

/** The prefix of every path that needs an API key. */
export const VERSION_PREFIX = "/v1"

export const BillwrightApi = HttpApi.make("billwright")
  .add(...ResourceApi.groupsExcept("usage"))
  .add(PlansApi)
  .add(SubscriptionsApi)
  .add(InvoicesApi)
  .add(CreditNotesApi)
  .add(PaymentsApi)
  .add(MoneyApi)
  .add(BooksApi)
  .add(CreditsApi)
  .add(HoldsApi)
  .add(EntitlementsApi)
  .add(TestClockAdvancesApi)
  .add(PayerLinksApi)
  .add(PaymentMethodSetupsApi)
  .add(RefundResolutionsApi)
  .add(TokenRatingsApi)
  .add(UsageApi)
  .add(...ResourceApi.groups("usage"))
  .add(MeterRebuildsApi)
  .add(AuditExportApi)
  .add(CustomerExportApi)
  .add(EventTypesApi)
  .add(EventsApi)
  .add(DeliveriesApi)
  .add(WebhookEndpointsApi)
  .prefix(VERSION_PREFIX)
  .add(ProviderNoticesApi)
  .add(HealthApi)
  .annotateMerge(
    OpenApi.annotations({
      title: "Billwright API",
      version: "1.0.0",
      summary:
        "Customers, plans, subscriptions, invoices, payments, credits, entitlements, metered usage with exact totals, events and webhooks.",
      description: [
        "JSON over HTTP, with snake_case names, RFC 3339 instants and exact integers.",
        "",
        "Every path under `/v1` needs an API key: `Authorization: Bearer sk_test_…`. The data of test mode and live mode is fully separate, and a key belongs to one mode.",
        "",
        "Every POST, PATCH and DELETE takes an `Idempotency-Key` (1 to 255 visible ASCII characters). Repeating a request with the same key within 7 days changes nothing again. It gets the first answer, byte for byte, with `Idempotent-Replayed: true`. Answers of requests that call the payment provider are not stored: a repeat attempts no payment again, and gets things as they are by then.",
        "",
        'Every answer carries a `Request-Id`. Every error has the body `{"error": "<code>", "message": "<for people>"}`.',
      ].join("\n"),
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    }),
  )
