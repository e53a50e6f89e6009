/**
 * The dashboard and the real server on one origin, as a host mounts them, with storage in memory, a dispatcher with the
 * real transport, and very short retries.
 */
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import {
  type ApiKey,
  ApiKeys,
  Billing,
  BillingRuns,
  CurrentTenant,
  Dispatcher,
  DueStore,
  Endpoint,
  EndpointStore,
  Events,
  FakeProvider,
  type InvoicesOptions,
  NetworkAddress,
  Tenant,
} from "@billwright/core"
import { Dashboard } from "@billwright/dashboard"
import { Server } from "@billwright/http"
import { NodeHandler } from "@billwright/http/node"
import { Memory } from "@billwright/memory"
import { UndiciTransport } from "@billwright/node"
import { DateTime, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import * as ShiftedClock from "./ShiftedClock.ts"

/** Very short retries, so that a delivery fails for good at once. */
const HASTY = { baseMillis: 50, factor: 1, capMillis: 50, jitter: 0 }
const MAX_ATTEMPTS = 2

/** The smallest amount that the payment provider takes. Smaller ones need attention. */
const SMALLEST_CHARGE = 50n
/** A refund of this amount fails. */
const REFUSED_REFUND = 4_004n

/** Allows webhooks to this machine, where the receivers of tests are. */
const NETWORK = { allowLoopback: true }
const network = Effect.runSync(NetworkAddress.makePolicy(NETWORK))

export interface Host {
  readonly url: string
  readonly testKey: string
  readonly liveKey: string
  /** Calls the API with the test key. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>
  /** Does what is due in real time, as a billing run of a server does. */
  readonly bill: () => Promise<void>
  /** Makes the next billing run of a subscription fail, as if it had been done. */
  readonly failBilling: (subscriptionId: string, problem: string) => Promise<void>
  /** The payment provider of the server. */
  readonly provider: FakeProvider
  /** Sets the server's clock to this many milliseconds before the present. It must not move back. */
  readonly setBehind: (millis: number) => void
  /** Publishes many events in test mode without the API, which would take long. */
  readonly publishMany: (count: number) => Promise<void>
  /** Makes an endpoint of test mode subscribe to a type that is no longer defined. */
  readonly wantUndefined: (endpointId: string, type: string) => Promise<void>
  /** Issues a test key with a role. */
  readonly issueTestKey: (role: ApiKey.Role) => Promise<string>
  /** Revokes the test key. */
  readonly revokeTestKey: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface HostOptions {
  /** The path of the dashboard. The API is beside it. */
  readonly basePath?: string
  readonly apiPath?: string
  /** `host`: the host adds the test key to requests of the page. */
  readonly signIn?: "key" | "host"
  /** By how much the server's clock is late at first, in milliseconds. */
  readonly behindMillis?: number
  /** The most attempts of a delivery. Default: 2. */
  readonly maxAttempts?: number
  /** How invoices are taxed. Default: not at all. */
  readonly invoices?: InvoicesOptions
}

const listen = async (listener: RequestListener) => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A receiver of webhooks whose answer can be changed at any time. */
export const startReceiver = async () => {
  const answer = { status: 200, body: "ok", contentType: "text/plain" }
  /** After `hold`, requests wait for their answer until this is called. */
  let release = (): void => undefined
  let isReleased = Promise.resolve()
  const hold = (): void => {
    isReleased = new Promise<void>((resolve) => {
      release = resolve
    })
  }
  /** The headers of each request. */
  const headers: Array<IncomingHttpHeaders> = []
  const server = await listen((request, response) => {
    request.resume()
    headers.push(request.headers)
    void isReleased.then(() => {
      response.writeHead(answer.status, { "content-type": answer.contentType, "x-receiver": "scripted" })
      response.end(answer.body)
    })
  })
  return { ...server, answer, headers, hold, release: () => release() }
}

const makeRuntime = (
  clock: ReturnType<typeof ShiftedClock.make>,
  maxAttempts: number,
  payments: FakeProvider,
  invoices: InvoicesOptions,
) => {
  const hasty = { ...HASTY, maxAttempts }
  return ManagedRuntime.make(
    Dispatcher.layerWith({ retries: { live: hasty, test: hasty } }).pipe(
      Layer.provideMerge(UndiciTransport.layer({ network: NETWORK })),
      Layer.provideMerge(Billing.layerWith({ invoices, payments, webhooks: { network } })),
      Layer.provideMerge(Memory.layer),
      Layer.provideMerge(clock.layer),
    ),
  )
}

/** Publishes the example of a type. */
const publishExample = Effect.flatMap(Events, ({ publish, types }) => {
  const { example, name } = types[0]!
  return publish({ type: name, data: example })
})

/** Claims what will be due in the next years, and gives it back: one of it as failed. */
const failBilling = Effect.fnUntraced(function* (subscriptionId: string, problem: string) {
  const [due, at] = [yield* DueStore, yield* DateTime.now]
  const later = DateTime.add(at, { years: 5 })
  for (const claimed of yield* due.claimDue({ lane: "billing", now: later, leaseUntil: later, limit: 500 })) {
    const failure = { attempts: 1, problem, at, retryAt: null }
    yield* due
      .release(claimed, claimed.subject.id === subscriptionId ? failure : null)
      .pipe(Effect.provideService(CurrentTenant, claimed.tenant))
  }
})

type Runtime = ReturnType<typeof makeRuntime>

const issueKey = (runtime: Runtime, mode: Tenant.Mode, role: ApiKey.Role = "admin") =>
  runtime.runPromise(
    Effect.flatMap(ApiKeys, (keys) => keys.issue({ name: "dashboard", role })).pipe(
      Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode }),
    ),
  )

