/**
 * `billwright serve`: serves the REST API and sends webhooks.
 */
import { Billing, WebhookTransport } from "@billwright/core"
import { Dashboard } from "@billwright/dashboard"
import { Server } from "@billwright/http"
import { NodeHandler, NodeServer } from "@billwright/http/node"
import { Config, Console, Effect, Layer, Option, Schema, Scope } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import * as ClientCertificate from "./ClientCertificate.ts"
import * as CreditUnits from "./CreditUnits.ts"
import * as Dispatch from "./Dispatch.ts"
import * as Encryption from "./Encryption.ts"
import type { Failure } from "./Failure.ts"
import * as FirstKeys from "./FirstKeys.ts"
import * as InvoiceOptions from "./InvoiceOptions.ts"
import * as KeysFile from "./KeysFile.ts"
import * as Metrics from "./Metrics.ts"
import * as PayerPages from "./PayerPages.ts"
import * as PaymentProviders from "./PaymentProviders.ts"
import * as Pepper from "./Pepper.ts"
import * as ProofKeys from "./ProofKeys.ts"
import * as RateLimit from "./RateLimit.ts"
import * as ServiceLimits from "./ServiceLimits.ts"
import * as Store from "./Store.ts"
import * as V8Settings from "./V8Settings.ts"
import * as VerifyEndpoints from "./VerifyEndpoints.ts"
import * as WebhookProxy from "./WebhookProxy.ts"

const DEFAULT_PORT = 4100
const DEFAULT_HOST = "127.0.0.1"
const MAX_PORT = 65_535

const PortNumber = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_PORT }))

/** `isGiven`: by the flag. PORT may be set for other programs, too, so it says nothing about what this process is for. */
const port = Flag.Int("port").pipe(
  Flag.withAlias("p"),
  Flag.withDescription(`Port to listen on. 0 picks a free port. Default: PORT, or ${DEFAULT_PORT}.`),
  Flag.withSchema(PortNumber),
  Flag.map((value) => ({ value, isGiven: true })),
  Flag.withFallbackConfig(
    Config.schema(PortNumber, "PORT").pipe(
      Config.withDefault(DEFAULT_PORT),
      Config.map((value) => ({ value, isGiven: false })),
    ),
  ),
)

const host = Flag.String("host").pipe(
  Flag.withDescription(
    `Address to listen on. 0.0.0.0 is every address of this machine. Default: ${DEFAULT_HOST}.`,
  ),
  Flag.withDefault(DEFAULT_HOST),
)

const migrate = Flag.Boolean("migrate").pipe(
  Flag.withDescription("Update the Postgres schema first. --no-migrate runs no DDL. Default: true."),
  Flag.withDefault(true),
)

const dispatch = Flag.Boolean("dispatch").pipe(
  Flag.withDescription(
    "Send webhooks, bill what is due and build meters too. With --no-dispatch, other processes must do it. Default: true.",
  ),
  Flag.withDefault(true),
)

const dispatchOnly = Flag.Boolean("dispatch-only").pipe(
  Flag.withDescription(
    "Only send webhooks, bill and build meters, and serve no API: a worker for servers on the same Postgres.",
  ),
  Flag.withDefault(false),
)

const metricsPort = Flag.Int("metrics-port").pipe(
  Flag.withDescription(
    `A separate port for ${Metrics.PATH}, also with --dispatch-only. 0 picks a free port. Default: the port of the API.`,
  ),
  Flag.withSchema(PortNumber),
  Flag.optional,
)

const flags = {
  port,
  host,
  metricsPort,
  ...Store.flags,
  migrate,
  dispatch,
  dispatchOnly,
  webhookAllow: Dispatch.webhookAllow,
  allowLoopback: Dispatch.allowLoopback,
  ...Dispatch.flags,
  ...WebhookProxy.flags,
  ...ClientCertificate.flags,
  ...VerifyEndpoints.flags,
  allowPlaintextSecrets: Encryption.allowPlaintextSecrets,
  keysFile: KeysFile.flag,
  pepperFile: Pepper.pepperFile,
  ...RateLimit.flags,
  ...ServiceLimits.flags,
  ...PayerPages.flags,
  ...PaymentProviders.flags,
  ...InvoiceOptions.flags,
  ...CreditUnits.flags,
}

interface Roles
  extends RateLimit.RateLimitOptions, PayerPages.PayerPageFlags, ClientCertificate.ClientCertificateFlags {
  readonly store: "embedded" | "postgres" | "memory"
  readonly port: { readonly isGiven: boolean }
  readonly dispatch: boolean
  readonly dispatchOnly: boolean
  readonly nightlyBookChecks: boolean
  readonly attemptSeconds: number
  readonly leaseSeconds: number
}

