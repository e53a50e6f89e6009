/**
 * Whether calls may be made now, and when each begins.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { ClosedError, ConfigurationError, TransactionEndedError } from "../errors/RuntimeError.ts"
import * as CallName from "./CallName.ts"

export interface Gate {
  /** Runs the function of a transaction. */
  readonly during: <A>(work: () => Promise<A>) => Promise<A>
  /** Lets a call begin, or throws or rejects with why it may not. */
  readonly enter: <A>(call: () => Promise<A>) => Promise<A>
}

/** How long `close` waits for calls that are under way. */
const MAX_CLOSING_MILLIS = 5_000

const waits = (name = "…"): ConfigurationError =>
  new ConfigurationError(
    `billing.${name} would wait for the transaction that it is called in: call tx.${name}, on the tx that the function is given`,
  )

const stands = (name: string): string =>
  `billing.${name} was called in the function of a billing.transaction, and is no part of it: it commits whatever becomes of the transaction, and sees nothing of it. Call tx.${name}, or call it before or after`

/** The gate of a billing: calls run side by side until it is closed. */
export class OpenGate implements Gate {
  /** The open transaction that code runs in. */
  readonly #transactions = new AsyncLocalStorage<{ isOpen: boolean }>()
  /** Whether calls beside a transaction would wait for its end. */
  readonly #isSerial: boolean
  readonly #warn: (sentence: string) => void
  /** Calls that were warned of: once each. */
  readonly #warned = new Set<string>()
  readonly #inFlight = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  /** `warn` hears of calls beside the transaction that they are made in. */
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
      if (this.#isSerial) return Promise.reject(waits(name))
      if (name !== undefined && !this.#warned.has(name)) {
        this.#warned.add(name)
        this.#warn(stands(name))
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
  /** Names of the calls that were made and are not done. */
  readonly #running = new Map<Promise<unknown>, string>()

  enter<A>(call: () => Promise<A>): Promise<A> {
    if (this.#hasEnded) return Promise.reject(new TransactionEndedError())
    const running = this.#last.then(call)
    const leave = () => void this.#running.delete(running)
    this.#running.set(running, `tx.${CallName.current() ?? "call"}`)
    this.#last = running.then(leave, leave)
    return running
  }

  during<A>(work: () => Promise<A>): Promise<A> {
    return work()
  }

  /** Lets no call in any more, and waits for those that nobody awaited. Gives their names. */
  async end(): Promise<ReadonlyArray<string>> {
    this.#hasEnded = true
    const unawaited = [...this.#running.values()]
    await this.#last
    return unawaited
  }
}
