/**
 * The bank of `Bank.ts`, as the library and tests reach it.
 */
import {
  type Notice,
  type PaymentProvider,
  type PaymentRead,
  type ProviderDispute,
  ProviderFailure,
  type ProviderRefund,
} from "@billwright/core"
import { Effect } from "effect"

/** A payment in the book of the bank. */
export interface Banked {
  readonly reference: string
  readonly invoiceId: string
  readonly amount: string
  readonly arrived: ReadonlyArray<string>
  readonly charges: number
  readonly isClosed: boolean
  /** Refunds that were made. */
  readonly refunds: ReadonlyArray<Told>
  /** Refunds that were refused. */
  readonly refused: ReadonlyArray<ToldOf<ProviderRefund>>
  readonly disputes: ReadonlyArray<ToldOf<ProviderDispute>>
}

/** What goes back, as it comes over the wire. */
type ToldOf<A> = Omit<A, "amount"> & { readonly amount: string }

type Told = ToldOf<ProviderRefund> & { readonly reference: string }

const post = async (url: string, body: unknown): Promise<unknown> => {
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify(body, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
  })
  return response.json()
}

const stated = <A extends { readonly amount: string }>(told: A) => ({ ...told, amount: BigInt(told.amount) })
const statedOrNull = <A extends { readonly amount: string }>(told: A | null) =>
  told === null ? null : stated(told)

/** The provider, by the URL of a book. An answer that does not come leaves the outcome unknown. */
export const bankAt = (book: string): PaymentProvider => {
  const call = <A>(name: string, body: unknown) =>
    Effect.tryPromise({
      try: () => post(`${book}/${name}`, body) as Promise<A>,
      catch: () => new ProviderFailure({ reason: "unknown", message: "the bank did not answer" }),
    })
  return {
    name: "bank",
    chargeable: () => ({ status: "ok" }),
    openPayment: (payment) => call<{ readonly reference: string }>("open", payment),
    attemptPayment: (attempt) => call<PaymentRead>("attempt", attempt),
    readPayment: (reference) => call<PaymentRead>("read", { reference }),
    closePayment: (reference) =>
      Effect.map(
        call<{ readonly answer: "closed" | "already_succeeded" }>("close", { reference }),
        ({ answer }) => answer,
      ),
    refund: (refund) => Effect.map(call<ToldOf<ProviderRefund>>("refund", refund), stated),
    readRefund: (query) =>
      Effect.map(call<ToldOf<ProviderRefund> | null>("read_refund", query), statedOrNull),
    readDispute: (reference) =>
      Effect.map(call<ToldOf<ProviderDispute> | null>("read_dispute", { reference }), statedOrNull),
    receive: ({ body }) => ({
      type: "notices",
      notices: [JSON.parse(new TextDecoder().decode(body)) as Notice],
    }),
  }
}

/** Everything in a book. */
export const bankedAt = async (book: string): Promise<ReadonlyArray<Banked>> => {
  const response = await fetch(book)
  return (await response.json()) as ReadonlyArray<Banked>
}

/** Attempts and refunds are carried out and not answered any more, until `answer`. */
export const hold = (book: string): Promise<unknown> => post(`${book}/hold`, {})
/** Attempts and refunds are on their way, and not carried out until `answer`. */
export const stall = (book: string): Promise<unknown> => post(`${book}/stall`, {})
export const answer = (book: string): Promise<unknown> => post(`${book}/answer`, {})
/** How many requests are on their way, or are not answered yet. */
export const waitingAt = async (book: string): Promise<number> =>
  ((await post(`${book}/waiting`, {})) as { readonly waiting: number }).waiting

/** A book that begins as a copy of another one. */
export const copyBook = (from: string, to: string): Promise<unknown> =>
  post(`${to}/copy`, { from: from.split("/").at(-1) })

/** A customer disputes what is left of a payment. */
export const openDispute = (book: string, reference: string): Promise<unknown> =>
  post(`${book}/dispute`, { reference })
/** The customer's bank decides all disputes. */
export const decide = (book: string, status: "won" | "lost"): Promise<unknown> =>
  post(`${book}/decide`, { status })
