/**
 * What a storage holds of the current tenant, and the audit log of it: every object is what its records lead to.
 */
import {
  AuditedStores,
  type AuditedKind,
  AuditRecord,
  AuditReplay,
  AuditTrail,
  Collections,
  CreditNoteStore,
  fieldsOf,
  InvoiceStore,
  type Page,
  PaymentStore,
  PlanStore,
  type Resource,
  Resources,
  SubscriptionStore,
} from "@billwright/core"
import { Effect } from "effect"

/** Values of one page. */
const LIMIT = 100

/** An object as it is stored, and which of its fields count as changes. */
interface Found {
  readonly id: string
  readonly fields: ReadonlyArray<string>
  readonly value: object
}

type List<A, E, R> = (page: Page.PageQuery) => Effect.Effect<Page.Page<A>, E, R>

/** All pages of a list. */
const allOf = Effect.fnUntraced(function* <A extends { readonly id: string }, E, R>(list: List<A, E, R>) {
  const all: Array<A> = []
  for (;;) {
    const last = all.at(-1)
    const cursor = last === undefined ? undefined : ({ direction: "older", id: last.id } as const)
    const { data, hasMore } = yield* list({ limit: LIMIT, cursor })
    all.push(...data)
    if (!hasMore) return all
  }
})

const kindOf = <A extends { readonly id: string }, E, R>(kind: AuditedKind<A>, list: List<A, E, R>) =>
  Effect.map(allOf(list), (all): ReadonlyArray<Found> =>
    all.map((value) => ({ id: kind.idOf(value), fields: fieldsOf(kind, value), value: kind.view(value) })),
  )

const resourceOf = Effect.fnUntraced(function* (resource: Resource.Resource) {
  const collection = (yield* Collections).of(resource)
  const { fields } = AuditTrail.auditedOf(resource)
  const all = yield* allOf((page) => collection.list({}, page))
  return all.map((value): Found => ({ id: value.id, fields, value }))
})

const resources = Object.values(Resources.all).map(
  ({ definition }) => definition as object as Resource.Resource,
)

const stored = Effect.gen(function* () {
  const [plans, subscriptions, invoices] = [yield* PlanStore, yield* SubscriptionStore, yield* InvoiceStore]
  const [notes, payments] = [yield* CreditNoteStore, yield* PaymentStore]
  const noted = resources.filter(({ isAppendOnly, isLedger }) => isAppendOnly !== true && isLedger !== true)
  const all = yield* Effect.all([
    kindOf(AuditedStores.plan, plans.list),
    kindOf(AuditedStores.subscription, (page) => subscriptions.list({}, page)),
    kindOf(AuditedStores.invoice, (page) => invoices.list({}, page)),
    kindOf(AuditedStores.creditNote, (page) => notes.list({}, page)),
    kindOf(AuditedStores.payment, (page) => payments.list({}, page)),
    ...noted.map(resourceOf),
  ])
  return all.flat()
})

/** What of ledgers is noted: grants that somebody makes and voids, and later changes of entries. The rest is in the ledger. */
const LEDGERS = new Set([
  "credit_grant",
  ...resources
    .filter(({ isLedger }) => isLedger === true)
    .map((resource) => AuditTrail.auditedOf(resource).object),
])

const isOfLedger = ({ action }: AuditRecord.AuditRecord): boolean => LEDGERS.has(action.split(".")[0]!)

/** Everything that contradicts the audit log: a change without a record, and a record without its change. */
export const auditProblems = Effect.gen(function* () {
  const log = (yield* Collections).of(AuditRecord.auditRecords)
  const records = (yield* allOf((page) => log.list({}, page))).toReversed()
  const ofObject = Map.groupBy(
    records.filter((record) => !isOfLedger(record)),
    ({ objectId }) => objectId,
  )
  const found = new Map((yield* stored).map((one) => [one.id, one]))
  return [...new Set([...ofObject.keys(), ...found.keys()])].flatMap((id) => {
    const { fields = [], value } = found.get(id) ?? {}
    return AuditReplay.contradictions(ofObject.get(id) ?? [], fields, value).map(
      (problem) => `${id}: ${problem}`,
    )
  })
})
