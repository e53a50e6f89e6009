/**
 * The running services of one billing.
 */
import {
  Billing as Core,
  BillingRuns,
  BookChecks,
  checkPagesUrl,
  type CreditsOptions,
  creditUnitsOf,
  Dispatcher,
  invoiceSettingsOf,
  type InvoicesOptions,
  MeterRebuilds,
  NetworkAddress,
  Tenant,
  WebhookTransport,
} from "@billwright/core"
import { problemOfNode } from "@billwright/node/version"
import { Context, Effect, Exit, Layer, ManagedRuntime, Option, Redacted } from "effect"
import type { BillingOptions, DispatcherOptions, SendingOptions } from "../BillingOptions.ts"
import { InvalidInputError } from "../errors/BillingError.ts"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import { toEventTypes } from "../events/EventTypeBridge.ts"
import type { PayerPagesOptions } from "../handlers/PayerPageHandlers.ts"
import { makePdf } from "../invoices/Pdf.ts"
import { toSigner } from "../invoices/ProofSigner.ts"
import type { TaxService, TaxTable } from "../invoices/Taxes.ts"
import { toCoreProvider } from "../payments/ProviderBridge.ts"
import * as BillingOptionRules from "./BillingOptionRules.ts"
import { Calls, type Environment } from "./Calls.ts"
import * as EncryptionKeys from "./EncryptionKeys.ts"
import { firstProblem } from "./Failure.ts"
import { OpenGate } from "./Gate.ts"
import * as LazyTransport from "./LazyTransport.ts"
import * as Log from "./Log.ts"
import * as StartChecks from "./StartChecks.ts"
import { toStartError } from "./StartError.ts"
import { partsOf, type StoreParts } from "./StoreParts.ts"

export interface Engine {
  /** The options that it was started with. */
  readonly options: BillingOptions
  readonly calls: Calls
  /** `undefined` when this process sends no webhooks. */
  readonly dispatcher: Dispatcher["Service"] | undefined
  /** Builds meters when a test's clock moves. `undefined` without a test. */
  readonly rebuilds: MeterRebuilds["Service"] | undefined
  readonly join: StoreParts["join"]
  /** Aborts when `close` is called. */
  readonly closing: AbortSignal
  /** Makes `close` wait for other work that uses the services. */
  readonly whileOpen: <A>(work: () => Promise<A>) => Promise<A>
  readonly close: () => Promise<void>
}

/** An older Node would fail later, with an error that doesn't name the cause. */
const checkNode = (): void => {
  const problem = problemOfNode()
  if (problem !== undefined) throw new ConfigurationError(problem)
}

const defined = <A>(name: string, value: A | undefined): object =>
  value === undefined ? {} : { [name]: value }

/** The internals of the store. Throws a `ConfigurationError` that says what to do. */
const checkStore = ({ store }: BillingOptions): StoreParts => {
  const parts = partsOf(store)
  if (parts !== undefined) return parts
  throw new ConfigurationError(
    "store must be made by memory() of billwright/memory, postgres({ pool }) or embedded() of billwright/postgres, or defineStore() of billwright/adapter, in the same installation of billwright",
  )
}

/** The storage, with all of its ports. A layer that was not type-checked may lack some. */
const storageOf = ({ layer }: StoreParts, { store }: BillingOptions) =>
  Layer.flatMap(layer, (context) => {
    const missing = Core.missingPorts(context)
    if (missing.length === 0) return Layer.succeedContext(context)
    const error = new ConfigurationError(
      `billing can't start: the store "${store.kind}" lacks ${missing.join(", ")}: its layer must provide every port of Billing.Storage`,
    )
    return Layer.effectContext(Effect.fail(error))
  })

/** The tenant of an account. Throws an `InvalidInputError`. */
export const toTenant = (accountId: string, mode: Tenant.Mode): Tenant.Tenant => {
  const id = Tenant.AccountId.makeOption(accountId)
  if (Option.isSome(id)) return { accountId: id.value, mode }
  throw new InvalidInputError("accountId", "must be 1 to 64 letters, digits, - or _")
}

