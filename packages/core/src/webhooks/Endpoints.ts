/**
 * The use cases of webhook endpoints.
 */
import { Context, DateTime, Effect, Layer, type Redacted } from "effect"
import type * as Event from "../events/Event.ts"
import { EventTypes, unknownProblem } from "../events/EventType.ts"
import { Outbox } from "../events/Outbox.ts"
import * as ById from "../shared/ById.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { nameCursor, type Page, toQuery } from "../shared/Page.ts"
import { afterStoring, type StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { DELIVERY_ID_PREFIX, DeliveryId } from "./Delivery.ts"
import { cancelAll, DeliveryStore, MAX_RANGE_REPLAY } from "./DeliveryStore.ts"
import { endPendingOfDisabled } from "./DisabledEndpoint.ts"
import * as Endpoint from "./Endpoint.ts"
import * as EndpointChange from "./EndpointChange.ts"
import * as EndpointHeaders from "./EndpointHeaders.ts"
import * as EndpointSecrets from "./EndpointSecrets.ts"
import { EndpointStore } from "./EndpointStore.ts"
import * as EndpointUrl from "./EndpointUrl.ts"
import * as EndpointVerification from "./EndpointVerification.ts"
import { EncryptionKeyRequired, Keyring, type SecretUnavailable } from "./Keyring.ts"
import type { NetworkPolicy } from "./NetworkAddress.ts"

const { knownId, orNotFound } = ById.make(
  Endpoint.isEndpointId,
  (id) => new Endpoint.EndpointNotFound({ id }),
)

export interface EndpointsOptions {
  /** Networks that endpoints may use in addition to public addresses. Give the transport the same policy. */
  readonly network?: NetworkPolicy
  /**
   * Asks each new URL whether it wants webhooks, before an endpoint has it. Endpoints that exist keep their URLs. Default:
   * nobody is asked.
   */
  readonly verification?: EndpointVerification.EndpointVerificationOptions
}

/**
 * An endpoint with its new secret. The secret can't be read again later. With `ed25519` there is no secret for the
 * receiver: give it the public key.
 */
export interface CreatedEndpoint {
  readonly endpoint: Endpoint.Endpoint
  /** `whsec_…`; `undefined` with `ed25519`. */
  readonly secret: Redacted.Redacted<string> | undefined
}

/**
 * Creates, reads, changes, tests and deletes the webhook endpoints of the current tenant.
 *
 * Secrets are `Redacted` throughout and stored encrypted (`Keyring`).
 */
export class Endpoints extends Context.Service<
  Endpoints,
  {
    /**
     * Creates an endpoint. A tenant can have 500. Its filter may contain only known event types. With the option
     * `verification` the URL is asked first, outside of transactions only.
     */
    readonly create: (
      input: Endpoint.CreateEndpoint,
    ) => Effect.Effect<
      CreatedEndpoint,
      InvalidInput | Endpoint.TooManyEndpoints | EncryptionKeyRequired | StorageError,
      CurrentTenant
    >

    readonly get: (
      id: string,
    ) => Effect.Effect<Endpoint.Endpoint, Endpoint.EndpointNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: Endpoint.ListEndpoints,
    ) => Effect.Effect<Page<Endpoint.Endpoint>, InvalidInput | StorageError, CurrentTenant>

    /**
     * Changes an endpoint. Giving headers to a live endpoint needs an encryption key. Fields left out stay as they are. When the endpoint has headers, a `url` of another origin is
     * refused without new `headers`, because the old ones may be credentials for the old receiver. With the option
     * `verification` a new URL is asked first, outside of transactions only.
     *
     * Disabling ends the endpoint's pending deliveries as `Failed` (`endpoint_disabled`). Enabling does not resend
     * anything; use `replayRange` for that.
     */
    readonly update: (
      id: string,
      input: Endpoint.UpdateEndpoint,
    ) => Effect.Effect<
      Endpoint.Endpoint,
      InvalidInput | Endpoint.EndpointNotFound | EncryptionKeyRequired | StorageError,
      CurrentTenant
    >

    /**
     * Deletes an endpoint and its secrets. Its pending deliveries end as `Failed` (`endpoint_deleted`). Its deliveries
     * and attempts stay.
     */
    readonly delete: (
      id: string,
    ) => Effect.Effect<void, Endpoint.EndpointNotFound | StorageError, CurrentTenant>

    /**
     * Checks a URL, and with the option `verification` asks it whether it wants webhooks. Fails with an `InvalidInput`
     * that says what it has to answer. Stores nothing.
     */
    readonly verifyUrl: (url: string) => Effect.Effect<void, InvalidInput, CurrentTenant>

    /** Makes a new secret. The previous ones keep signing for a while, so that receivers have time to switch. */
    readonly rotateSecret: (
      id: string,
      input?: Endpoint.RotateSecret,
    ) => Effect.Effect<
      CreatedEndpoint,
      InvalidInput | Endpoint.EndpointNotFound | EncryptionKeyRequired | StorageError,
      CurrentTenant
    >

    /** Sends the example of an event type to this endpoint only, whatever its filter, as an event with `endpointId`. */
    readonly test: (
      id: string,
      type: string,
    ) => Effect.Effect<
      Event.Event,
      InvalidInput | Endpoint.EndpointNotFound | Endpoint.EndpointIsDisabled | StorageError,
      CurrentTenant
    >

    /**
     * Sends past events again, in one transaction: those whose newest delivery to the endpoint failed, or all
     * whose type its filter includes. Events that have a pending delivery to it, or that were made for another
     * endpoint, are left out. Gives how many events it sends. More than 20,000 are refused. A dry run sends nothing.
     */
    readonly replayRange: (
      id: string,
      input: Endpoint.ReplayRange,
    ) => Effect.Effect<
      number,
      InvalidInput | Endpoint.EndpointNotFound | Endpoint.EndpointIsDisabled | StorageError,
      CurrentTenant
    >

    /**
     * Re-encrypts secrets and headers of all tenants with the keyring's first key, a batch of endpoints at a time. Everything else
     * can run meanwhile. Gives how many endpoints it changed: repeat it until it gives 0. Fails with `SecretUnavailable`
     * when the keys of all remaining secrets are missing.
     */
    readonly rotateEncryption: Effect.Effect<number, StorageError | SecretUnavailable>
  }
