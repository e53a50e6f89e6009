/**
 * A payment provider for tests. It keeps payments in memory, and fails as it is told.
 */
import { Effect } from "effect"
import {
  type AttemptPayment,
  type OpenPayment,
  type PaymentProvider,
  type PaymentRead,
  ProviderFailure,
} from "./PaymentProvider.ts"

/** A call of a provider. */
export type ProviderCall = "openPayment" | "attemptPayment" | "readPayment" | "closePayment"

/**
 * What goes wrong with a call.
 *
 * - `lose_request`: the request never arrives, and nobody knows that.
 * - `lose_reply`: it is done, and the answer is lost.
 * - `refuse`: the provider is busy; surely nothing happened.
 * - `break`: it refuses for good, such as for a wrong key of the host; surely nothing happened.
 * - `twice`: the request arrives twice.
 * - `late`: the answer is one of earlier.
 */
export type ProviderFault = "lose_request" | "lose_reply" | "refuse" | "break" | "twice" | "late"

/** What an attempt comes to, if nothing goes wrong. */
export type FakeOutcome =
  | { readonly status: "succeeded" | "processing" | "requires_action" }
  | Omit<Extract<PaymentRead, { readonly status: "declined" }>, "attemptId">

/** How a fake provider behaves. */
export interface FakeOptions {
  /** What goes wrong with a call. Default: nothing. */
  readonly faultOf?: (call: ProviderCall) => ProviderFault | undefined
  /** What a new attempt comes to. Default: it succeeds. */
  readonly outcomeOf?: (attempt: AttemptPayment) => FakeOutcome
}

/** A payment at the fake provider. */
export interface FakePayment extends OpenPayment {
  readonly reference: string
  readonly state: PaymentRead
  readonly isClosed: boolean
  /** How often money was taken: 0 or 1, unless the provider is broken. */
  readonly charges: number
  /** The ids of the attempts that arrived, each once. */
  readonly attempts: ReadonlyArray<string>
}

const unknown = (message: string) => new ProviderFailure({ reason: "unknown", message })

/**
 * A provider in memory. A payment succeeds once at most, an attempt counts once however often it arrives, and what is
 * closed never succeeds.
 */
export class FakeProvider implements PaymentProvider {
  readonly name: string = "fake"
  readonly #payments = new Map<string, FakePayment>()
  readonly #earlier = new Map<string, PaymentRead>()
  readonly #options: FakeOptions

  constructor(options: FakeOptions = {}) {
    this.#options = options
  }

  /** All payments that were opened, in their order. */
  get payments(): ReadonlyArray<FakePayment> {
    return [...this.#payments.values()]
  }

  /** What the customer or a bank does to a payment that waits: it succeeds, or it is declined with a code. */
  settle(reference: string, outcome: "succeeded" | { readonly code: string }): void {
    const payment = this.#find(reference)
    const attemptId = payment.attempts.at(-1) ?? ""
    this.#conclude(
      payment,
      outcome === "succeeded"
        ? { status: "succeeded" }
        : { status: "declined", attemptId, code: outcome.code, advice: null, notBefore: null },
    )
  }

  openPayment(payment: OpenPayment) {
    return this.#call("openPayment", () => {
      const reference = `fake_${payment.paymentId}`
      if (!this.#payments.has(reference)) {
        const state = { status: "open" } as const
        this.#payments.set(reference, {
          ...payment,
          reference,
          state,
          isClosed: false,
          charges: 0,
          attempts: [],
        })
      }
      return { reference }
    })
  }

  attemptPayment(attempt: AttemptPayment) {
    return this.#call(
      "attemptPayment",
      () => this.#attempt(attempt),
      () => this.#earlier.get(attempt.reference),
    )
  }

  readPayment(reference: string) {
    return this.#call(
      "readPayment",
      () => this.#find(reference).state,
      () => this.#earlier.get(reference),
    )
  }

  closePayment(reference: string) {
    return this.#call("closePayment", () => {
      const payment = this.#find(reference)
      if (payment.state.status === "succeeded") return "already_succeeded" as const
      this.#payments.set(reference, { ...payment, isClosed: true })
      return "closed" as const
    })
  }

  #attempt(attempt: AttemptPayment): PaymentRead {
    const payment = this.#find(attempt.reference)
    const { attempts, isClosed, state } = payment
    const isPossible = !isClosed && state.status !== "succeeded" && state.status !== "processing"
    if (!isPossible || attempts.includes(attempt.attemptId)) return state
    const outcome = this.#options.outcomeOf?.(attempt) ?? ({ status: "succeeded" } as const)
    return this.#conclude(
      { ...payment, attempts: [...attempts, attempt.attemptId] },
      outcome.status === "declined" ? { ...outcome, attemptId: attempt.attemptId } : outcome,
    )
  }

  #conclude(payment: FakePayment, state: PaymentRead): PaymentRead {
    this.#earlier.set(payment.reference, payment.state)
    const isCharge = state.status === "succeeded" && payment.state.status !== "succeeded"
    this.#payments.set(payment.reference, {
      ...payment,
      state,
      charges: payment.charges + (isCharge ? 1 : 0),
    })
    return state
  }

  #find(reference: string): FakePayment {
    const found = this.#payments.get(reference)
    if (found === undefined) throw new TypeError(`no payment has the reference ${reference}`)
    return found
  }

  /** Makes a call, with what goes wrong. `before` is the answer of earlier, if there is one. */
  #call<A>(
    call: ProviderCall,
    work: () => A,
    before: () => A | undefined = () => undefined,
  ): Effect.Effect<A, ProviderFailure> {
    return Effect.suspend((): Effect.Effect<A, ProviderFailure> => {
      switch (this.#options.faultOf?.(call)) {
        case "lose_request":
          return Effect.fail(unknown("the connection was lost"))
        case "lose_reply":
          work()
          return Effect.fail(unknown("the connection was lost"))
        case "refuse":
          return Effect.fail(new ProviderFailure({ reason: "transient", message: "too many requests" }))
        case "break":
          return Effect.fail(new ProviderFailure({ reason: "permanent", message: "the key is wrong" }))
        case "twice":
          work()
          return Effect.sync(work)
        case "late": {
          const now = work()
          return Effect.succeed(before() ?? now)
        }
        case undefined:
          return Effect.sync(work)
      }
    })
  }
}