const networkPolicy = (network: NonNullable<BillingOptions["network"]>) =>
  Effect.mapError(
    NetworkAddress.makePolicy(network),
    (error) => new ConfigurationError(`network.${error.message}`, { cause: error }),
  )

/** The options of invoices. Throws a `ConfigurationError` that names the wrong one. */
const invoicesOf = ({ tax, ...options }: NonNullable<BillingOptions["invoices"]>): InvoicesOptions => {
  const all: InvoicesOptions = { ...options, ...defined("tax", tax && taxSourceOf(tax)) }
  checked(() => invoiceSettingsOf(all))
  return all
}

/** The options of credits. Throws a `ConfigurationError` that names the wrong one. */
const creditsOf = (credits: CreditsOptions): CreditsOptions => {
  checked(() => creditUnitsOf(credits))
  return credits
}

/** Runs a check of core, which throws a `TypeError` that names the option. */
const checked = (check: () => void): void => {
  try {
    check()
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw new ConfigurationError(cause.message, { cause })
  }
}

const taxSourceOf = (tax: TaxTable | TaxService): NonNullable<InvoicesOptions["tax"]> =>
  "quote" in tax
    ? {
        quote: (request) =>
          Effect.tryPromise({
            try: async (signal) => tax.quote(request, { signal }),
            catch: (error) => error,
          }),
      }
    : tax

const LINK_KEYS = 'payerPages.keys must be a key, a list of keys or { file: "path" }'

/** Where pages for payers are. Throws a `ConfigurationError` that names the wrong option. */
const payerPagesOf = async (
  { keys, url }: PayerPagesOptions,
  keyManagement: BillingOptions["keyManagement"],
): Promise<Core.BillingOptions["payerPages"]> => {
  checked(() => checkPagesUrl(url))
  return { url, keys: await EncryptionKeys.read(keys, keyManagement, LINK_KEYS) }
}

const servicesOf = async (options: BillingOptions): Promise<Core.BillingOptions> => {
  const {
    credits,
    events = [],
    http,
    invoices,
    keys,
    network,
    payerPages,
    payments,
    proofKey,
    usage,
  } = options
  const policy = network && (await Effect.runPromise(networkPolicy(network)))
  const encryption = await EncryptionKeys.resolve(options)
  return {
    events: { types: toEventTypes(events) },
    pdf: makePdf,
    webhooks: defined("network", policy),
    ...defined("encryption", encryption),
    ...defined("usage", usage),
    ...defined("credits", credits && creditsOf(credits)),
    ...defined("invoices", invoices && invoicesOf(invoices)),
    ...defined("proofs", proofKey === undefined ? undefined : toSigner(proofKey)),
    ...defined("payments", payments && toCoreProvider(payments)),
    ...defined("payerPages", payerPages && (await payerPagesOf(payerPages, options.keyManagement))),
    ...defined("idempotency", http?.idempotencyMillis && { retentionMillis: http.idempotencyMillis }),
    ...defined("keys", keys && { ...keys, ...defined("pepper", keys.pepper && Redacted.make(keys.pepper)) }),
  }
}

/** What a test replaces: the clock and the network. */
export interface World {
  readonly clock: Layer.Layer<never>
  readonly transport: Layer.Layer<WebhookTransport>
}

/** Sends requests to endpoints. `name` is the option that has the settings, for messages. */
const transportOf = (
  { certificateAuthorities, clientCertificate, proxy }: SendingOptions,
  { network }: BillingOptions,
  name: string,
) =>
  LazyTransport.layer(
    {
      ...defined("certificateAuthorities", certificateAuthorities),
      ...defined("clientCertificate", clientCertificate),
      ...defined("proxy", proxy),
      ...defined("network", network),
    },
    name,
  )