/** Checks flags that are valid alone but not together. */
const problemOf = (options: Roles): string | undefined => {
  const { attemptSeconds, dispatchOnly, leaseSeconds, store } = options
  if (dispatchOnly && !options.dispatch) return "--dispatch-only and --no-dispatch can't be used together"
  if (options.nightlyBookChecks && !options.dispatch)
    return "--nightly-book-checks and --no-dispatch can't be used together: the checks are done by a process that bills"
  if (dispatchOnly && store !== "postgres") {
    return `--dispatch-only is for workers that share a Postgres with servers: use --store postgres. A server with --store ${store} sends its webhooks itself`
  }
  if (dispatchOnly && options.port.isGiven)
    return "--dispatch-only and --port can't be used together: a worker serves no API. Its metrics have --metrics-port"
  return leaseSeconds > attemptSeconds
    ? (RateLimit.problemOf(options) ?? PayerPages.problemOf(options) ?? ClientCertificate.problemOf(options))
    : `--lease-seconds (${leaseSeconds}) must be more than --attempt-seconds (${attemptSeconds})`
}

const firstRequest = (url: string, secret: string): string =>
  [
    "Create the first customer:",
    `  curl ${url}/v1/customers \\`,
    `    -H "Authorization: Bearer ${secret}" \\`,
    `    -H "Content-Type: application/json" \\`,
    `    -d '{"name": "Ada Lovelace", "email": "ada@example.com"}'`,
  ].join("\n")

const metricsLine = (url: string): string => `Metrics:       ${url}${Metrics.PATH}`

/** Every start says when loopback is open to webhooks. */
const loopbackLines = (isAllowed: boolean): ReadonlyArray<string> =>
  isAllowed ? ["Loopback:      open to webhooks of test mode, for trials (--allow-loopback)"] : []

interface Announcement {
  readonly url: string
  readonly metricsUrl: string
  readonly keys: ReadonlyArray<FirstKeys.FirstKey>
  /** The file with the keys, if they must not be printed. */
  readonly keysFile: Option.Option<string>
  readonly allowLoopback: boolean
  readonly payerPages: Option.Option<string>
  readonly payments: PaymentProviders.PaymentKind
}

/** Prints the first keys and a first request, or else where the keys are. */
const keysLines = ({ keys, keysFile, url }: Announcement): ReadonlyArray<string> => {
  if (keys.length === 0) return []
  if (Option.isSome(keysFile)) return [KeysFile.announce(keysFile.value)]
  const test = keys.find(({ mode }) => mode === "test")
  return [
    ...keys.map(KeysFile.lineOf),
    "Save these keys now: they are not shown again.",
    ...(test === undefined ? [] : ["", firstRequest(url, test.secret)]),
  ]
}

const announce = (announcement: Announcement): ReadonlyArray<string> => {
  const { allowLoopback, metricsUrl, payerPages, payments, url } = announcement
  return [
    `Billwright listening on ${url}`,
    ...keysLines(announcement),
    "",
    `Dashboard:     ${url}/`,
    metricsLine(metricsUrl),
    ...loopbackLines(allowLoopback),
    ...Option.toArray(payerPages).map((address) => `Payer pages:   ${address}`),
    ...PaymentProviders.announce(payments),
    `API reference: ${url}/docs`,
  ]
}

const firstKeys = (keysFile: Option.Option<string>) =>
  Option.isNone(keysFile) ? FirstKeys.ensure() : KeysFile.ensure(keysFile.value)

/** Serves the dashboard and the API. Requests for the API are recognized first, because most requests are for it. */
const withDashboard = (api: NodeHandler.NodeHandler): NodeHandler.NodeHandler => {
  const dashboard = Dashboard.nodeHandler()
  return (request, response) =>
    request.url?.startsWith("/v1/") === true
      ? api(request, response)
      : dashboard(request, response, () => api(request, response))
}

const withMetrics =
  (metrics: NodeHandler.NodeHandler, rest: NodeHandler.NodeHandler): NodeHandler.NodeHandler =>
  (request, response) =>
    Metrics.isAsked(request) ? metrics(request, response) : rest(request, response)

