/**
 * The tax rates of invoices: by the host's table, or from a tax service.
 *
 * A table is asked whenever amounts are computed. A service is asked outside of transactions, before an invoice is
 * issued. Its answer is stored on the invoice with a hash of what was asked. While the invoice is a draft, another hash
 * means that it has to be asked again.
 */
import {
  documentText,
  InvoiceError,
  NOT_TAXED,
  quoteByTable,
  quoteOf,
  TAX_NOT_KNOWN,
  type TaxCustomer,
  type TaxQuote,
  type TaxRate,
  type TaxRequest,
  type TaxTable,
} from "@billwright/engine"
import { Data, Effect } from "effect"
import type { Customer } from "../customers/Customer.ts"
import { answerWithin } from "../shared/OutsideCall.ts"
import * as Sha256 from "../shared/Sha256.ts"

/** How long a tax service may take for one answer, in milliseconds. */
export const TAX_SERVICE_MILLIS = 10_000
/** How often a service is asked about one invoice whose lines change meanwhile, before it is tried again later. */
const MAX_QUESTIONS = 3

/** A tax service. */
export interface TaxService {
  /**
   * Gives a rate for each line of the request, within `TAX_SERVICE_MILLIS`. It is asked outside of transactions, and may be
   * asked the same more than once. When it fails, the draft waits and is tried again; its `failure` says why.
   */
  readonly quote: (request: TaxRequest) => Effect.Effect<TaxQuote, unknown>
}

/** Where rates come from. `null`: nothing is taxed. */
export type TaxSource = TaxTable | TaxService | null

/** What an invoice was taxed by. */
export interface StoredTax {
  /** The customer as it was when the lines were taxed last. */
  readonly customer: TaxCustomer
  /** The SHA-256 of what the service was asked, and its answer. Both are `null` unless a service answered. */
  readonly asked: string | null
  readonly quote: TaxQuote | null
  /** Whom the invoice is addressed to. Invoices of releases before it was kept have none. */
  readonly billedTo?: BilledTo
}

/** What an invoice says of its customer, besides what its taxes depend on: as it was when its lines were taxed last. */
export type BilledTo = Pick<Customer, "name" | "address" | "locale" | "timezone">

/** The rates of lines. */
export interface Rates {
  readonly quote: TaxQuote
  readonly stored: StoredTax
  /** Why the rates are not those that the invoice is issued with. `undefined` if they are. */
  readonly unknown?: TaxesUnknown
}

/** An invoice can't be issued, because the tax of its lines is not known. */
export class TaxesUnknown extends Data.TaggedError("TaxesUnknown")<{
  readonly message: string
  /** What the service has to be asked. `undefined` if asking does not help. */
  readonly request?: TaxRequest
}> {}

/** The answer of the service to a request. */
export interface TaxAnswer {
  readonly asked: string
  readonly quote: TaxQuote
}

/** There is no tax. */
const NO_TAX: TaxRate = { category: "O", rate: "0", country: null, reason: NOT_TAXED }
/** The rate of the lines of drafts until their tax is known. */
const NOT_KNOWN: TaxRate = { ...NO_TAX, reason: TAX_NOT_KNOWN }

const withRate = ({ lines }: TaxRequest, rate: TaxRate): TaxQuote => ({
  behavior: "exclusive",
  rates: Object.fromEntries(lines.map(({ id }) => [id, rate])),
})

/** Whether a service is asked for rates, outside of transactions. */
export const isAsked = (source: TaxSource): boolean => source !== null && isService(source)

const isService = (source: TaxTable | TaxService): source is TaxService => "quote" in source

const hashOf = (request: TaxRequest): string => Sha256.hex(documentText(request))

const byTable = (table: TaxTable, request: TaxRequest, stored: StoredTax): Rates => {
  try {
    return { quote: quoteByTable(table, request), stored }
  } catch (error) {
    if (!(error instanceof InvoiceError)) throw error
    const quote = { ...withRate(request, NOT_KNOWN), behavior: table.behavior }
    return { quote, stored, unknown: new TaxesUnknown({ message: error.message }) }
  }
}

const byService = (request: TaxRequest, answer: TaxAnswer | undefined, stored: StoredTax): Rates => {
  const asked = hashOf(request)
  if (answer?.asked === asked) return { quote: answer.quote, stored: { ...stored, ...answer } }
  const unknown = new TaxesUnknown({ message: "the tax service was not asked yet", request })
  return { quote: withRate(request, NOT_KNOWN), stored, unknown }
}

/** The rates of lines, as far as they are known without asking a service. */
export const ratesOf = (source: TaxSource, request: TaxRequest, answer: TaxAnswer | undefined): Rates => {
  const stored: StoredTax = { customer: request.customer, asked: null, quote: null }
  if (source === null) return { quote: withRate(request, NO_TAX), stored }
  return isService(source) ? byService(request, answer, stored) : byTable(source, request, stored)
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Asks the service. Whatever goes wrong is a `TaxesUnknown`. Not within a transaction. */
const ask = (source: TaxSource, request: TaxRequest): Effect.Effect<TaxAnswer, TaxesUnknown> => {
  if (source === null || !isService(source))
    return Effect.die(new TypeError("there is no tax service to ask"))
  const failed = (error: unknown) =>
    new TaxesUnknown({ message: `the tax service gave no rates: ${reasonOf(error)}` })
  return answerWithin(
    () => source.quote(request),
    TAX_SERVICE_MILLIS,
    (problem) => problem,
  ).pipe(
    Effect.flatMap((quote) => Effect.try({ try: () => quoteOf(request, quote), catch: (error) => error })),
    Effect.mapError(failed),
    Effect.map((quote) => ({ asked: hashOf(request), quote })),
  )
}

/**
 * Runs work that issues an invoice in a transaction of its own. When the work needs an answer of the service, its
 * transaction is undone, the service is asked, and the work runs again with the answer.
 */
export const answering = <A, E, R>(
  source: TaxSource,
  work: (answer: TaxAnswer | undefined) => Effect.Effect<A, E | TaxesUnknown, R>,
): Effect.Effect<A, E | TaxesUnknown, R> => {
  const attempt = (answer: TaxAnswer | undefined, questions: number): Effect.Effect<A, E | TaxesUnknown, R> =>
    Effect.catchIf(
      work(answer),
      (error): error is Extract<E, TaxesUnknown> | TaxesUnknown => error instanceof TaxesUnknown,
      (unknown) =>
        unknown.request === undefined || questions === MAX_QUESTIONS
          ? Effect.fail(unknown)
          : Effect.flatMap(ask(source, unknown.request), (given) => attempt(given, questions + 1)),
    )
  return attempt(undefined, 0)
}
