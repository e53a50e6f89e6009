/**
 * The calls of the Billwright API that metering needs, over `fetch`.
 *
 * Every call can be repeated safely: reads, customers with an `Idempotency-Key`, and usage with an `idempotency_key` in
 * each record. So a request without an answer is sent again, a few times.
 */
import { setTimeout as wait } from "node:timers/promises"
import { parseExactly } from "./ExactJson.ts"
import { Problem } from "./Problem.ts"

export interface Customer {
  readonly id: string
  readonly name: string
  readonly email: string
}

export interface UsageRecord {
  readonly customer_id: string
  readonly product_id: string
  readonly quantity: number
  readonly unit: string
  readonly timestamp: string
  readonly idempotency_key: string
}

/** The result of a batch. `refused` is the index of a refused record. Then nothing of the batch is stored. */
export type BatchOutcome =
  | { readonly recorded: number; readonly duplicates: number; readonly refused?: never }
  | { readonly refused: { readonly index: number; readonly isConflict: boolean; readonly message: string } }

export interface SummaryQuery {
  readonly customer_id: string
  readonly product_id: string
  readonly unit: string
  readonly start_date: string
  readonly end_date: string
}

interface Call {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly idempotencyKey?: string
}

interface Answer {
  readonly status: number
  readonly retryAfter: string | null
  readonly requestId: string | null
  readonly body: unknown
}

const MAX_TRIES = 6
const FIRST_WAIT_MS = 250
/** The longest pause that the program waits for. */
const MAX_WAIT_MS = 60_000
const TIMEOUT_MS = 30_000
const INTEGERS = new Set(["total_quantity"])

export class Client {
  readonly #base: string
  readonly #key: string
  #hasAnswered = false

  constructor(options: { readonly url: string; readonly key: string }) {
    this.#base = `${options.url.replace(/\/+$/, "")}/v1`
    this.#key = options.key
  }

  /** The customers with an e-mail address, usually one or none. */
  async findCustomers(email: string): Promise<ReadonlyArray<Customer>> {
    const body = await this.#succeed({ method: "GET", path: "/customers", query: { email, limit: "2" } })
    return (body as { readonly data: ReadonlyArray<Customer> }).data
  }

  async createCustomer(
    customer: Omit<Customer, "id"> & { readonly metadata: Readonly<Record<string, string>> },
    idempotencyKey: string,
  ): Promise<Customer> {
    const body = await this.#succeed({ method: "POST", path: "/customers", body: customer, idempotencyKey })
    return body as Customer
  }

  /** Stores up to 1,000 records. When one is refused, none is stored. */
  async recordBatch(records: ReadonlyArray<UsageRecord>): Promise<BatchOutcome> {
    const call: Call = { method: "POST", path: "/usage/batch", body: { records } }
    const answer = await this.#send(call)
    if (answer.status === 400 || answer.status === 409) {
      const { message } = answer.body as { readonly message: string }
      const index = /^records\[(\d+)\]/.exec(message)?.[1]
      if (index !== undefined)
        return { refused: { index: Number(index), isConflict: answer.status === 409, message } }
    }
    return this.#bodyOf(call, answer) as { readonly recorded: number; readonly duplicates: number }
  }

  /** The exact total of a customer's usage of a product in one unit, from the first day to the last. */
  async totalOf(query: SummaryQuery): Promise<bigint> {
    const body = await this.#succeed({ method: "GET", path: "/usage", query: { ...query } })
    return (body as { readonly total_quantity: bigint }).total_quantity
  }

  async #succeed(call: Call): Promise<unknown> {
    return this.#bodyOf(call, await this.#send(call))
  }

  #bodyOf({ method, path }: Call, { status, body, requestId }: Answer): unknown {
    if (status === 200 || status === 201) return body
    const { message } = body as { readonly message: string }
    if (status === 401) throw new Problem(`${this.#base} does not accept this key: ${message}.`)
    throw new Problem(`${method} ${this.#base}${path} was answered with ${status}: ${message} (${requestId})`)
  }

  /** Sends a request until the answer is not "try again". */
  async #send(call: Call): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const outcome = await this.#try(call)
      const isAnswer = typeof outcome !== "string"
      if (isAnswer && !asksToTryAgain(outcome)) return outcome
      const why = isAnswer ? `the server answered ${outcome.status}` : outcome
      const pause =
        (isAnswer ? retryAfter(outcome.retryAfter) : undefined) ?? FIRST_WAIT_MS * 2 ** (tries - 1)
      if (tries === MAX_TRIES) throw new Problem(`Gave up on ${this.#base} after ${tries} tries: ${why}.`)
      if (pause > MAX_WAIT_MS)
        throw new Problem(`${this.#base} asks to come back in ${Math.ceil(pause / 1000)} seconds: ${why}.`)
      await wait(pause)
    }
  }

  /** Sends a request once. Returns the answer, or why there was none. */
  async #try(call: Call): Promise<Answer | string> {
    const query = call.query === undefined ? "" : `?${new URLSearchParams(call.query)}`
    try {
      const response = await fetch(`${this.#base}${call.path}${query}`, {
        method: call.method,
        headers: {
          authorization: `Bearer ${this.#key}`,
          ...(call.body === undefined ? {} : { "content-type": "application/json" }),
          ...(call.idempotencyKey === undefined ? {} : { "idempotency-key": call.idempotencyKey }),
        },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const text = await response.text()
      this.#hasAnswered = true
      return {
        status: response.status,
        retryAfter: response.headers.get("retry-after"),
        requestId: response.headers.get("request-id"),
        body: this.#read(text, response.status),
      }
    } catch (error) {
      if (error instanceof Problem) throw error
      const why = reasonOf(error)
      // A server that has never answered is probably not running.
      if (!this.#hasAnswered) throw new Problem(`Cannot reach ${this.#base}: ${why}. Is the server running?`)
      return why
    }
  }

  #read(text: string, status: number): unknown {
    try {
      const body = parseExactly(text, INTEGERS)
      if (typeof body === "object" && body !== null && ("object" in body || "message" in body)) return body
    } catch {
      // Reported below.
    }
    // A proxy may answer with its own error pages.
    if (RETRIED.has(status)) return { message: "no reason given" }
    throw new Problem(`${this.#base} answered ${status}, but not as Billwright does.`)
  }
}

const RETRIED = new Set([429, 502, 503, 504])

/** Whether the server is busy, or is still running a request with the same Idempotency-Key (409 with `Retry-After`). */
const asksToTryAgain = ({ status, retryAfter }: Answer): boolean =>
  RETRIED.has(status) || (status === 409 && retryAfter !== null)

/** The delay of a `Retry-After` (seconds or a date), in milliseconds. */
const retryAfter = (value: string | null): number | undefined => {
  if (value === null) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message
  return error.message
}
