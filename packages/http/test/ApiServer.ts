import * as Http from "node:http"
import {
  type ApiKey,
  ApiKeys,
  Billing,
  CurrentTenant,
  generateKey,
  NetworkAddress,
  Tenant,
} from "@billwright/core"
import { Server } from "@billwright/http"
import { NodeHandler, NodeServer } from "@billwright/http/node"
import { Memory, MemoryInspector } from "@billwright/memory"
/**
 * The real server on its own port, with storage in memory, and an HTTP client for it.
 *
 * Every answer is checked against the served OpenAPI document. When the test ends, it checks that nothing that was sent
 * or logged contains a secret.
 */
import { assert } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Logger, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { type Judge, makeJudge, type RawAnswer } from "./Judge.ts"

/** The time at the start of every test. */
export const NOW = "2026-11-21T09:30:00.000Z"

/** Well-formed ids of things that don't exist. */
export const UNKNOWN = {
  auditRecord: `aud_${"0".repeat(26)}`,
  customer: `cus_${"0".repeat(26)}`,
  record: `usg_${"0".repeat(26)}`,
  payment: `pay_${"0".repeat(26)}`,
  creditGrant: `cgr_${"0".repeat(26)}`,
  creditEntry: `cen_${"0".repeat(26)}`,
  hold: `hld_${"0".repeat(26)}`,
  creditNote: `crn_${"0".repeat(26)}`,
  coupon: `cpn_${"0".repeat(26)}`,
  dispute: `dis_${"0".repeat(26)}`,
  paymentMethod: `mtd_${"0".repeat(26)}`,
  refund: `ref_${"0".repeat(26)}`,
  autoTopUp: `atu_${"0".repeat(26)}`,
  tokenUsage: `tku_${"0".repeat(26)}`,
  topUp: `ctu_${"0".repeat(26)}`,
  creditAlert: `cal_${"0".repeat(26)}`,
  spendAlert: `spa_${"0".repeat(26)}`,
  rateCard: `rtc_${"0".repeat(26)}`,
  redemption: `red_${"0".repeat(26)}`,
  threshold: `thr_${"0".repeat(26)}`,
  meter: `mtr_${"0".repeat(26)}`,
  testClock: `clk_${"0".repeat(26)}`,
  event: `evt_${"0".repeat(26)}`,
  delivery: `dlv_${"0".repeat(26)}`,
  endpoint: `whe_${"0".repeat(26)}`,
  plan: `pln_${"0".repeat(26)}`,
  planVersion: `plv_${"0".repeat(26)}`,
  subscription: `sub_${"0".repeat(26)}`,
  invoiceProof: `prf_${"0".repeat(26)}`,
  invoiceItem: `itm_${"0".repeat(26)}`,
  invoice: `inv_${"0".repeat(26)}`,
  bookCheck: `chk_${"0".repeat(26)}`,
  planMigration: `mig_${"0".repeat(26)}`,
  planKey: `key_${"0".repeat(26)}`,
} as const

export type Storage = Layer.Layer<Billing.Storage | Billing.InvoicingStorage | MemoryInspector>

export interface StartOptions {
  readonly server?: Server.ServerOptions
  readonly billing?: Billing.BillingOptions
  /** Default: a storage in memory. */
  readonly storage?: Storage
}

export interface CallOptions {
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent unchanged, as application/json. */
  readonly body?: string | Uint8Array
  /** Sent in chunks, without a Content-Length. */
  readonly chunks?: Iterable<string | Uint8Array>
  readonly query?: Readonly<Record<string, string | number>>
  readonly headers?: Readonly<Record<string, string>>
  /** Default: the test key. `null`: no key. */
  readonly key?: string | null
}

/** An answer with its body read. */
export class Answer implements RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string

  constructor({ headers, status, text }: RawAnswer) {
    this.status = status
    this.headers = headers
    this.text = text
  }

  get body(): unknown {
    return JSON.parse(this.text)
  }

  /** The value at a path of the body. */
  at(...path: ReadonlyArray<string | number>): unknown {
    return path.reduce<unknown>(
      (value, step) => (value as Record<string | number, unknown> | undefined)?.[step],
      this.body,
    )
  }

  get id(): string {
    return String(this.at("id"))
  }

  get error(): string {
    return String(this.at("error"))
  }

  get message(): string {
    return String(this.at("message"))
  }

  /** The ids of a list. */
  get ids(): ReadonlyArray<string> {
    return (this.at("data") as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
  }
}

