import { EventEmitter, once } from "node:events"
import { setTimeout as pause } from "node:timers/promises"
import { Tenant } from "@billwright/core"
import {
  type Answer,
  type Ask,
  Asks,
  type Choice,
  FIRST_CUSTOMERS,
  type Known,
  METERS,
  newMeters,
  readsOf,
} from "@billwright/simulation"
/**
 * Clients that send the same requests as the clients of the simulation. They repeat requests that were refused or not
 * answered, and record every answer that the API doesn't promise.
 */
import * as Cli from "../Command.ts"
import type { Receiver } from "../Receiver.ts"
import type { Journal } from "./history/Journal.ts"
import { answerOf, isOfApi, isRefusal, requestOf, type Response } from "./history/Requests.ts"

/** A tenant, with the key that its clients use. */
export interface Account {
  readonly name: Tenant.AccountId
  readonly mode: Tenant.Mode
  readonly key: string
}

const DEFAULT_PAUSE_MILLIS = 200
/** Between two tries to build a meter. */
const BUILD_PAUSE_MILLIS = 50
/** The most ids of each kind that are remembered. */
const MAX_KNOWN = 40
/** Thresholds of the first customer, so that usage publishes events. */
const THRESHOLDS = [50n, 500n, 2_000n, 10_000n]

/**
 * Requests that are not sent at random. An event that is published while the filter of an endpoint changes may or may
 * not go to it, so the result can't be checked. The same is true of a meter that is rebuilt while it is read.
 */
const UNJUDGED: ReadonlySet<Ask["_tag"]> = new Set([
  "CreateEndpoint",
  "UpdateEndpoint",
  "DeleteEndpoint",
  "UpdateMeter",
])

/** Whether an answer shows a bug. */
const isBug = ({ status }: Response): boolean => status === 500 || status === 401 || status === 403

interface TrafficOptions {
  readonly journal: Journal
  readonly receiver: Receiver
  /** The addresses of the servers. Each request goes to one of them. */
  readonly servers: () => ReadonlyArray<string>
  readonly accounts: ReadonlyArray<Account>
  readonly choice: Choice
  /** The longest pause of a client before a request or a repeat, in milliseconds. Default: 200. */
  readonly pauseMillis?: number
  /** The number of markers that earlier runs have used. */
  readonly markers?: number
  /** Whether requests may stay unanswered, because a proxy cuts connections. */
  readonly mayBeCut?: boolean
}

export class Traffic {
  readonly #options: TrafficOptions
  readonly #asks: Asks
  readonly #known: ReadonlyArray<Known & { readonly key: string }>
  readonly #news = new EventEmitter().setMaxListeners(0)
  #clients: ReadonlyArray<Promise<void>> = []
  /** By client. */
  #acknowledgements: Array<number> = []
  #refusals: Array<number> = []
  #isEnding = false
  #isAbandoned = false
  /** Answers that the API doesn't promise. A test expects none. */
  readonly broken: Array<unknown> = []
  /** The time of the slowest answer, in milliseconds. */
  slowest = 0
  /** The number of answered requests. */
  answered = 0

