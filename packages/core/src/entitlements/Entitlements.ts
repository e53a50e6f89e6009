/**
 * The use cases of entitlements: whether a customer may use a feature now, and taking it.
 */
import { limitOf } from "@billwright/engine"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { PlanStore } from "../catalog/PlanStore.ts"
import { type CustomerId, CustomerNotFound, customers } from "../customers/Customer.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { Outbox } from "../events/Outbox.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { Collections } from "../shared/Collections.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { traced } from "../shared/Operation.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { blockingIn } from "../subscriptions/SpendBlocks.ts"
import { SubscriptionStore } from "../subscriptions/SubscriptionStore.ts"
import { VersionTerms } from "../subscriptions/VersionTerms.ts"
import { meters } from "../usage/Meter.ts"
import * as MeterQueries from "../usage/MeterQueries.ts"
import { Usage } from "../usage/Usage.ts"
import { UsageKeyConflict } from "../usage/UsageRecord.ts"
import { UsageStore } from "../usage/UsageStore.ts"
import {
  CheckEntitlement,
  ConsumeEntitlement,
  type Entitlement,
  type EntitlementConsumption,
  ListEntitlements,
  type StoredEntitlementConsumption,
} from "./Entitlement.ts"
import {
  answerOf,
  answerOfConsumed,
  consumedOf,
  isSameConsumption,
  limitReachedData,
  type Taking,
} from "./EntitlementAnswer.ts"
import { entitlementEvents } from "./EntitlementEvents.ts"
import { EntitlementStore } from "./EntitlementStore.ts"
import { FeatureSources, type Source } from "./FeatureSources.ts"
import { makeGroupedChecks } from "./GroupedChecks.ts"
import { RecentAnswers } from "./RecentAnswers.ts"

const decodeCheck = decoder(CheckEntitlement)
const decodeConsume = decoder(ConsumeEntitlement)
const decodeList = decoder(ListEntitlements)

type Reason = StoredEntitlementConsumption["reason"]
type Failure = InvalidInput | CustomerNotFound | InvoicingUnsupported | StorageError

/** Checks, lists and takes what the customers of the current tenant may use. */
export class Entitlements extends Context.Service<
  Entitlements,
  {
    /**
     * Whether a customer may use a feature now. It promises nothing: others may use it up before you do.
     *
     * With `maxStalenessMillis`, it may give the answer of an earlier check of this process that began to read so long ago at
     * most. `consume` of this process makes it forget the customer. Within a transaction it always reads. Of the customers
     * that were asked for last, `MAX_RECENT_CUSTOMERS` are remembered.
     *
     * `InvalidInput` on `feature` says that its meter can't be read: it was archived, or there is none.
     */
    readonly check: (input: CheckEntitlement) => Effect.Effect<Entitlement, Failure, CurrentTenant>

    /** All features of the plans of a customer, as `check` gives them, in the order of their keys. */
    readonly list: (
      input: ListEntitlements,
    ) => Effect.Effect<ReadonlyArray<Entitlement>, Failure, CurrentTenant>

    /**
     * Checks a metered feature, and records its usage if it is allowed: in one transaction. Of any number of callers at
     * once, those are allowed for whom a hard limit has room. One that is not allowed records nothing, and is no error.
     *
     * With an `idempotencyKey`, the same again records nothing and gives the first answer, for ever. Other content fails
     * with `UsageKeyConflict`. A refusal is not kept: after it, the key is free.
     */
    readonly consume: (
      input: ConsumeEntitlement,
    ) => Effect.Effect<EntitlementConsumption, Failure | UsageKeyConflict, CurrentTenant>
  }
>()("@billwright/core/entitlements/Entitlements") {
  static readonly layer = Layer.effect(
    Entitlements,
    Effect.suspend(() => make),
  )
}

/** What is asked for, with its defaults. */
type Asked = ConsumeEntitlement & { readonly quantity: number }

