/**
 * Links to pages for payers. Whoever has a link needs no login.
 */
import { Clock, Context, type DateTime, Effect, Layer, Redacted, Schema } from "effect"
import { type CustomerId, type CustomerNotFound, customers } from "../customers/Customer.ts"
import type { InvoiceId, InvoiceNotFound } from "../invoices/Invoice.ts"
import { Invoices } from "../invoices/Invoices.ts"
import type { InvoicingUnsupported } from "../invoices/InvoicingUnsupported.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { ofMillis } from "../shared/Instant.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import type { InvalidKeyring } from "../webhooks/Keyring.ts"
import {
  type LinkClaims,
  type LinkKind,
  type LinkProblem,
  MAX_LINK_SECONDS,
  type OpenedLink,
  PayerLanguage,
} from "./LinkToken.ts"
import { PayerPagesUnavailable } from "./PayerPagesUnavailable.ts"
import { type PayerPagesOptions, payerSettings, type PayerSettings } from "./PayerSettings.ts"

export { MAX_LINK_SECONDS }

/** The shortest time that a link may be valid, in seconds. */
export const MIN_LINK_SECONDS = 60
/** How long a link to an invoice is valid unless the caller says, in seconds: 30 days. */
export const INVOICE_LINK_SECONDS = 30 * 86_400
/** How long a link to the pages of a customer is valid unless the caller says, in seconds: a day. */
export const PORTAL_LINK_SECONDS = 86_400

const secondsMessage = { message: `must be an integer from ${MIN_LINK_SECONDS} to ${MAX_LINK_SECONDS}` }

/** The input of links. */
export const LinkOptions = Schema.Struct({
  /** For how many seconds the link is valid: 60 to 7,776,000 (90 days). */
  expiresInSeconds: Schema.optionalKey(
    Schema.Int.annotate(secondsMessage).check(
      Schema.isBetween({ minimum: MIN_LINK_SECONDS, maximum: MAX_LINK_SECONDS }, secondsMessage),
    ),
  ),
  /** The language of the pages. Default: that of the customer. The invoice itself keeps its own. */
  language: Schema.optionalKey(Schema.NullOr(PayerLanguage)),
})
export interface LinkOptions extends Schema.Schema.Type<typeof LinkOptions> {}

/** A link. Whoever has its address may do what it is for. */
export interface PayerLink {
  readonly url: Redacted.Redacted<string>
  readonly expiresAt: DateTime.Utc
}

const decodeOptions = decoder(LinkOptions)
const { knownId, orNotFound } = ById.of(customers)
/** The path of each kind below the address of the pages. */
const PATHS = { invoice: "invoices", portal: "account" } as const

/** The path of a link, signed by the first key unless another one is named. */
const pathWith = ({ keys }: PayerSettings, claims: LinkClaims, keyId?: string): string =>
  `/${PATHS[claims.kind]}/${keys.sign(claims, keyId)}`

type Failure = InvoicingUnsupported | StorageError

/** Makes and opens links to the pages for payers. */
export class PayerLinks extends Context.Service<
  PayerLinks,
  {
    /** Where the pages are, without a slash at the end. `null`: the host has none. */
    readonly url: string | null

    /** A link to an invoice that was issued: its page, its PDF and the way to pay it. */
    readonly invoice: (
      id: string,
      options?: LinkOptions,
    ) => Effect.Effect<
      PayerLink,
      ActionUnavailable | InvalidInput | InvoiceNotFound | PayerPagesUnavailable | Failure,
      CurrentTenant
    >

    /** A link to the pages of a customer: plan, usage, invoices, payment methods and cancellation. */
    readonly portal: (
      customerId: string,
      options?: LinkOptions,
    ) => Effect.Effect<
      PayerLink,
      CustomerNotFound | InvalidInput | PayerPagesUnavailable | StorageError,
      CurrentTenant
    >

    /** What a token is for. It does not say whether the object is still there. */
    readonly open: (token: string) => Effect.Effect<OpenedLink | LinkProblem>

    /**
     * The path of a link below the address of the pages, for claims that the caller has checked. It is signed by the key
     * of the link that was opened, so that it ends with that key as well.
     */
    readonly pathOf: (link: OpenedLink) => string
  }
>()("@billwright/core/payer/PayerLinks") {
  /** Links to the pages of these options. Without them, making a link fails, and no token opens anything. */
  static readonly layerWith = (
    options: PayerPagesOptions | undefined,
  ): Layer.Layer<PayerLinks, InvalidKeyring, Collections | Invoices> =>
    Layer.effect(
      PayerLinks,
      Effect.gen(function* () {
        const settings = options === undefined ? null : yield* payerSettings(options)
        const invoices = yield* Invoices
        const owners = (yield* Collections).of(customers)

        const pathOf = (link: OpenedLink): string =>
          settings === null ? "" : pathWith(settings, link, link.keyId)

        const configured = Effect.suspend(() =>
          settings === null ? Effect.fail(new PayerPagesUnavailable()) : Effect.succeed(settings),
        )

        const make = Effect.fnUntraced(function* (
          settings: PayerSettings,
          kind: LinkKind,
          id: InvoiceId | CustomerId,
          seconds: number,
          language: PayerLanguage | null,
        ) {
          const now = yield* Clock.currentTimeMillis
          const expiresAt = Math.floor(now / 1000) + seconds
          const claims = { kind, tenant: yield* CurrentTenant, id, expiresAt, language }
          const link: PayerLink = {
            url: Redacted.make(settings.url + pathWith(settings, claims)),
            expiresAt: ofMillis(expiresAt * 1000),
          }
          return link
        })

        const invoice = Effect.fn("PayerLinks.invoice")(function* (id: string, input: LinkOptions = {}) {
          const { expiresInSeconds = INVOICE_LINK_SECONDS, language = null } = yield* decodeOptions(input)
          const found = yield* invoices.get(id)
          if (found.status === "draft") {
            const problem = "link is not possible: the invoice is draft"
            return yield* new ActionUnavailable({ object: "invoice", id: found.id, problem })
          }
          return yield* make(yield* configured, "invoice", found.id, expiresInSeconds, language)
        })

        const portal = Effect.fn("PayerLinks.portal")(function* (id: string, input: LinkOptions = {}) {
          const { expiresInSeconds = PORTAL_LINK_SECONDS, language = null } = yield* decodeOptions(input)
          const found = yield* orNotFound(yield* owners.find(yield* knownId(id)), id)
          return yield* make(yield* configured, "portal", found.id, expiresInSeconds, language)
        })

        const open = (token: string): Effect.Effect<OpenedLink | LinkProblem> =>
          Effect.map(Clock.currentTimeMillis, (now) => settings?.keys.open(token, now) ?? "wrong")

        return PayerLinks.of({ url: settings?.url ?? null, invoice, portal, open, pathOf })
      }),
    )
}
