/**
 * The operations of links for payers (see `Operations`).
 */
import { type PayerLink, PayerLinks, type Tenant } from "@billwright/core"
import { Effect, Redacted } from "effect"
import type { PayerLinkBody } from "../api/PayerLinksApi.ts"
import { created } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"

const body = ({ expiresAt, url }: PayerLink, { mode }: Tenant.Tenant): typeof PayerLinkBody.Encoded => ({
  object: "payer_link",
  url: Redacted.value(url),
  expires_at: Render.instant(expiresAt),
  livemode: mode === "live",
})

export const make: Effect.Effect<OperationsOf<"payer_links">, never, PayerLinks> = Effect.map(
  PayerLinks,
  (links) => ({
    createInvoiceLink: ({ params, payload }, tenant) =>
      Effect.map(links.invoice(params.id, payload), (link) => created(body(link, tenant))),
    createPortalLink: ({ params, payload }, tenant) =>
      Effect.map(links.portal(params.id, payload), (link) => created(body(link, tenant))),
  }),
)