/** Calls the API with a key. The address includes `/v1`. */
export const callerOf =
  (apiUrl: string, key: string): Host["call"] =>
  async (method, path, body) => {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as Record<string, unknown>
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }

const makeApi = (runtime: Runtime, basePath: string) =>
  runtime.runPromise(
    Effect.gen(function* () {
      const server = yield* Server.make()
      return NodeHandler.make(server, yield* Effect.context<never>(), { basePath })
    }),
  )

export const start = async (options: HostOptions = {}): Promise<Host> => {
  const {
    apiPath = "",
    basePath = "",
    behindMillis = 0,
    invoices = {},
    maxAttempts = MAX_ATTEMPTS,
    signIn = "key",
  } = options
  const clock = ShiftedClock.make()
  clock.setBehind(behindMillis)
  const provider = new FakeProvider({
    hasMethods: true,
    chargeable: ({ amount }) =>
      amount < SMALLEST_CHARGE ? { status: "below_minimum", minimum: SMALLEST_CHARGE } : { status: "ok" },
    refundOutcomeOf: ({ amount }) => (amount === REFUSED_REFUND ? { code: "account_closed" } : "succeeded"),
  })
  const runtime = makeRuntime(clock, maxAttempts, provider, invoices)
  const api = await makeApi(runtime, apiPath)
  const dashboard = Dashboard.nodeHandler({ basePath, apiUrl: `${apiPath}/v1`, signIn })
  const [test, live] = [await issueKey(runtime, "test"), await issueKey(runtime, "live")]
  const testKey = Redacted.value(test.secret)
  const server = await listen((request, response) =>
    dashboard(request, response, () => {
      if (signIn === "host") request.headers.authorization ??= `Bearer ${testKey}`
      api(request, response)
    }),
  )
  return {
    url: `${server.url}${basePath}`,
    testKey,
    liveKey: Redacted.value(live.secret),
    call: callerOf(`${server.url}${apiPath}/v1`, testKey),
    provider,
    bill: () => runtime.runPromise(Effect.flatMap(BillingRuns, ({ runDue }) => runDue()).pipe(Effect.asVoid)),
    failBilling: (subscriptionId, problem) => runtime.runPromise(failBilling(subscriptionId, problem)),
    setBehind: clock.setBehind,
    publishMany: (count) =>
      runtime.runPromise(
        Effect.forEach(Array.from({ length: count }), () => publishExample, { discard: true }).pipe(
          Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" }),
        ),
      ),
    wantUndefined: (endpointId, type) =>
      runtime.runPromise(
        Effect.flatMap(EndpointStore, ({ modify }) =>
          modify(Endpoint.EndpointId.make(endpointId), (stored) =>
            Effect.succeed({ ...stored, endpoint: { ...stored.endpoint, eventTypes: [type] } }),
          ),
        ).pipe(
          Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" }),
          Effect.asVoid,
        ),
      ),
    issueTestKey: async (role) => Redacted.value((await issueKey(runtime, "test", role)).secret),
    revokeTestKey: () =>
      runtime.runPromise(
        Effect.flatMap(ApiKeys, (keys) => keys.revoke(test.key.id)).pipe(
          Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" }),
          Effect.asVoid,
        ),
      ),
    close: async () => {
      await server.close()
      await runtime.dispose()
    },
  }
}
