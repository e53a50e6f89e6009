/**
 * The flags for sending webhooks, and the layers that are made from them.
 */
import {
  ATTEMPT_DEADLINE_MILLIS,
  type Billing,
  BillingRuns,
  BookChecks,
  Dispatcher,
  MeterRebuilds,
  type InvalidInput,
  LEASE_MILLIS,
  NetworkAddress,
  type NetworkPolicy,
  WebhookTransport,
} from "@billwright/core"
import { type PrivateFile, UndiciTransport } from "@billwright/node"
import { Config, Context, Effect, Layer, Option, Schema, type Scope } from "effect"
import { Flag } from "effect/cli"
import * as ClientCertificate from "./ClientCertificate.ts"
import { Misconfigured } from "./Store.ts"
import type { VerifyEndpointsFlags } from "./VerifyEndpoints.ts"
import * as WebhookProxy from "./WebhookProxy.ts"

const SECOND = 1_000
const MAX_IN_FLIGHT = 10_000
const MAX_LEASE_SECONDS = 3_600

const DEFAULTS = {
  maxInFlight: 64,
  maxInFlightPerEndpoint: 8,
  maxStalled: 448,
  attemptSeconds: ATTEMPT_DEADLINE_MILLIS / SECOND,
  leaseSeconds: LEASE_MILLIS / SECOND,
} as const

const between = (minimum: number, maximum: number) =>
  Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

export const parseNetworks = (text: string): Option.Option<ReadonlyArray<string>> => {
  const networks = text.split(/[\s,]+/).filter((entry) => entry !== "")
  return networks.every((network) => NetworkAddress.parseNetwork(network) !== undefined)
    ? Option.some(networks)
    : Option.none()
}

/** The networks that endpoints may be in, besides public addresses. */
export const webhookAllow = Flag.String("webhook-allow").pipe(
  Flag.withDescription(
    "Private networks that webhooks may be sent to, such as 10.20.0.0/16,fd00:7::/64. Default: BILLWRIGHT_WEBHOOK_ALLOW, or none.",
  ),
  Flag.withFallbackConfig(Config.String("BILLWRIGHT_WEBHOOK_ALLOW").pipe(Config.withDefault(""))),
  Flag.filterMap(
    parseNetworks,
    (text) =>
      `must be networks such as 10.20.0.0/16,fd00:7::/64, without bits set after the prefix. It is ${text}`,
  ),
)

/** Whether webhooks of test mode may go to this machine. */
export const allowLoopback = Flag.Boolean("allow-loopback").pipe(
  Flag.withDescription(
    "For development: webhooks of test mode may go to this machine (127.0.0.0/8, ::1, localhost). Anyone with a test key can then reach services on this machine and read their answers.",
  ),
  Flag.withDefault(false),
)

/** The options of the network policy. */
export interface NetworkOptions {
  readonly webhookAllow: ReadonlyArray<string>
  readonly allowLoopback: boolean
}

const networkOf = ({ allowLoopback: isLoopbackAllowed, webhookAllow: allow }: NetworkOptions) => ({
  allow,
  allowLoopback: isLoopbackAllowed,
})

/** The policy that checks the URLs of new endpoints. */
export const policyOf = (options: NetworkOptions): Effect.Effect<NetworkPolicy, Misconfigured> =>
  Effect.mapError(
    NetworkAddress.makePolicy(networkOf(options)),
    ({ problem }) => new Misconfigured({ message: `--webhook-allow ${problem}` }),
  )

