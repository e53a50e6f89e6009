/**
 * The bank of `Bank.ts`, as the library and tests reach it.
 */
import {
  type Notice,
  type PaymentProvider,
  type PaymentRead,
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
  readonly refunds: ReadonlyArray<Told>
}

/** A refund as it comes over the wire. */
type Told = Omit<ProviderRefund, "amount"> & { readonly reference: string; readonly amount: string }

const post = async (url: string, body: unknown): Promise<unknown> => {
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify(body, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
  })
  return response.json()
}

const refundOf = (told: Told): ProviderRefund => ({ ...told, amount: BigInt(told.amount) })

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
    refund: (refund) => Effect.map(call<Told>("refund", refund), refundOf),
    readRefund: (query) =>
      Effect.map(call<Told | null>("read_refund", query), (told) => (told === null ? null : refundOf(told))),
    readDispute: () => Effect.succeed(null),
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

/** Attempts are not answered any more, until `answer`. */
export const hold = (book: string): Promise<unknown> => post(`${book}/hold`, {})
export const answer = (book: string): Promise<unknown> => post(`${book}/answer`, {})