const make = Effect.gen(function* () {
  const port = yield* optionalPort(EntitlementStore)
  const subscriptionPort = yield* optionalPort(SubscriptionStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const collections = yield* Collections
  const owners = collections.of(customers)
  const transactor = yield* Transactor
  const outbox = yield* Outbox
  const usage = yield* Usage
  const time = new CustomerTime(collections)
  const recent = new RecentAnswers()
  const grouped = yield* makeGroupedChecks
  const blocking = blockingIn(collections)
  const terms = new VersionTerms(yield* PlanStore)
  const queries = MeterQueries.make(yield* UsageStore, collections.of(meters))

  /** What the subscriptions of a customer give. If there are none, the customer is looked at: a wrong id is an error. */
  const given = Effect.fnUntraced(function* (id: CustomerId) {
    const sources = new FeatureSources(yield* subscriptionPort, yield* invoicePort, terms, queries)
    const all = yield* sources.entitling(id)
    if (all.length > 0 || (yield* owners.status(id)) === "active") return { sources, all }
    return yield* new CustomerNotFound({ id, field: "customerId" })
  })

  /** Refuses what costs money, because it is beyond a soft limit, while a spend alert blocks it. */
  const withinSpend = Effect.fnUntraced(function* (id: CustomerId, answers: ReadonlyArray<Entitlement>) {
    if (answers.every(({ reason }) => reason !== "overage")) return answers
    const alerts = yield* blocking(id)
    return answers.map((answer): Entitlement => {
      const isBlocked = alerts.some(
        ({ subscriptionId }) => subscriptionId === null || subscriptionId === answer.subscriptionId,
      )
      return answer.reason === "overage" && isBlocked
        ? { ...answer, allowed: false, reason: "spend_limit" }
        : answer
    })
  })

  const ask = Effect.fnUntraced(function* ({ customerId, feature }: CheckEntitlement, quantity: number) {
    const { all, sources } = yield* given(customerId)
    const found = yield* sources.of(customerId, all, feature)
    const answered = answerOf({ customerId, feature }, all, found, quantity)
    const [answer = answered.answer] = yield* withinSpend(customerId, [answered.answer])
    return { ...answered, answer }
  })

  const check = traced(
    "Entitlements.check",
    Effect.fnUntraced(function* (input: CheckEntitlement) {
      const decoded = yield* decodeCheck(input)
      const exact = grouped(
        Effect.map(
          time.within(decoded.customerId, ask(decoded, decoded.quantity ?? 1)),
          ({ answer }) => answer,
        ),
      )
      const mayBeOld = (decoded.maxStalenessMillis ?? 0) > 0 && !(yield* transactor.inTransaction)
      return yield* mayBeOld ? recently(decoded, exact) : exact
    }),
  )

  /** The answer of an earlier check if it is young enough, or else a new one, which is kept. */
  const recently = <E, R>(asked: CheckEntitlement, exact: Effect.Effect<Entitlement, E, R>) =>
    Effect.gen(function* () {
      const tenant = yield* CurrentTenant
      const now = yield* Clock.monotonicTimeNanos
      const known = recent.find(tenant, asked, now)
      if (known !== undefined) return known
      const keep = recent.reading(tenant, asked, now)
      const answer = yield* exact
      keep(answer)
      return answer
    })

  const list = Effect.fn("Entitlements.list")(function* (input: ListEntitlements) {
    const { customerId } = yield* decodeList(input)
    const all = Effect.gen(function* () {
      const { all: entitling, sources } = yield* given(customerId)
      const features = yield* sources.ofAll(customerId, entitling)
      return yield* withinSpend(
        customerId,
        features.map(
          ({ feature, sources: found }) => answerOf({ customerId, feature }, entitling, found, 1).answer,
        ),
      )
    })
    return yield* time.within(customerId, all)
  })

  /** The answer of the consumption that has the key. */
  const earlier = Effect.fnUntraced(function* (asked: Asked) {
    const { customerId, idempotencyKey } = asked
    if (idempotencyKey === undefined) return undefined
    const stored = Option.getOrUndefined(yield* (yield* port).byKey(customerId, idempotencyKey))
    if (stored === undefined) return undefined
    if (isSameConsumption(stored, asked)) return answerOfConsumed(stored, stored.idempotencyKey)
    return yield* new UsageKeyConflict({ field: "idempotencyKey", recordId: stored.usageRecordId })
  })

  /** Tells that a limit was reached, once for each period and limit. */
  const tell = Effect.fnUntraced(function* (asked: Asked, taking: Taking) {
    const { source } = taking
    const limit = limitOf(source.feature, source.rolledOver)
    if (limit === null) return
    const { customerId, feature } = asked
    const { subscriptionId, time: span } = source
    const reachedAt = yield* Clock.currentTimeMillis
    const reached = { customerId, feature, subscriptionId, periodStart: span.start, limit, reachedAt }
    if (!(yield* (yield* port).reach(reached))) return
    const type = entitlementEvents["entitlement.limit_reached"]
    yield* outbox.publish(type, limitReachedData(asked, taking, limit), { customerId })
  })

  /** Records what the customer may use. */
  const use = Effect.fnUntraced(function* (asked: Asked, { metered, source }: Taking, reason: Reason) {
    const { customerId, dimensions, idempotencyKey, quantity } = asked
    const { productId, unit } = metered.rollup
    const optional = { ...(dimensions && { dimensions }), ...(idempotencyKey && { idempotencyKey }) }
    const recorded = yield* usage.record({ customerId, productId, unit, quantity, ...optional })
    // A record that was there before counts already.
    const added = recorded._tag === "Recorded" ? BigInt(quantity) : 0n
    const after: Taking = { metered, source: { ...source, used: source.used + added } }
    const createdAt = yield* Clock.currentTimeMillis
    const consumed = consumedOf(asked, after, recorded.record.id, reason, createdAt)
    if (idempotencyKey !== undefined) yield* (yield* port).insert({ ...consumed, idempotencyKey })
    const answer = answerOfConsumed(consumed, idempotencyKey ?? null)
    if (answer.balance === 0n) yield* tell(asked, after)
    return answer
  })

  const take = Effect.fnUntraced(function* (asked: Asked) {
    const known = yield* earlier(asked)
    if (known !== undefined) return known
    yield* (yield* port).lock(asked.customerId)
    // Whoever held the customer before may have used the key.
    const made = yield* earlier(asked)
    if (made !== undefined) return made
    const { quantity } = asked
    const { answer: found, source } = yield* ask(asked, quantity)
    const { rolledOver: _, ...answer } = found
    const idempotencyKey = asked.idempotencyKey ?? null
    const refused: EntitlementConsumption = { ...answer, quantity, usageRecordId: null, idempotencyKey }
    if (source === undefined) return refused
    const taking = yield* takingOf(source, asked)
    if (answer.reason === "included" || answer.reason === "overage") {
      return yield* use(asked, taking, answer.reason)
    }
    yield* tell(asked, taking)
    return refused
  })

  const consume = traced(
    "Entitlements.consume",
    Effect.fnUntraced(function* (input: ConsumeEntitlement) {
      const decoded = yield* decodeConsume(input)
      const asked = { ...decoded, quantity: decoded.quantity ?? 1 }
      const taken = transactor.atomically(time.within(asked.customerId, take(asked)))
      const tenant = yield* CurrentTenant
      // Also when it fails: its outcome may be unknown.
      return yield* Effect.ensuring(
        taken,
        Effect.sync(() => recent.forget(tenant, asked.customerId)),
      )
    }),
  )

  return Entitlements.of({ check, list, consume })
})

const refuse = (field: string, problem: string) => Effect.fail(new InvalidInput({ field, problem }))

/** Refuses a feature of which nothing can be taken by recording usage. */
const takingOf = (source: Source, { feature, quantity }: Asked): Effect.Effect<Taking, InvalidInput> => {
  const { metered } = source
  const named = JSON.stringify(feature)
  if (metered === null) {
    return refuse("feature", `${named} is not metered: only what is metered can be consumed`)
  }
  const { aggregation, meterKey } = metered.rollup
  if (aggregation === "count") {
    const isOne = quantity === 1
    return isOne
      ? Effect.succeed({ metered, source })
      : refuse("quantity", `must be 1: the meter ${meterKey} of ${named} counts records`)
  }
  if (aggregation === "sum") return Effect.succeed({ metered, source })
  const problem = `${named} can't be consumed: its meter ${meterKey} has the aggregation ${aggregation}, and only those with sum and count can be`
  return refuse("feature", problem)
}