export interface IssueOptions {
  readonly mode?: Tenant.Mode
  readonly account?: string
  readonly scopes?: ReadonlyArray<ApiKey.Scope>
  readonly expiresAt?: DateTime.Utc
}

const tenantOf = ({ account = "default", mode = "test" }: IssueOptions): Tenant.Tenant => ({
  accountId: Tenant.AccountId.make(account),
  mode,
})

type Services = Billing.Services | Billing.Storage | MemoryInspector

const send = (
  agent: Http.Agent,
  base: URL,
  method: string,
  path: string,
  options: CallOptions,
  key: string | null,
) =>
  Effect.callback<RawAnswer, Error>((resume) => {
    const query = new URLSearchParams(Object.entries(options.query ?? {}).map(([k, v]) => [k, String(v)]))
    const text = options.json === undefined ? options.body : JSON.stringify(options.json)
    const body = text === undefined ? undefined : Buffer.from(text)
    const request = Http.request(
      {
        agent,
        host: base.hostname,
        port: base.port,
        method,
        path: options.query === undefined ? path : `${path}?${query}`,
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined && options.chunks === undefined
            ? {}
            : { "content-type": "application/json" }),
          ...(body === undefined ? {} : { "content-length": String(body.length) }),
          ...(options.chunks === undefined ? {} : { "transfer-encoding": "chunked" }),
          ...options.headers,
        },
      },
      (response) => {
        const headers = Object.fromEntries(
          Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
        )
        if (headers["content-type"] === "text/event-stream") {
          // A stream doesn't end. `EventSource.ts` reads streams.
          resume(Effect.succeed({ status: response.statusCode ?? 0, headers, text: "" }))
          request.destroy()
          return
        }
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", (error) => resume(Effect.fail(error)))
        response.on("end", () =>
          resume(
            Effect.succeed({
              status: response.statusCode ?? 0,
              headers,
              text: Buffer.concat(chunks).toString("utf8"),
            }),
          ),
        )
      },
    )
    request.on("error", (error) => resume(Effect.fail(error)))
    for (const chunk of options.chunks ?? []) request.write(chunk)
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

/** Allows webhooks to this machine, where the endpoints of tests are. */
const network = Effect.runSync(NetworkAddress.makePolicy({ allowLoopback: true }))

/** Without it, there are no links for payers. */
const payerPages = { url: "https://shop.example/billing", keys: generateKey("k1") }

let judge: Judge | undefined

