/**
 * Records the requests of an access log as usage: one record for the request, and one for the bytes of its answer.
 *
 * Memory grows with customers and products, not with lines.
 */
import { createHash } from "node:crypto"
import type { Client, Customer, UsageRecord } from "./Client.ts"
import { Customers } from "./Customers.ts"
import { splitLines } from "./Lines.ts"
import { type LogLine, parseLogLine } from "./LogLine.ts"
import { Occurrences } from "./Occurrences.ts"
import { partyOf } from "./Parties.ts"
import { Problem } from "./Problem.ts"
import { productOf } from "./Products.ts"

/** A line, and what is wrong with it. */
export interface LineProblem {
  readonly line: number
  readonly problem: string
}

export interface Counts {
  /** All lines: the sum of the next four counts. */
  lines: number
  billed: number
  not_billed: number
  /** Lines that can't be parsed. */
  malformed: number
  /** Lines that the server refuses, for example because their date is in the future. */
  refused: number
  /** New records. `duplicates` are records that had been recorded before. */
  recorded: number
  duplicates: number
  /** Billed lines that came too late to know whether there was an identical line: see `Occurrences`. */
  late: number
}

/** A total for the days (UTC) in the log. */
export interface Total {
  readonly customer: Customer
  readonly product: string
  readonly requests: bigint
  readonly bytes: bigint
}

export interface Report {
  readonly counts: Counts
  /** The first and the last day with billed lines. */
  readonly period: { readonly start_date: string; readonly end_date: string } | undefined
  /** The totals of the customers and products in the log. */
  readonly totals: ReadonlyArray<Total>
}

export interface Options {
  /** The number of records in a batch: 2 to 1,000. */
  readonly batchSize: number
  readonly onProblem: (problem: LineProblem) => void
}

/** A billed line that is not yet sent. */
interface Pending {
  readonly line: number
  readonly records: ReadonlyArray<UsageRecord>
  readonly customer: Customer
  readonly product: string
  /** The day of the line, in UTC. */
  readonly day: string
}

const MAX_REFUSED = 100

/**
 * The digest that identifies a line, together with its number among identical lines. The name of the file and the
 * position in it are not part of it, because logs are rotated.
 */
const digestOf = (text: string): string => createHash("sha256").update(text, "latin1").digest("hex")

const recordsOf = (line: LogLine, customerId: string, product: string, identity: string) => {
  const record = (unit: string, quantity: number): UsageRecord => ({
    customer_id: customerId,
    product_id: product,
    quantity,
    unit,
    timestamp: line.time,
    idempotency_key: `${identity}-${unit}`,
  })
  return line.bytes === 0 ? [record("request", 1)] : [record("request", 1), record("byte", line.bytes)]
}

export class Metering {
  readonly #client: Client
  readonly #customers: Customers
  readonly #options: Options
  readonly #occurrences = new Occurrences()
  readonly #used = new Map<string, { readonly customer: Customer; readonly products: Set<string> }>()
  /** The counts so far. */
  readonly counts: Counts = {
    lines: 0,
    billed: 0,
    not_billed: 0,
    malformed: 0,
    refused: 0,
    recorded: 0,
    duplicates: 0,
    late: 0,
  }
  #firstDay: string | undefined
  #lastDay: string | undefined
  #pending: Array<Pending> = []
  #pendingRecords = 0

  constructor(client: Client, options: Options) {
    this.#client = client
    this.#customers = new Customers(client)
    this.#options = options
  }