>()("@billwright/core/webhooks/Endpoints") {
  static readonly layerWith = (options: EndpointsOptions) =>
    Layer.effect(
      Endpoints,
      Effect.suspend(() => make(options)),
    ).pipe(Layer.provide(Outbox.layer))

  static readonly layer = Endpoints.layerWith({})
}

const decodeCreate = decoder(Endpoint.CreateEndpoint)
const decodeUpdate = decoder(Endpoint.UpdateEndpoint)
const decodeList = decoder(Endpoint.ListEndpoints)
const decodeRotate = decoder(Endpoint.RotateSecret)
const decodeRange = decoder(Endpoint.ReplayRange)

const make = Effect.fnUntraced(function* (options: EndpointsOptions) {
  const store = yield* EndpointStore
  const deliveries = yield* DeliveryStore
  const outbox = yield* Outbox
  const catalogue = yield* EventTypes
  const keyring = yield* Keyring
  const headers = EndpointHeaders.of(keyring)
  const secrets = EndpointSecrets.of(keyring, store, headers)
  const ids = yield* IdGenerator
  const transactor = yield* Transactor
  const askEndpoint = options.verification && EndpointVerification.make(options.verification)

  const checkUrl = Effect.fnUntraced(function* (url: string) {
    const { mode } = yield* CurrentTenant
    const problem = EndpointUrl.problemOf(url, mode, options.network)
    if (problem !== undefined) return yield* new InvalidInput({ field: "url", problem })
  })

  const verifyUrl = Effect.fn("Endpoints.verifyUrl")(function* (url: string) {
    yield* checkUrl(url)
    const { mode } = yield* CurrentTenant
    if (askEndpoint !== undefined) yield* askEndpoint(url, mode)
  })

  /** A transaction must not wait for a receiver. */
  const needVerified = Effect.fnUntraced(function* (url: string) {
    if (askEndpoint === undefined || (yield* EndpointVerification.VerifiedUrl) === url) return
    if (yield* transactor.inTransaction) return yield* new EndpointVerification.UnverifiedUrl(url)
    yield* verifyUrl(url)
  })

  const checkTypes = Effect.fnUntraced(function* (types: ReadonlyArray<string>, field: string) {
    const unknown = types.findIndex((type) => type !== Endpoint.ALL_TYPES && !catalogue.find(type))
    if (unknown === -1) return
    return yield* new InvalidInput({
      field: `${field}[${unknown}]`,
      problem: unknownProblem(types[unknown]),
    })
  })

  const shown = (endpoint: Endpoint.Endpoint) =>
    Effect.flatMap(CurrentTenant, (tenant) => headers.shown(endpoint, tenant))

  /** A change with its headers as they are stored. */
  const sealedOf = Effect.fnUntraced(function* (id: Endpoint.EndpointId, change: Endpoint.UpdateEndpoint) {
    if (change.headers === undefined || change.headers === null) return change
    const tenant = yield* CurrentTenant
    if (!keyring.modes.includes(tenant.mode)) return yield* new EncryptionKeyRequired()
    return { ...change, headers: yield* headers.seal(change.headers, tenant, id) }
  })

  const create = Effect.fn("Endpoints.create")(function* (input: Endpoint.CreateEndpoint) {
    const decoded = yield* decodeCreate(input)
    yield* checkUrl(decoded.url)
    yield* checkTypes(decoded.eventTypes, "eventTypes")
    yield* needVerified(decoded.url)
    const now = yield* DateTime.now
    const id = Endpoint.EndpointId.make(yield* ids.next(Endpoint.ENDPOINT_ID_PREFIX), { disableChecks: true })
    const signature = decoded.signature ?? "hmac"
    const secret = yield* secrets.make(id, signature, now)
    const endpoint: Endpoint.Endpoint = {
      id,
      url: decoded.url,
      eventTypes: decoded.eventTypes,
      description: decoded.description ?? null,
      headers: yield* headers.seal(decoded.headers ?? {}, yield* CurrentTenant, id),
      metadata: decoded.metadata ?? {},
      signature,
      publicKey: secret.publicKey,
      status: "enabled",
      disabledReason: null,
      disabledAt: null,
      failingSince: null,
      createdAt: now,
      updatedAt: now,
    }
    if (!(yield* store.insert({ endpoint, secrets: [secret.stored] }))) {
      return yield* new Endpoint.TooManyEndpoints()
    }
    const created: CreatedEndpoint = {
      endpoint: { ...endpoint, headers: decoded.headers ?? {} },
      secret: secret.shown,
    }
    return created
  })

  const get = Effect.fn("Endpoints.get")(function* (id: string) {
    return yield* shown(yield* orNotFound(yield* store.find(yield* knownId(id)), id))
  })

  const list = Effect.fn("Endpoints.list")(function* (query: Endpoint.ListEndpoints = {}) {
    const request = yield* decodeList(query)
    const page = yield* toQuery(request)
    const found = yield* store.list({ status: request.status }, page).pipe(nameCursor(request))
    return { ...found, data: yield* Effect.forEach(found.data, shown) }
  })

  const endPending = (id: Endpoint.EndpointId, at: DateTime.Utc) =>
    endPendingOfDisabled({ deliveries, endpoints: store, transactor }, id, at)

  /** The endpoint is already changed here, so the error must not claim that nothing was stored. */
  const onceChanged = <A, R>(ending: Effect.Effect<A, StorageError, R>) =>
    Effect.mapError(ending, afterStoring)

  const update = Effect.fn("Endpoints.update")(function* (id: string, input: Endpoint.UpdateEndpoint) {
    const change = yield* decodeUpdate(input)
    if (change.url !== undefined) yield* checkUrl(change.url)
    if (change.eventTypes !== undefined) yield* checkTypes(change.eventTypes, "eventTypes")
    const known = yield* knownId(id)
    if (change.url !== undefined && askEndpoint !== undefined) {
      const { url } = yield* orNotFound(yield* store.find(known), id)
      if (change.url !== url) yield* needVerified(change.url)
    }
    const now = yield* DateTime.now
    const sealed = yield* sealedOf(known, change)
    // What was left when it was disabled is not sent either.
    if (change.status === "enabled") yield* endPending(known, now)
    const changed = yield* store.modify(known, (current) => EndpointChange.apply(current, sealed, now))
    if (change.status === "disabled") yield* onceChanged(endPending(known, now))
    return yield* shown((yield* orNotFound(changed, id)).endpoint)
  })

  const remove = Effect.fn("Endpoints.delete")(function* (id: string) {
    const known = yield* knownId(id)
    const now = yield* DateTime.now
    if (!(yield* store.delete(known, now))) return yield* new Endpoint.EndpointNotFound({ id })
    yield* onceChanged(cancelAll(deliveries, known, "endpoint_deleted", now))
  })

  const rotateSecret = Effect.fn("Endpoints.rotateSecret")(function* (
    id: string,
    input: Endpoint.RotateSecret = {},
  ) {
    const { expirePreviousAfterSeconds } = yield* decodeRotate(input)
    const known = yield* knownId(id)
    const now = yield* DateTime.now
    const expiresAt = DateTime.add(now, {
      seconds: expirePreviousAfterSeconds ?? Endpoint.DEFAULT_ROTATION_OVERLAP_SECONDS,
    })
    const { signature } = yield* get(id)
    const secret = yield* secrets.make(known, signature, now)
    const rotated = yield* store.modify(known, ({ endpoint, secrets: previous }) =>
      Effect.succeed({
        endpoint: { ...endpoint, publicKey: secret.publicKey, updatedAt: now },
        secrets: [secret.stored, ...EndpointSecrets.ending(previous, expiresAt, now)],
      }),
    )
    const created: CreatedEndpoint = {
      endpoint: yield* shown((yield* orNotFound(rotated, id)).endpoint),
      secret: secret.shown,
    }
    return created
  })

  const test = Effect.fn("Endpoints.test")(function* (id: string, type: string) {
    const known = catalogue.find(type)
    if (known === undefined) {
      return yield* new InvalidInput({
        field: "type",
        problem: unknownProblem(type),
      })
    }
    const endpoint = yield* get(id)
    if (endpoint.status === "disabled") return yield* new Endpoint.EndpointIsDisabled({ id: endpoint.id })
    const outcome = yield* outbox.publish(known, known.example, { endpointId: endpoint.id })
    // The endpoint was disabled or deleted after `get`.
    if (outcome._tag !== "Published") return yield* new Endpoint.EndpointNotFound({ id })
    return outcome.event
  })

  const replayRange = Effect.fn("Endpoints.replayRange")(function* (id: string, input: Endpoint.ReplayRange) {
    const range = yield* decodeRange(input)
    if (range.types !== undefined) yield* checkTypes(range.types, "types")
    const now = yield* DateTime.now
    const until = range.until ?? now
    if (range.since.epochMilliseconds >= until.epochMilliseconds) {
      return yield* new InvalidInput({ field: "since", problem: "must be before until" })
    }
    const { id: endpointId, status } = yield* get(id)
    if (status === "disabled") return yield* new Endpoint.EndpointIsDisabled({ id: endpointId })
    const count = yield* deliveries.replayRange({
      endpointId,
      since: range.since,
      until,
      onlyFailed: (range.status ?? "Failed") === "Failed",
      types: (range.types ?? []).filter((type) => type !== Endpoint.ALL_TYPES),
      firstDeliveryId: DeliveryId.make(yield* ids.next(DELIVERY_ID_PREFIX), { disableChecks: true }),
      now,
      limit: MAX_RANGE_REPLAY,
      isDryRun: range.dryRun ?? false,
    })
    if (count > MAX_RANGE_REPLAY) {
      return yield* new InvalidInput({
        field: "since",
        problem: `makes a range of more than ${MAX_RANGE_REPLAY} events: replay it in smaller parts`,
      })
    }
    return count
  })

  return Endpoints.of({
    create,
    get,
    list,
    update,
    delete: remove,
    verifyUrl,
    rotateSecret,
    test,
    replayRange,
    rotateEncryption: secrets.rotateEncryption,
  })
})