  constructor(options: TrafficOptions) {
    this.#options = options
    this.#known = options.accounts.map(({ key, mode, name }) => ({
      key,
      tenant: { accountId: name, mode },
      customers: [],
      endpoints: [],
      records: [],
      meters: [],
      events: [],
    }))
    this.#asks = new Asks(options.choice, this.#known, options.markers)
  }

  /** Creates the customers, thresholds, meters and endpoints of every tenant. Only test mode gets endpoints, at `paths`. */
  async setUp(...paths: ReadonlyArray<string>): Promise<void> {
    for (const known of this.#known) {
      for (let n = 0; n < FIRST_CUSTOMERS; n++) await this.#once(known, this.#asks.newCustomer(true))
      for (const quantity of THRESHOLDS) {
        const [customerId] = known.customers
        await this.#once(known, {
          _tag: "CreateThreshold",
          customerId: customerId!,
          ...METERS[0],
          quantity,
          period: "lifetime",
        })
      }
      for (const meter of newMeters()) await this.#once(known, meter)
      if (known.tenant.mode === "live") continue
      for (const path of paths) {
        const url = this.#options.receiver.url(`/${known.tenant.accountId}${path}`)
        await this.#once(known, { _tag: "CreateEndpoint", url, eventTypes: ["*"] })
      }
    }
  }

  begin(clients: number): void {
    this.#isEnding = false
    this.#acknowledgements = Array.from({ length: clients }, () => 0)
    this.#refusals = Array.from({ length: clients }, () => 0)
    this.#clients = Array.from({ length: clients }, (_, client) => this.#run(client))
  }

  /** Waits until every client has had this many more acknowledged requests. */
  async acknowledged(times = 1): Promise<void> {
    await this.#more(this.#acknowledgements, times)
  }

  /** Waits until every client has had this many more refused requests. */
  async refused(times = 1): Promise<void> {
    await this.#more(this.#refusals, times)
  }

  /** Waits until all requests are answered, and then reads every total and every meter. */
  async end(): Promise<void> {
    this.#isEnding = true
    await Promise.all(this.#clients)
    if (this.broken.length > 0) throw new Error(JSON.stringify(this.broken))
    for (const known of this.#known) {
      for (const meterId of known.meters) await this.#build(known, meterId)
    }
    this.#options.journal.quiet()
    for (const known of this.#known) {
      for (const customerId of known.customers) {
        for (const ask of readsOf(customerId)) await this.#once(known, ask)
      }
    }
  }

  /** Builds a meter to the end, as a host does that does not wait for the background. It can't be read before. */
  async #build(known: Known & { readonly key: string }, meterId: string): Promise<void> {
    const request = { method: "POST", path: `/meters/${meterId}/rebuild`, body: {} } as const
    while (!this.#isAbandoned) {
      const answer = await this.#send(known, request).catch(() => undefined)
      const rebuild = answer?.body["rebuild"] as { readonly status: string } | null | undefined
      if (rebuild === null || rebuild?.status === "failed") return
      await pause(BUILD_PAUSE_MILLIS)
    }
  }

  /** Deletes the endpoints, so that they don't get events of other clients. */
  async tearDown(): Promise<void> {
    for (const known of this.#known) {
      for (const endpointId of known.endpoints) {
        await this.#once(known, { _tag: "DeleteEndpoint", endpointId })
      }
    }
  }

  /** Stops sending requests, even if some are not answered. */
  abandon(): void {
    this.#isEnding = true
    this.#isAbandoned = true
  }

  async #more(counts: ReadonlyArray<number>, times: number): Promise<void> {
    const goals = counts.map((count) => count + times)
    while (goals.some((goal, client) => counts[client]! < goal)) {
      // After a wrong answer, the awaited state may never come.
      if (this.broken.length > 0) throw new Error(JSON.stringify(this.broken))
      await once(this.#news, "answer")
    }
  }

  async #run(client: number): Promise<void> {
    while (!this.#isEnding) {
      const known = this.#options.choice.pick(this.#known)!
      const ask = await this.#something(known)
      if (ask === undefined) continue
      await this.#once(known, ask, client)
      await this.#pause()
    }
  }

  #pause(): Promise<void> {
    const { choice, pauseMillis = DEFAULT_PAUSE_MILLIS } = this.#options
    return pause(choice.int(0, pauseMillis))
  }

  /** Draws a random request that the API has, about things that exist. */
  async #something(known: Known & { readonly key: string }): Promise<Ask | undefined> {
    const kind = this.#asks.someKind()
    if (!isOfApi(kind) || UNJUDGED.has(kind)) return undefined
    if (kind !== "ReplayDelivery") return this.#asks.some(kind, known)
    const found = await this.#send(known, { method: "GET", path: "/deliveries?limit=20" }).catch(
      () => undefined,
    )
    const rows = (found?.body["data"] ?? []) as ReadonlyArray<{ readonly id: string }>
    const delivery = this.#options.choice.pick(rows)
    return delivery && { _tag: "ReplayDelivery", deliveryId: delivery.id }
  }

  /**
   * Repeats a request until there is an answer. A request without its own key gets an Idempotency-Key header, so that
   * it is done once. The history has it as one call.
   */
  async #once(known: Known & { readonly key: string }, ask: Ask, client = 0): Promise<void> {
    const { journal } = this.#options
    const request = requestOf(ask)
    const headers =
      request.method === "GET" ? {} : { "idempotency-key": crypto.randomUUID(), ...request.headers }
    const end = journal.asks(Tenant.tenantKey(known.tenant), ask)
    for (let isFirst = true; ; isFirst = false) {
      const answer = await this.#attempt(known, ask, { ...request, headers }, client)
      if (answer._tag !== "Unknown" || this.#isAbandoned || this.broken.length > 0) {
        // 404 after a repeated delete: the first try deleted it, and its answer was lost.
        end(answer._tag === "Rejected" && !isFirst ? { _tag: "Unknown" } : answer)
        learn(known, ask, answer)
        return
      }
      await this.#pause()
    }
  }

  async #attempt(
    known: { readonly key: string },
    ask: Ask,
    request: ReturnType<typeof requestOf>,
    client: number,
  ): Promise<Answer> {
    const response = await this.#send(known, request).catch((error: unknown) => String(error))
    if (typeof response === "string") {
      if (this.#options.mayBeCut !== true) this.broken.push([ask, response])
      this.#count(this.#refusals, client)
      return { _tag: "Unknown" }
    }
    if (response.status >= 400) this.#options.journal.errors.push(response.text)
    if (isBug(response)) this.#options.journal.defects.push(`${JSON.stringify(ask, plain)}: ${response.text}`)
    if (response.status >= 500 && !isRefusal(response))
      this.broken.push([ask, response.status, response.text])
    const answer = answerOf(ask, response)
    this.#count(answer._tag === "Unknown" ? this.#refusals : this.#acknowledgements, client)
    return answer
  }

  async #send(known: { readonly key: string }, request: ReturnType<typeof requestOf>): Promise<Response> {
    const { body, headers, method, path } = request
    const sentAt = performance.now()
    const url = this.#options.choice.pick(this.#options.servers())!
    const response = await Cli.call(url, known.key, method, `/v1${path}`, body, headers)
    this.slowest = Math.max(this.slowest, performance.now() - sentAt)
    return response
  }

  #count(counts: Array<number>, client: number): void {
    this.answered++
    counts[client] = (counts[client] ?? 0) + 1
    this.#news.emit("answer")
  }
}

const plain = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value)

const learn = (known: Known, ask: Ask, answer: Answer): void => {
  if (answer._tag !== "Done") return
  const add = (to: Array<string>) => {
    for (const id of answer.ids) if (to.length < MAX_KNOWN && !to.includes(id)) to.push(id)
  }
  if (ask._tag === "CreateCustomer") add(known.customers)
  if (ask._tag === "RecordUsage") add(known.records)
  if (ask._tag === "CreateMeter") add(known.meters)
  if (ask._tag === "CreateEndpoint") add(known.endpoints)
  if (ask._tag === "PublishEvent" || ask._tag === "TestEndpoint") add(known.events)
}