  /** Reads a log to its end. Each character is a byte (`latin1`). */
  async run(log: AsyncIterable<string>): Promise<Report> {
    for await (const { number, text } of splitLines(log)) {
      this.counts.lines += 1
      const { line, problem } = text === undefined ? { problem: "too long" } : parseLogLine(text)
      if (line === undefined || text === undefined) {
        this.counts.malformed += 1
        this.#options.onProblem({ line: number, problem: problem ?? "unreadable" })
      } else {
        await this.#take(number, line, text)
      }
    }
    await this.#flush()
    return { counts: this.counts, ...(await this.#totals()) }
  }

  async #take(number: number, line: LogLine, text: string): Promise<void> {
    const product = productOf(line)
    if (product === undefined) {
      this.counts.not_billed += 1
      return
    }
    const instant = Date.parse(line.time)
    const digest = digestOf(text)
    const occurrence = this.#occurrences.next(digest, instant)
    if (occurrence.isLate) this.counts.late += 1
    const customer = await this.#customers.of(partyOf(line.client))
    const records = recordsOf(line, customer.id, product, `${digest}-${occurrence.number}`)
    if (this.#pendingRecords + records.length > this.#options.batchSize) await this.#flush()
    const day = new Date(instant).toISOString().slice(0, "YYYY-MM-DD".length)
    this.#pending.push({ line: number, records, customer, product, day })
    this.#pendingRecords += records.length
  }

  #note({ customer, product, day }: Pending): void {
    const used = this.#used.get(customer.id) ?? { customer, products: new Set() }
    used.products.add(product)
    this.#used.set(customer.id, used)
    if (this.#firstDay === undefined || day < this.#firstDay) this.#firstDay = day
    if (this.#lastDay === undefined || day > this.#lastDay) this.#lastDay = day
  }

  /** Sends the pending records. A batch is stored as a whole or not at all, so refused lines are removed from it. */
  async #flush(): Promise<void> {
    let pending = this.#pending
    this.#pending = []
    this.#pendingRecords = 0
    while (pending.length > 0) {
      const records = pending.flatMap(({ records }) => records)
      const outcome = await this.#client.recordBatch(records)
      if (outcome.refused === undefined) {
        this.counts.recorded += outcome.recorded
        this.counts.duplicates += outcome.duplicates
        this.counts.billed += pending.length
        for (const line of pending) this.#note(line)
        return
      }
      const { index, message, isConflict } = outcome.refused
      const refused = pending.find(({ records: its }) => its.some((record) => record === records[index]))
      if (refused === undefined) throw new Problem(`The server refused a batch: ${message}.`)
      if (isConflict) throw new Problem(conflict(refused.line, message))
      this.#refuse(refused.line, message)
      pending = pending.filter((other) => other !== refused)
    }
  }

  #refuse(line: number, message: string): void {
    this.counts.refused += 1
    this.#options.onProblem({ line, problem: `refused: ${message.replace(/^records\[\d+\]\./, "")}` })
    if (this.counts.refused === MAX_REFUSED)
      throw new Problem(`The server refused ${MAX_REFUSED} lines: probably not only single lines are wrong.`)
  }

  async #totals(): Promise<Pick<Report, "period" | "totals">> {
    if (this.#firstDay === undefined || this.#lastDay === undefined) return { period: undefined, totals: [] }
    const period = { start_date: this.#firstDay, end_date: this.#lastDay }
    const totals: Array<Total> = []
    for (const { customer, products } of this.#used.values()) {
      const ofCustomer = [...products].map(async (product): Promise<Total> => {
        const query = { customer_id: customer.id, product_id: product, ...period }
        const [requests, bytes] = await Promise.all([
          this.#client.totalOf({ ...query, unit: "request" }),
          this.#client.totalOf({ ...query, unit: "byte" }),
        ])
        return { customer, product, requests, bytes }
      })
      totals.push(...(await Promise.all(ofCustomer)))
    }
    return { period, totals: totals.sort(byCustomerAndProduct) }
  }
}

const byCustomerAndProduct = (a: Total, b: Total): number =>
  compare(a.customer.name, b.customer.name) ||
  compare(a.customer.email, b.customer.email) ||
  compare(a.product, b.product)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const conflict = (line: number, message: string): string =>
  `Line ${line} was recorded before with other content: ${message}. ` +
  "Were the rules changed since? The old record stays as it is. To bill the line again, void the old record first."
