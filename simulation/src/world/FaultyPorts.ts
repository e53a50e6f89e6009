/**
 * Ports with faults: slow, failing, and unusable for a dead process.
 */
import {
  ApiKeyStore,
  type Billing,
  Collections,
  CreditNoteStore,
  CreditStore,
  DeliveryStore,
  DueStore,
  EndpointStore,
  EntitlementStore,
  EventStore,
  IdempotencyStore,
  InvoiceStore,
  LiveSubscriptions,
  PaymentStore,
  PlanStore,
  RetentionStore,
  SpendMarks,
  type StorageError,
  SubscriptionStore,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { Context, Effect } from "effect"
import type { Ports } from "./Observer.ts"
import { breakage, refusal, type StorageFault, uncertainty, type Weather } from "./Weather.ts"

/** Tells the ports whether their process is alive. */
export interface Life {
  /** Waits while the process is stopped. Dies if the process is dead. */
  readonly gate: Effect.Effect<void>
  /** Dies if the process is dead, or is to be killed at this point. */
  readonly passes: (point: string) => Effect.Effect<void>
  /** Whether the process is alive, not stopped, and not to be killed here. Then the call can go straight on. */
  readonly isFreeAt: (point: string) => boolean
}

type Guard = <A, E, R>(point: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>

/** Most calls meet no fault, and take a short way. */
const outside =
  (life: Life, weather: Weather): Guard =>
  (point, effect) =>
    Effect.suspend(() => {
      const [before, after] = [`${point}: before`, `${point}: after`]
      if (!life.isFreeAt(before)) {
        const passing = Effect.andThen(life.gate, life.passes(before))
        return Effect.andThen(passing, carriedOut(life, weather, point, effect))
      }
      const fault = weather.storageFault()
      if (fault !== "none") return carriedOut(life, weather, point, effect, fault)
      return Effect.flatMap(effect, (result) =>
        life.isFreeAt(after)
          ? Effect.succeed(result)
          : Effect.as(Effect.andThen(life.passes(after), life.gate), result),
      )
    })

const carriedOut = Effect.fnUntraced(function* <A, E, R>(
  life: Life,
  weather: Weather,
  point: string,
  effect: Effect.Effect<A, E, R>,
  fault: StorageFault = weather.storageFault(),
) {
  if (fault === "refused") return yield* refusal(point)
  if (fault === "broken") return yield* breakage(point)
  if (fault === "request lost") return yield* uncertainty(point)
  if (fault === "slow") yield* Effect.andThen(Effect.sleep(weather.slowness()), life.gate)
  const result = yield* effect
  yield* life.passes(`${point}: after`)
  if (fault === "slow answer") yield* Effect.sleep(weather.slowness())
  yield* life.gate
  if (fault === "answer lost") return yield* uncertainty(point)
  return result
})

/** A process is not stopped within a transaction: the storage would end that, and it would block all others. */
const inside = (life: Life, weather: Weather): Guard =>
  Effect.fnUntraced(function* (point, effect) {
    yield* life.passes(`${point}: in a transaction`)
    const fault = weather.transactionFault()
    if (fault === "refused") return yield* refusal(point)
    if (fault === "slow") yield* Effect.sleep(weather.transactionSlowness())
    return yield* effect
  })

type Verb = (...input: ReadonlyArray<unknown>) => Effect.Effect<unknown, StorageError, unknown>

/** A port whose methods all have faults. */
const guarded = <Port extends object>(name: string, port: Port, guard: Guard): Port =>
  Object.fromEntries(
    Object.entries(port).map(([verb, value]: readonly [string, unknown]) => {
      const point = `${name}.${verb}`
      if (Effect.isEffect(value)) return [verb, guard(point, value)]
      return [verb, (...input: ReadonlyArray<unknown>) => guard(point, (value as Verb)(...input))]
    }),
  ) as Port

const guardedTransactor = (
  transactor: Transactor["Service"],
  life: Life,
  weather: Weather,
): Transactor["Service"] => {
  const around = outside(life, weather)
  const commit = "Transactor.commit"
  return {
    inTransaction: transactor.inTransaction,
    atomically: (effect) =>
      Effect.flatMap(transactor.inTransaction, (isNested) =>
        isNested
          ? transactor.atomically(effect)
          : around("Transactor.atomically", transactor.atomically(Effect.tap(effect, life.passes(commit)))),
      ),
  }
}

/** The ports of a process. */
export const faulty = (ports: Ports, life: Life, weather: Weather): Ports => {
  const transactor = Context.get(ports, Transactor)
  const guard: Guard = (point, effect) =>
    Effect.flatMap(transactor.inTransaction, (isInside) =>
      (isInside ? inside : outside)(life, weather)(point, effect),
    )
  const add = <I extends Billing.Storage | Billing.InvoicingStorage, S extends object>(
    key: Context.Key<I, S>,
    name: string,
  ) => {
    const port = Context.getUnsafe(ports, key)
    return Context.make(key, guarded(name, port, guard))
  }
  const events = add(EventStore, "EventStore")
  return Context.mergeAll(
    add(ApiKeyStore, "ApiKeyStore"),
    Context.make(Collections, {
      of: (resource) =>
        guarded(`Collections(${resource.type})`, Context.get(ports, Collections).of(resource), guard),
    }),
    add(CreditNoteStore, "CreditNoteStore"),
    add(DeliveryStore, "DeliveryStore"),
    add(DueStore, "DueStore"),
    add(EndpointStore, "EndpointStore"),
    // Its signal doesn't use the storage.
    Context.add(events, EventStore, {
      ...Context.get(events, EventStore),
      committed: Context.get(ports, EventStore).committed,
    }),
    add(IdempotencyStore, "IdempotencyStore"),
    add(InvoiceStore, "InvoiceStore"),
    add(LiveSubscriptions, "LiveSubscriptions"),
    add(CreditStore, "CreditStore"),
    add(EntitlementStore, "EntitlementStore"),
    add(PaymentStore, "PaymentStore"),
    add(PlanStore, "PlanStore"),
    add(RetentionStore, "RetentionStore"),
    add(SpendMarks, "SpendMarks"),
    add(SubscriptionStore, "SubscriptionStore"),
    add(UsageStore, "UsageStore"),
    Context.make(Transactor, guardedTransactor(transactor, life, weather)),
  )
}
