/**
 * Whether calls may be made now, and when each begins.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { ClosedError, ConfigurationError, TransactionEndedError } from "../errors/RuntimeError.ts"

export interface Gate {
  /** Runs the function of a transaction. */
  readonly during: <A>(work: () => Promise<A>) => Promise<A>
  /** Lets a call begin, or throws or rejects with why it may not. */
  readonly enter: <A>(call: () => Promise<A>) => Promise<A>
}

/** How long `close` waits for calls that are under way. */
const MAX_CLOSING_MILLIS = 5_000

const inTransaction = () =>
  new ConfigurationError(
    "this call would wait for the transaction that it is made in: make it on the tx that the function is given",
  )

/** The gate of a billing: calls run side by side until it is closed. */
export class OpenGate implements Gate {
  /** The open transaction that code runs in, where calls beside it would wait for its end. */
  readonly #transactions: AsyncLocalStorage<{ isOpen: boolean }> | undefined
  readonly #inFlight = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor(isSerial: boolean) {
    this.#transactions = isSerial ? new AsyncLocalStorage() : undefined
  }

  /** Aborts when billing is being closed. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  enter<A>(call: () => Promise<A>): Promise<A> {
    if (this.#closing.signal.aborted) return Promise.reject(new ClosedError())
    if (this.#transactions?.getStore()?.isOpen === true) return Promise.reject(inTransaction())
    const running = call()
    this.#inFlight.add(running)
    const leave = () => this.#inFlight.delete(running)
    running.then(leave, leave)
    return running
  }

  async during<A>(work: () => Promise<A>): Promise<A> {
    if (this.#transactions === undefined) return work()
    const transaction = { isOpen: true }
    try {
      return await this.#transactions.run(transaction, work)
    } finally {
      transaction.isOpen = false
    }
  }

  /** Lets no call in any more, and waits for those under way: 5 seconds at most. */
  async close(): Promise<void> {
    this.#closing.abort()
    const { promise: patience, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, MAX_CLOSING_MILLIS)
    await Promise.race([Promise.allSettled(this.#inFlight), patience])
    clearTimeout(timer)
  }
}

/**
 * The gate of a transaction: calls run one after another, in the order in which they were made. A transaction is one
 * connection, so that side by side they would only wait for each other, in an order that nobody chose.
 */
export class TransactionGate implements Gate {
  #last: Promise<unknown> = Promise.resolve()
  #hasEnded = false

  enter<A>(call: () => Promise<A>): Promise<A> {
    if (this.#hasEnded) return Promise.reject(new TransactionEndedError())
    const running = this.#last.then(call)
    this.#last = running.catch(() => undefined)
    return running
  }

  during<A>(work: () => Promise<A>): Promise<A> {
    return work()
  }

  /** Lets no call in any more, and waits for those that nobody awaited. */
  async end(): Promise<void> {
    this.#hasEnded = true
    await this.#last
  }
}
