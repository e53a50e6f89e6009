/**
 * A memory storage whose verbs can be made to fail, to throw or to wait.
 */
import {
  ApiKeyStore,
  Collections,
  CreditNoteStore,
  CreditStore,
  DeliveryStore,
  EndpointStore,
  EntitlementStore,
  EventStore,
  IdempotencyStore,
  InvoiceStore,
  PaymentStore,
  PlanStore,
  StorageError,
  SubscriptionStore,
  UsageStore,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { Context, Deferred, Effect, Layer } from "effect"
import type { Storage } from "./ApiServer.ts"

type Provided = Layer.Success<Storage>

type Fault = Effect.Effect<void, StorageError>

/** A detail of a database error, which must not reach a client. */
const DETAIL = "connection to db.internal:5432 refused: select secret_column from billing"

const failing = (fields: { readonly retryable: boolean; readonly isOutcomeUnknown?: boolean }): Fault =>
  Effect.suspend(() =>
    Effect.fail(new StorageError({ operation: "Store.verb", cause: new Error(DETAIL), ...fields })),
  )

/** Every verb fails as an adapter fails. */
export const unavailable: Fault = failing({ retryable: true })

/** All the ways in which an adapter fails. */
export const storageErrors: Readonly<Record<string, Fault>> = {
  "over soon": unavailable,
  "not over soon": failing({ retryable: false }),
  "nobody knows whether it was carried out": failing({ retryable: false, isOutcomeUnknown: true }),
}

/** Every verb has a bug. */
export const defect: Fault = Effect.suspend(() => Effect.die(new TypeError(DETAIL)))

/** Runs a fault before every verb of a store, or before one, except subscribing to a signal, which doesn't use the storage. */
const wrap = <S extends object>(store: S, fault: Fault, only?: keyof S): S =>
  new Proxy(store, {
    get: (target, name, receiver) => {
      const verb: unknown = Reflect.get(target, name, receiver)
      if (name === "committed" || (only !== undefined && name !== only)) return verb
      if (Effect.isEffect(verb)) return Effect.andThen(fault, verb)
      if (typeof verb !== "function") return verb
      return (...args: ReadonlyArray<unknown>) =>
        Effect.andThen(fault, Reflect.apply(verb, target, args) as Effect.Effect<unknown, unknown, unknown>)
    },
  })

/** Runs a fault before the use of a key is stored, like a store that can only be read. */
const withWrites = (store: ApiKeyStore["Service"], fault: Fault): ApiKeyStore["Service"] => ({
  ...store,
  touch: (...args) => Effect.andThen(fault, store.touch(...args)),
})

/** A storage and the current faults of its verbs. */
export const make = () => {
  const faults: { data: Fault; idempotency: Fault; keys: Fault; keyWrites: Fault } = {
    data: Effect.void,
    idempotency: Effect.void,
    keys: Effect.void,
    keyWrites: Effect.void,
  }
  const data = Effect.suspend(() => faults.data)
  const idempotency = Effect.suspend(() => faults.idempotency)
  const keys = Effect.suspend(() => faults.keys)
  const keyWrites = Effect.suspend(() => faults.keyWrites)
  const storage: Storage = Layer.effectContext(
    Effect.map(Effect.context<Provided>(), (context) =>
      context.pipe(
        Context.add(Collections, {
          of: (resource) => wrap(Context.get(context, Collections).of(resource), data),
        }),
        Context.add(UsageStore, wrap(Context.get(context, UsageStore), data)),
        Context.add(EventStore, wrap(Context.get(context, EventStore), data)),
        Context.add(EndpointStore, wrap(Context.get(context, EndpointStore), data)),
        Context.add(DeliveryStore, wrap(Context.get(context, DeliveryStore), data)),
        Context.add(PlanStore, wrap(Context.get(context, PlanStore), data)),
        Context.add(SubscriptionStore, wrap(Context.get(context, SubscriptionStore), data)),
        Context.add(CreditNoteStore, wrap(Context.get(context, CreditNoteStore), data)),
        Context.add(CreditStore, wrap(Context.get(context, CreditStore), data)),
        Context.add(EntitlementStore, wrap(Context.get(context, EntitlementStore), data)),
        Context.add(PaymentStore, wrap(Context.get(context, PaymentStore), data)),
        Context.add(InvoiceStore, wrap(Context.get(context, InvoiceStore), data)),
        Context.add(IdempotencyStore, wrap(Context.get(context, IdempotencyStore), idempotency)),
        Context.add(ApiKeyStore, wrap(withWrites(Context.get(context, ApiKeyStore), keyWrites), keys)),
      ),
    ),
  ).pipe(Layer.provide(Memory.layer))
  return { storage, faults }
}

/**
 * A storage that inserts no customer or other resource until `open` is done, but audit records of what comes before. `reached` is done when a request is about to insert one,
 * and `left` when this request was interrupted.
 */
export const makeGate = Effect.gen(function* () {
  const reached = yield* Deferred.make<void>()
  const open = yield* Deferred.make<void>()
  const left = yield* Deferred.make<void>()
  const wait = Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(open)).pipe(
    Effect.onInterrupt(() => Deferred.succeed(left, undefined)),
  )
  const storage: Storage = Layer.effectContext(
    Effect.map(Effect.context<Provided>(), (context) =>
      Context.add(context, Collections, {
        of: (resource) => {
          const collection = Context.get(context, Collections).of(resource)
          return resource.isAppendOnly === true ? collection : wrap(collection, wait, "insert")
        },
      }),
    ),
  ).pipe(Layer.provide(Memory.layer))
  return {
    storage,
    reached: Deferred.await(reached),
    left: Deferred.await(left),
    open: Deferred.succeed(open, undefined),
  }
})
