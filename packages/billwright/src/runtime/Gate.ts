/**
 * Decides whether a call may start, and when.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { Deferred, Effect } from "effect"
import { ClosedError, ConfigurationError, TransactionEndedError } from "../errors/RuntimeError.ts"
import * as CallName from "./CallName.ts"

export interface Gate {
  /** Runs the function of a transaction. */
  readonly during: <A>(work: () => Promise<A>) => Promise<A>
  /** Starts a call, or throws or rejects with the reason why it may not start. */
  readonly enter: <A>(call: () => Promise<A>) => Promise<A>
  /** Fails when running calls have to end at once. `undefined`: they never have to. */
  readonly interruption?: Effect.Effect<never, TransactionEndedError>
}

/** How long `close` waits for running calls. */
const MAX_CLOSING_MILLIS = 5_000

const wouldWait = (name = "…"): ConfigurationError =>
  new ConfigurationError(
    `billing.${name} would wait for ever, because it was called inside the function of billing.transaction: call tx.${name}, on the tx that the function gets`,
  )

const isOutside = (name: string): string =>
  `billing.${name} was called inside the function of billing.transaction, but is not part of the transaction: it commits even if the transaction rolls back, and doesn't see its writes. Call tx.${name} instead, or call billing.${name} before or after the transaction`

const GIVEN_UP =
  "this transaction was given up before the call had finished: its signal aborted, or it took too long"

/** The gate of a billing: calls run concurrently until billing is closed. */
export class OpenGate implements Gate {
  /** The open transaction whose function is running. */
  readonly #transactions = new AsyncLocalStorage<{ isOpen: boolean }>()
  /** Whether a call outside an open transaction would wait for the transaction to end. */
  readonly #isSerial: boolean
  readonly #warn: (sentence: string) => void
  /** The names of calls that a warning was logged for. Each is warned about once. */
  readonly #warned = new Set<string>()
  readonly #inFlight = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  /** `warn` is called when a call is made in a transaction's function but outside the transaction. */
  constructor(isSerial: boolean, warn: (sentence: string) => void) {
    this.#isSerial = isSerial
    this.#warn = warn
  }

  /** Aborts when billing is being closed. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  enter<A>(call: () => Promise<A>): Promise<A> {
    if (this.#closing.signal.aborted) return Promise.reject(new ClosedError())
    if (this.#transactions.getStore()?.isOpen === true) {
      const name = CallName.current()
      if (this.#isSerial) return Promise.reject(wouldWait(name))
      if (name !== undefined && !this.#warned.has(name)) {
        this.#warned.add(name)
        this.#warn(isOutside(name))
      }
    }
    const running = call()
    this.#inFlight.add(running)
    const leave = () => this.#inFlight.delete(running)
    running.then(leave, leave)
    return running
  }

  async during<A>(work: () => Promise<A>): Promise<A> {
    const transaction = { isOpen: true }
    try {
      return await this.#transactions.run(transaction, work)
    } finally {
      transaction.isOpen = false
    }
  }

  /** Refuses new calls, and waits for running ones: 5 seconds at most. */
  async close(): Promise<void> {
    this.#closing.abort()
    const { promise: patience, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, MAX_CLOSING_MILLIS)
    await Promise.race([Promise.allSettled(this.#inFlight), patience])
    clearTimeout(timer)
  }
}

/**
 * The gate of a transaction: calls run one after another, in the order in which they were made. A transaction has
 * only one connection, so concurrent calls would wait for each other anyway, in an unpredictable order.
 */
export class TransactionGate implements Gate {
  #last: Promise<unknown> = Promise.resolve()
  #hasEnded = false
  #isGivenUp = false
  readonly #interruption = Deferred.makeUnsafe<never, TransactionEndedError>()
  /** The names of calls that have not finished. */
  readonly #running = new Map<Promise<unknown>, string>()

  get interruption(): Effect.Effect<never, TransactionEndedError> {
    return Deferred.await(this.#interruption)
  }

  enter<A>(call: () => Promise<A>): Promise<A> {
    if (this.#hasEnded) return Promise.reject(new TransactionEndedError())
    const running = this.#last.then(() => {
      if (this.#isGivenUp) throw new TransactionEndedError(GIVEN_UP)
      return call()
    })
    const leave = () => void this.#running.delete(running)
    this.#running.set(running, `tx.${CallName.current() ?? "call"}`)
    this.#last = running.then(leave, leave)
    return running
  }

  during<A>(work: () => Promise<A>): Promise<A> {
    return work()
  }

  /** Refuses new calls, and waits for those still running, which were not awaited. Returns their names. */
  async end(): Promise<ReadonlyArray<string>> {
    this.#hasEnded = true
    const unawaited = [...this.#running.values()]
    await this.#last
    return unawaited
  }

  /** Refuses new calls and those that wait for their turn, and waits until the running one has ended. */
  async giveUp(): Promise<void> {
    this.#isGivenUp = true
    await this.end()
  }

  /** The same, but interrupts the running call. */
  async interrupt(): Promise<void> {
    Deferred.doneUnsafe(this.#interruption, Effect.fail(new TransactionEndedError(GIVEN_UP)))
    await this.giveUp()
  }
}