/** Starts a server for one test. It stops with the test. */
export const start = Effect.fnUntraced(function* (options: StartOptions = {}) {
  yield* TestClock.setTime(DateTime.makeUnsafe(NOW).epochMilliseconds)
  const logs: Array<string> = []
  const secrets: Array<string> = []
  const transcript: Array<string> = []
  const logger = Logger.map(Logger.formatJson, (line) => void logs.push(line))
  const services = yield* Layer.build(
    Billing.layerWith({ webhooks: { network }, payerPages, ...options.billing }).pipe(
      Layer.provideMerge(options.storage ?? Memory.layer),
      Layer.merge(Logger.layer([logger])),
    ),
  )
  const context = Context.merge(yield* Effect.context<Scope.Scope>(), services)
  const server = yield* Effect.provideContext(Server.make(options.server), services)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      const heard = [...logs, ...transcript].join("\n")
      for (const secret of secrets) assert.notInclude(heard, secret)
    }),
  )
  const listening = yield* NodeServer.listen(NodeHandler.make(server, context), { port: 0 })
  const base = new URL(listening.url)
  const agent = new Http.Agent({ keepAlive: true })
  yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))

  /** Runs an effect with the services of the server, as a tenant. */
  const as =
    (tenant: IssueOptions) =>
    <A, E>(effect: Effect.Effect<A, E, Services | Tenant.CurrentTenant>): Effect.Effect<A, E> =>
      effect.pipe(Effect.provideService(CurrentTenant, tenantOf(tenant)), Effect.provideContext(services))

  /** Issues a key. Returns its id and its secret. */
  const issue = Effect.fnUntraced(function* ({ expiresAt, scopes, ...tenant }: IssueOptions = {}) {
    const keys = Context.get(services, ApiKeys)
    const { key, secret } = yield* keys
      .issue({
        name: "a test's key",
        ...(scopes === undefined ? {} : { scopes: [...scopes] }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      })
      .pipe(as(tenant), Effect.orDie)
    secrets.push(Redacted.value(secret))
    return { id: key.id, secret: Redacted.value(secret) }
  })

  const testKey = (yield* issue()).secret
  const liveKey = (yield* issue({ mode: "live" })).secret

  const exchange = Effect.fnUntraced(function* (method: string, path: string, call: CallOptions = {}) {
    const raw = yield* Effect.orDie(
      send(agent, base, method, path, call, call.key === undefined ? testKey : call.key),
    )
    transcript.push(JSON.stringify(raw.headers), raw.text)
    return new Answer(raw)
  })

  // The document is the same for every server of a process.
  judge ??= makeJudge((yield* exchange("GET", "/openapi.json")).text)

  /** Sends a request and checks its answer against the document. */
  const call = Effect.fnUntraced(function* (method: string, path: string, options: CallOptions = {}) {
    const answer = yield* exchange(method, path, options)
    judge?.(method, path, answer)
    return answer
  })

  /** Sends a request, and checks that the answer has this status. */
  const expect = Effect.fnUntraced(function* (
    status: number,
    method: string,
    path: string,
    options: CallOptions = {},
  ) {
    const answer = yield* call(method, path, options)
    assert.strictEqual(answer.status, status, `${method} ${path.slice(0, 200)}: ${answer.text.slice(0, 500)}`)
    return answer
  })

  /** All stored data. */
  const snapshot = Context.get(services, MemoryInspector).snapshot

  /** Creates a customer. Returns its id. */
  const newCustomer = Effect.fnUntraced(function* (fields: object = {}, options: CallOptions = {}) {
    const json = { name: "Ada", email: "ada@example.com", ...fields }
    return (yield* expect(201, "POST", "/v1/customers", { ...options, json })).id
  })

  /** Records usage, by default of the product `api` in the unit `call`. */
  const record = (customer: string, fields: object = {}, options: CallOptions = {}) =>
    expect(201, "POST", "/v1/usage", {
      ...options,
      json: { customer_id: customer, product_id: "api", quantity: 1, unit: "call", ...fields },
    })

  /** A valid event. */
  const invoicePaid = (fields: object = {}) => ({
    type: "invoice.paid",
    data: { invoice_id: "in_1", customer_id: "c_1", amount: 4200, currency: "EUR" },
    ...fields,
  })

  /** Publishes an event. Returns its id. */
  const publish = Effect.fnUntraced(function* (fields: object = {}, options: CallOptions = {}) {
    return (yield* expect(201, "POST", "/v1/events", { ...options, json: invoicePaid(fields) })).id
  })

  /** Creates an endpoint in test mode, by default for all types. */
  const newEndpoint = (fields: object = {}, options: CallOptions = {}) =>
    expect(201, "POST", "/v1/webhook_endpoints", {
      ...options,
      json: { url: "http://localhost:9/hooks", event_types: ["*"], ...fields },
    })

  return {
    invoicePaid,
    publish,
    newEndpoint,
    url: listening.url,
    port: listening.port,
    agent,
    services,
    context,
    server,
    logs,
    /** Checks an answer that another client got. */
    judge: (method: string, path: string, answer: RawAnswer) => judge?.(method, path, answer),
    testKey,
    liveKey,
    issue,
    as,
    call,
    expect,
    snapshot,
    newCustomer,
    record,
  }
})

export type Api = Effect.Success<ReturnType<typeof start>>

/** A server for all tests of a suite. Each test must leave it unchanged. */
export class Shared extends Context.Service<Shared, Api>()("@billwright/http/test/ApiServer/Shared") {}

export const layer = Layer.effect(
  Shared,
  Effect.suspend(() => start()),
)
