/**
 * What the contracts of credits share: accounts, and what is seen of them.
 */
import {
  AuditTrail,
  type Credit,
  CreditAlerts,
  CreditAudit,
  Credits,
  type CurrentTenant,
  EventStore,
  Holds,
  Outbox,
} from "@billwright/core"
import { DateTime, Effect, Layer } from "effect"
import { same } from "./ContractTest.ts"
import { insertCustomer } from "./InvoicingProbe.ts"
import { firstPage } from "./WebhookProbe.ts"

/** The services over the ports. */
export const services = Layer.mergeAll(
  CreditAlerts.layer,
  CreditAudit.layer,
  Credits.layer,
  Holds.layer,
).pipe(Layer.provide(Outbox.layer), Layer.provide(AuditTrail.layer))

export const CALLERS = 64
export const HUGE = 2n ** 80n

/** The account of a new customer. */
export const newAccount = Effect.map(insertCustomer, ({ id }) => ({ customerId: id, unit: "token" }))

/** What comes of granting credits. */
type Granting = ReturnType<Credits["Service"]["grant"]>

export const granted = (
  account: Credit.AccountKey,
  amount: bigint,
  change: Partial<Credit.GrantCredits> = {},
): Effect.Effect<Effect.Success<Granting>, Effect.Error<Granting>, Credits | CurrentTenant> =>
  Effect.flatMap(Credits, (credits) => credits.grant({ ...account, kind: "paid", amount, ...change }))

export const balanceOf = Effect.fnUntraced(function* (account: Credit.AccountKey) {
  const { available, debt, held } = yield* (yield* Credits).balance(account)
  return { available, held, debt }
}, Effect.orDie)

export const inSeconds = (seconds: number) => Effect.map(DateTime.now, DateTime.add({ seconds }))

/** What the entries and the grants of an account sum up to. */
export const auditOf = Effect.fnUntraced(function* ({ customerId, unit }: Credit.AccountKey) {
  const [credits, all] = [yield* Credits, Array<Credit.CreditEntry>()]
  let hasMore = true
  while (hasMore) {
    const last = all.at(-1)
    const cursor = last === undefined ? {} : { startingAfter: last.id }
    const page = yield* credits.listEntries({ customerId, unit, limit: 100, ...cursor })
    all.push(...page.data)
    hasMore = page.hasMore
  }
  const sum = (
    name: "available" | "held" | "debt" | "scoped",
    values: ReadonlyArray<{ readonly [N in typeof name]?: bigint }>,
  ) => values.reduce((total, value) => total + (value[name] ?? 0n), 0n)
  const grants = (yield* credits.listGrants({ customerId, unit, limit: 100 })).data
  same(sum("available", grants), sum("available", all) + sum("scoped", all))
  same(sum("held", grants), sum("held", all))
  same(
    all.map(({ sequence }) => sequence).sort((a, b) => a - b),
    all.map((_, index) => index + 1),
  )
  return { available: sum("available", all), held: sum("held", all), debt: sum("debt", all) }
}, Effect.orDie)

export const eventsOf = (account: Credit.AccountKey) =>
  Effect.gen(function* () {
    const filter = {
      type: undefined,
      customerId: account.customerId,
      createdAfter: undefined,
      createdBefore: undefined,
      deliveryStatus: undefined,
    }
    const page = yield* (yield* EventStore).list(filter, { ...firstPage, limit: 100 })
    return page.data.map(({ type }) => type).reverse()
  }).pipe(Effect.orDie)

/** Makes an alert of each level. */
export const watched = Effect.fnUntraced(function* (
  account: Credit.AccountKey,
  ...levels: ReadonlyArray<bigint>
) {
  const alerts = yield* CreditAlerts
  for (const level of levels) yield* alerts.create({ ...account, level })
}, Effect.orDie)

/** The `credit.low` events of an account, oldest first. */
export const lowOf = (account: Credit.AccountKey) =>
  Effect.gen(function* () {
    const filter = {
      type: "credit.low",
      customerId: account.customerId,
      createdAfter: undefined,
      createdBefore: undefined,
      deliveryStatus: undefined,
    }
    const page = yield* (yield* EventStore).list(filter, { ...firstPage, limit: 100 })
    return page.data
      .flatMap(({ payload }) => {
        const { data } = JSON.parse(payload) as { readonly data: Readonly<Record<string, unknown>> }
        const { available, level, unit } = data
        return unit === account.unit ? [{ level, available }] : []
      })
      .reverse()
  }).pipe(Effect.orDie)