export const flags = {
  maxInFlight: Flag.Int("max-in-flight").pipe(
    Flag.withDescription(
      `The most webhook attempts at once, not counting those that wait for a slow receiver. Default: ${DEFAULTS.maxInFlight}.`,
    ),
    between(1, MAX_IN_FLIGHT),
    Flag.withDefault(DEFAULTS.maxInFlight),
  ),
  maxInFlightPerEndpoint: Flag.Int("max-in-flight-per-endpoint").pipe(
    Flag.withDescription(
      `The most webhook attempts at once to one endpoint. Default: ${DEFAULTS.maxInFlightPerEndpoint}.`,
    ),
    between(1, MAX_IN_FLIGHT),
    Flag.withDefault(DEFAULTS.maxInFlightPerEndpoint),
  ),
  maxStalled: Flag.Int("max-stalled").pipe(
    Flag.withDescription(
      `The most webhook attempts at once that wait for a slow receiver, more than a second. Default: ${DEFAULTS.maxStalled}.`,
    ),
    between(1, MAX_IN_FLIGHT),
    Flag.withDefault(DEFAULTS.maxStalled),
  ),
  attemptSeconds: Flag.Int("attempt-seconds").pipe(
    Flag.withDescription(
      `How long a webhook attempt may take in total, in seconds. Default: ${DEFAULTS.attemptSeconds}.`,
    ),
    between(1, MAX_LEASE_SECONDS),
    Flag.withDefault(DEFAULTS.attemptSeconds),
  ),
  nightlyBookChecks: Flag.Boolean("nightly-book-checks").pipe(
    Flag.withDescription(
      "Derive all invoices and balances of credits again each night, from 2 o'clock in UTC on, and publish book_check.failed if something differs. Default: false.",
    ),
    Flag.withDefault(false),
  ),
  leaseSeconds: Flag.Int("lease-seconds").pipe(
    Flag.withDescription(
      `How long a process holds a delivery, in seconds. If the process dies, another one sends the delivery again after this time. Must be longer than --attempt-seconds. Default: ${DEFAULTS.leaseSeconds}.`,
    ),
    between(2, MAX_LEASE_SECONDS),
    Flag.withDefault(DEFAULTS.leaseSeconds),
  ),
}

interface SenderOptions {
  readonly maxInFlight: number
  readonly maxStalled: number
  readonly attemptSeconds: number
}

export interface DispatchOptions extends SenderOptions, VerifyEndpointsFlags {
  readonly nightlyBookChecks: boolean
  readonly maxInFlightPerEndpoint: number
  readonly leaseSeconds: number
}

export interface TransportOptions
  extends
    SenderOptions,
    NetworkOptions,
    WebhookProxy.WebhookProxyFlags,
    ClientCertificate.ClientCertificateFlags {}

const NAMES = { ...WebhookProxy.NAMES, ...ClientCertificate.NAMES }

/** Names the flag in an error of the transport. */
const withFlag = ({ field, problem }: InvalidInput): Misconfigured =>
  new Misconfigured({ message: `${NAMES[field] ?? field} ${problem}` })

/** Makes what sends requests to receivers, until the scope closes. */
export const transport = Effect.fnUntraced(function* (
  options: TransportOptions,
): Effect.fn.Return<WebhookTransport["Service"], Misconfigured | PrivateFile.PrivateFileError, Scope.Scope> {
  const made = yield* Layer.build(
    UndiciTransport.layer({
      network: networkOf(options),
      deadlineMillis: options.attemptSeconds * SECOND,
      maxConnectionsPerOrigin: options.maxInFlight + options.maxStalled,
      ...(yield* WebhookProxy.transportOptions(options)),
      ...(yield* ClientCertificate.transportOptions(options)),
    }),
  ).pipe(Effect.mapError(withFlag))
  return Context.get(made, WebhookTransport)
})

/** Sends webhooks, builds meters and bills until its scope closes. */
export const layer = (
  options: DispatchOptions,
): Layer.Layer<
  BillingRuns | Dispatcher | MeterRebuilds,
  InvalidInput,
  Billing.Storage | Billing.Services | WebhookTransport
> =>
  Dispatcher.layerWith({
    maxInFlight: options.maxInFlight,
    maxInFlightPerEndpoint: options.maxInFlightPerEndpoint,
    maxStalled: options.maxStalled,
    leaseMillis: options.leaseSeconds * SECOND,
    attemptDeadlineMillis: options.attemptSeconds * SECOND,
    ...(Option.isSome(options.verifyEndpoints) ? { requestOrigin: options.verifyEndpoints.value } : {}),
  }).pipe(
    Layer.merge(MeterRebuilds.layer),
    Layer.merge(BillingRuns.layer),
    Layer.merge(options.nightlyBookChecks ? BookChecks.nightly : Layer.empty),
  )
