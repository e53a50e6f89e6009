import { EventEmitter, once } from "node:events"
/**
 * Clients that post usage without pause, and send again what was not acknowledged until it is.
 */
import type { Answer } from "./Cli.ts"

/** One answer as its client saw it. */
interface Answered extends Answer {
  readonly millis: number
  readonly retryAfter: string | null
}

/** Records in one batch. */
const BATCH = 3
/** Long after the server must have answered: without it a hang would be found by the time-out of the test alone. */
const HANG_MILLIS = 20_000

const RUNNING = "a request with the same Idempotency-Key is still running"

export class UsageLoad {
  readonly #url: string
  readonly #key: string
  readonly #customer: string
  readonly #answers = new EventEmitter()
  readonly #clients: ReadonlyArray<Promise<void>>
  /** By client. */
  readonly #acknowledgements: Array<number>
  readonly #refusals: Array<number>
  #isEnding = false
  #next = 1
  /** Answers that break the promise, for a test to compare with none. */
  readonly broken: Array<unknown> = []
  /** The time of the slowest answer, in milliseconds. */
  slowest = 0

  constructor(url: string, key: string, customer: string, clients: number) {
    this.#url = url
    this.#key = key
    this.#customer = customer
    this.#acknowledgements = Array.from({ length: clients }, () => 0)
    this.#refusals = Array.from({ length: clients }, () => 0)
    this.#clients = Array.from({ length: clients }, (_, client) => this.#run(client))
  }

  /** Waits until every client was acknowledged so much more often. */
  async acknowledged(times = 1): Promise<void> {
    await this.#more(this.#acknowledgements, times)
  }

  /** Waits until every client was refused so much more often. */
  async refused(times = 1): Promise<void> {
    await this.#more(this.#refusals, times)
  }

  /** Waits until everything that was sent is acknowledged; gives what a summary must say then. */
  async end(): Promise<{ readonly records: number; readonly quantity: number }> {
    this.#isEnding = true
    await Promise.all(this.#clients)
    const records = this.#next - 1
    return { records, quantity: (records * (records + 1)) / 2 }
  }

  async #more(counts: ReadonlyArray<number>, times: number): Promise<void> {
    const goals = counts.map((count) => count + times)
    while (goals.some((goal, client) => counts[client]! < goal)) {
      // What is waited for may never come once the promise is broken.
      if (this.broken.length > 0) throw new Error(JSON.stringify(this.broken))
      await once(this.#answers, "answer")
    }
  }

  async #run(client: number): Promise<void> {
    while (!this.#isEnding) {
      const send = this.#request(client)
      while (!(await this.#isAcknowledged(client, send)));
    }
  }

  /** What a client sends, by turns of the clients: a record, a batch, a record that the header makes unique. */
  #request(client: number): () => Promise<Answered> {
    const kind = client % 3
    const numbers = Array.from({ length: kind === 1 ? BATCH : 1 }, () => this.#next++)
    const records = numbers.map((n) => ({
      customer_id: this.#customer,
      product_id: "api",
      unit: "call",
      quantity: n,
      ...(kind === 2 ? {} : { idempotency_key: `k${n}` }),
    }))
    return kind === 1
      ? () => this.#post("/v1/usage/batch", { records })
      : () =>
          this.#post(
            "/v1/usage",
            records[0],
            kind === 2 ? { "idempotency-key": `${this.#customer}-${numbers[0]}` } : {},
          )
  }

  async #post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answered> {
    const sentAt = performance.now()
    const response = await fetch(`${this.#url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#key}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(HANG_MILLIS),
    })
    const text = await response.text()
    return {
      status: response.status,
      text,
      body: JSON.parse(text) as Record<string, unknown>,
      millis: performance.now() - sentAt,
      retryAfter: response.headers.get("retry-after"),
    }
  }

  async #isAcknowledged(client: number, send: () => Promise<Answered>): Promise<boolean> {
    // No answer at all is not one of the outcomes.
    const answer = await send().catch((error: unknown) => String(error))
    const isAnswered = typeof answer !== "string"
    const isAcknowledged = isAnswered && (answer.status === 200 || answer.status === 201)
    const isBroken = !isAnswered || !(isAcknowledged || isRefusal(answer))
    if (isBroken) {
      this.broken.push(answer)
      this.#isEnding = true
    } else {
      this.slowest = Math.max(this.slowest, answer.millis)
      const counts = isAcknowledged ? this.#acknowledgements : this.#refusals
      counts[client]!++
    }
    this.#answers.emit("answer")
    return isAcknowledged || isBroken
  }
}

/** Whether an answer tells to come back, and how. A repeat may also meet the request that it repeats. */
const isRefusal = ({ body, retryAfter, status }: Answered): boolean => {
  const { error, message, ...rest } = body
  if (retryAfter === null || !/^[1-9]\d*$/.test(retryAfter) || Object.keys(rest).length > 0) return false
  if (status === 409) return error === "conflict" && message === RUNNING
  return status === 503 && error === "unavailable" && typeof message === "string" && message !== ""
}