/** The services, the storage and the sender of requests that the API and the dispatcher use. */
const services = (
  options: Store.StoreOptions &
    Encryption.EncryptionOptions &
    Dispatch.TransportOptions &
    VerifyEndpoints.VerifyEndpointsFlags &
    PayerPages.PayerPageFlags &
    PaymentProviders.PaymentFlags &
    InvoiceOptions.InvoiceFlags &
    CreditUnits.CreditUnitFlags &
    Pepper.PepperOptions &
    ServiceLimits.LimitFlags & { readonly keysFile: Option.Option<string> },
): Layer.Layer<Billing.Services | Billing.Storage | Store.StoreEnd | WebhookTransport, Failure> =>
  Layer.unwrap(
    Effect.gen(function* () {
      yield* KeysFile.check(options.keysFile)
      const limits = yield* ServiceLimits.billingOptions(options, yield* Pepper.keyOptions(options))
      const encryption = yield* Encryption.keys(options)
      const network = yield* Dispatch.policyOf(options)
      const transport = yield* Dispatch.transport(options)
      const { signer } = yield* ProofKeys.keys
      const proofs = signer === undefined ? {} : { proofs: signer }
      const links = yield* PayerPages.billingOptions(options)
      const payments = yield* PaymentProviders.billingOptions(options)
      const invoices = yield* InvoiceOptions.billingOptions(options)
      return Billing.layerWith({
        ...limits,
        encryption,
        webhooks: { network, ...VerifyEndpoints.endpointsOptions(options, transport) },
        credits: { units: options.creditUnits },
        ...proofs,
        ...links,
        ...payments,
        ...invoices,
      }).pipe(
        Layer.provideMerge(Store.layer(options)),
        Layer.merge(Layer.succeed(WebhookTransport, transport)),
      )
    }),
  )

export const serve = Command.make(
  "serve",
  flags,
  Effect.fn(function* (options) {
    yield* Encryption.check(options)
    // Closed in parallel, because the API and the dispatcher each take up to 5 seconds to finish running work.
    const parts = yield* Effect.acquireRelease(Scope.make("parallel"), Scope.close)
    const storeEnd = yield* Store.StoreEnd
    const metrics = yield* Metrics.make
    const ownMetrics = Option.isNone(options.metricsPort)
      ? undefined
      : yield* Scope.provide(
          NodeServer.listen(metrics, { host: options.host, port: options.metricsPort.value }),
          yield* Scope.fork(parts),
        )
    if (options.dispatchOnly) {
      yield* Layer.buildWithScope(Dispatch.layer(options), yield* Scope.fork(parts))
      if (ownMetrics !== undefined) yield* Console.log(metricsLine(ownMetrics.url))
      for (const line of loopbackLines(options.allowLoopback)) yield* Console.log(line)
      yield* Console.log("Billwright sending webhooks")
      V8Settings.work()
      return yield* storeEnd
    }
    const serverOptions = { ...RateLimit.serverOptions(options), trustedProxies: options.trustedProxies }
    const server = yield* Server.make(serverOptions)
    const context = yield* Effect.context<never>()
    const operators = ProofKeys.publishing(
      yield* ProofKeys.keys,
      withDashboard(NodeHandler.make(server, context)),
    )
    const api = yield* PayerPages.serving(options, serverOptions, operators)
    const listening = yield* Scope.provide(
      NodeServer.listen(ownMetrics === undefined ? withMetrics(metrics, api) : api, {
        host: options.host,
        port: options.port.value,
      }),
      yield* Scope.fork(parts),
    )
    if (options.dispatch) yield* Layer.buildWithScope(Dispatch.layer(options), yield* Scope.fork(parts))
    const metricsUrl = (ownMetrics ?? listening).url
    const { allowLoopback, keysFile, payerPages, payments } = options
    const keys = yield* firstKeys(keysFile)
    for (const line of announce({
      url: listening.url,
      metricsUrl,
      keys,
      keysFile,
      allowLoopback,
      payerPages,
      payments,
    })) {
      yield* Console.log(line)
    }
    V8Settings.work()
    return yield* storeEnd
  }, Effect.scoped),
).pipe(
  Command.withDescription("Serve the REST API, send webhooks, and bill what is due"),
  Command.validate((options) => {
    const message = problemOf(options)
    return message === undefined ? Effect.void : Effect.fail(new CliError.ValidationError({ message }))
  }),
  Command.provide((options) => services({ ...options, isShared: false })),
  Command.withExamples([
    {
      command: "billwright serve",
      description: "Serve on http://127.0.0.1:4100, with the data in .billwright",
    },
    { command: "billwright serve --port 0 --store memory", description: "Serve on a free port, in memory" },
    {
      command: "DATABASE_URL=postgres://… BILLWRIGHT_ENCRYPTION_KEYS=… billwright serve --store postgres",
      description: "Serve from your Postgres",
    },
    {
      command: "billwright serve --store postgres --dispatch-only",
      description: "Send webhooks, beside servers",
    },
  ]),
)