const dispatcherOf = (options: BillingOptions, world: World | undefined) => {
  const { dispatcher = true, verifyEndpoints } = options
  if (dispatcher === false) return Layer.empty
  const given: DispatcherOptions = typeof dispatcher === "object" ? dispatcher : {}
  const settings = { ...given, ...defined("requestOrigin", verifyEndpoints?.origin) }
  if (world !== undefined) return Dispatcher.layerManual(settings).pipe(Layer.provide(world.transport))
  const make = dispatcher === "manual" ? Dispatcher.layerManual : Dispatcher.layerWith
  return make(settings).pipe(Layer.provide(transportOf(given, options, "dispatcher")))
}

/** The services. With `verifyEndpoints` they ask endpoints, also in a process that sends no webhooks. */
const servicesLayer = (options: BillingOptions, services: Core.BillingOptions, world: World | undefined) => {
  const { dispatcher, verifyEndpoints } = options
  if (verifyEndpoints === undefined) return Core.layerWith(services)
  const { origin, ...own } = verifyEndpoints
  const sending = { ...(typeof dispatcher === "object" ? dispatcher : {}), ...own }
  const name = Object.keys(own).length === 0 ? "dispatcher" : "verifyEndpoints"
  return Layer.unwrap(
    Effect.map(WebhookTransport, (transport) =>
      Core.layerWith({
        ...services,
        webhooks: { ...services.webhooks, verification: { origin, transport } },
      }),
    ),
  ).pipe(Layer.provide(world?.transport ?? transportOf(sending, options, name)))
}

/**
 * Bills and builds the roll-ups of meters in the background, in a process that sends webhooks in the background. In a test
 * both are done when its clock moves.
 */
const workOf = (
  { dispatcher = true, nightlyBookChecks = false }: BillingOptions,
  world: World | undefined,
) => {
  if (world !== undefined) return MeterRebuilds.layerManual
  return dispatcher === false || dispatcher === "manual"
    ? Layer.empty
    : Layer.mergeAll(
        BillingRuns.layer,
        MeterRebuilds.layer,
        nightlyBookChecks ? BookChecks.nightly : Layer.empty,
      )
}

/** Starts the services. Rejects with an error whose message says what is wrong. */
export const start = async (options: BillingOptions, world?: World): Promise<Engine> => {
  checkNode()
  BillingOptionRules.check(options)
  const parts = checkStore(options)
  const tenant = toTenant(options.accountId ?? Tenant.defaultAccountId, options.mode ?? "live")
  const layer = dispatcherOf(options, world).pipe(
    Layer.merge(workOf(options, world)),
    Layer.provideMerge(Layer.effectDiscard(StartChecks.run(options))),
    Layer.provideMerge(servicesLayer(options, await servicesOf(options), world)),
    Layer.provideMerge(storageOf(parts, options)),
    Layer.provideMerge(Log.layer(options.log)),
    Layer.provideMerge(world?.clock ?? Layer.empty),
  )
  const runtime = ManagedRuntime.make(layer as Layer.Layer<Environment, unknown>)
  const built = await Effect.runPromiseExit(runtime.contextEffect)
  if (Exit.isFailure(built)) {
    await runtime.dispose()
    throw toStartError(firstProblem(built.cause), parts)
  }
  const gate = new OpenGate(
    parts.isSerial ?? false,
    (sentence) => void Effect.runForkWith(built.value)(Effect.logWarning(sentence)),
  )
  let closed: Promise<void> | undefined
  const services = built.value as Context.Context<never>
  return {
    options,
    calls: new Calls(built.value, tenant, gate),
    dispatcher: Option.getOrUndefined(Context.getOption(services, Dispatcher)),
    rebuilds: world && Option.getOrUndefined(Context.getOption(services, MeterRebuilds)),
    join: parts.join,
    closing: gate.closing,
    whileOpen: (work) => gate.enter(work),
    close: () => (closed ??= gate.close().then(() => runtime.dispose())),
  }
}
