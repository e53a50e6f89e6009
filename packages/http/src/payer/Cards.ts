/**
 * Payment methods of a customer on pages for payers.
 */
import {
  CurrentProvider,
  type Customer,
  type CustomerAction,
  type PaymentMethod,
  PaymentMethods,
} from "@billwright/core"
import { leavingPage } from "@billwright/engine/payer"
import { Effect, Redacted } from "effect"
import type { HttpResponse } from "../server/HttpExchange.ts"
import type { Visit } from "./Visit.ts"

/** Most payment methods of a page. */
const MAX_SHOWN = 10
const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"])

/** An address of the provider that a browser may be sent to. */
const safeUrl = (text: string): string | undefined => {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && LOCAL.has(url.hostname))
  return isSafe ? url.href : undefined
}

/**
 * Takes the payer to a page of the provider. A redirect would be refused by browsers, which hold the answer to a form to the
 * policy of its page. `undefined`: the provider gave no page.
 */
export const leaving = (
  { answers, frame }: Visit,
  language: string | null,
  { url }: CustomerAction,
): HttpResponse | undefined => {
  const address = url === null ? undefined : safeUrl(Redacted.value(url))
  if (address === undefined) return undefined
  return answers.page(200, leavingPage(frame(language), address), { refresh: `0;url=${address}` })
}

/** The functions over the methods of the provider that is used now. */
export const makeCards = Effect.gen(function* () {
  const methods = yield* PaymentMethods
  const provider = yield* CurrentProvider

  /** Those that are saved, the default first. */
  const saved = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
    if (provider?.methods === undefined) return []
    const { data } = yield* methods.list({ customerId, status: "attached", limit: MAX_SHOWN })
    return data
      .filter((method) => method.provider === provider.name)
      .toSorted((a, b) => Number(b.isDefault) - Number(a.isDefault))
  })

  /** Begins a method, which the payer saves on a page of the provider. */
  const begin = Effect.fnUntraced(function* (
    visit: Visit,
    language: string | null,
    customerId: Customer.CustomerId,
  ) {
    const { id } = yield* methods.create({ customerId })
    const started = yield* methods.startSetup(id, { returnUrl: `${visit.address}/return/${id}` })
    return leaving(visit, language, started) ?? visit.answers.seeOther(visit.path)
  })

  /** One of the customer. Those of others are not there. */
  const find = (id: string, customerId: Customer.CustomerId) =>
    Effect.map(
      Effect.catchTag(methods.get(id), "PaymentMethodNotFound", () => Effect.succeed(undefined)),
      (method): PaymentMethod.PaymentMethod | undefined =>
        method?.customerId === customerId ? method : undefined,
    )

  /** The payer is back from the page of the provider: whether a method was saved is read there. */
  const returned = Effect.fnUntraced(function* (id: string, customerId: Customer.CustomerId) {
    const method = yield* find(id, customerId)
    if (method === undefined) return
    yield* methods.refresh(method.id).pipe(
      // Billing runs read it again. The page shows what is known.
      Effect.catchTag(["ActionUnavailable", "PaymentProviderUnavailable"], () => Effect.void),
    )
  })

  return { provider, saved, begin, find, returned, update: methods.update }
})
