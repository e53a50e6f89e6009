/**
 * Reads the books from a memory storage.
 */
import {
  type Billing,
  type Collection,
  Collections,
  Coupon,
  CurrentTenant,
  InvoiceItem,
  PlanMigration,
  Redemption,
  SubscriptionStore,
  type Tenant,
  TestClock,
} from "@billwright/core"
import { documentText, issuedText } from "@billwright/engine"
import { MemoryInspector, type MemorySnapshot } from "@billwright/memory"
import { Context, Effect, Struct } from "effect"
import type { Books } from "./Books.ts"
import { CALLS, STORAGE } from "./Plans.ts"

type Memory = Context.Context<Billing.Storage | Billing.InvoicingStorage | MemoryInspector>

/** More than a run makes of anything. */
const MANY = 1_000

interface Run {
  readonly tenants: ReadonlyArray<Tenant.Tenant>
  readonly now: number
  readonly seen: Books["seen"]
  /** By the ids of records: when they were written, by the test clocks of their customers. */
  readonly writtenAt: ReadonlyMap<string, number>
}

/** What issued invoices and credit notes state. */
export const statedIn = ({
  creditNotes,
  invoices,
}: Pick<Books, "creditNotes" | "invoices">): Books["seen"] => [
  ...invoices
    .filter(({ invoice }) => invoice.state.status !== "draft")
    .map(({ invoice, tenant }) => ({ tenant, id: invoice.id, text: issuedText(invoice.state) })),
  ...creditNotes.map(({ note, tenant }) => ({
    tenant,
    id: note.id,
    text: documentText(Struct.omit(note, ["createdAt"])),
  })),
]

/** What was due by the time of its customer, and was not done. */
const overdueIn = (
  { invoices, subscriptions }: MemorySnapshot,
  customers: Books["customers"],
  clocks: Books["clocks"],
  now: number,
): ReadonlyArray<string> => {
  const times = new Map(clocks.map(({ clock }) => [clock.id as string, clock.now.epochMilliseconds]))
  const clockOf = new Map(customers.map(({ id, testClockId }) => [id, testClockId]))
  const late = [
    ...subscriptions.map(({ subscription }) => subscription),
    ...invoices.map(({ invoice }) => invoice),
  ]
    .filter(({ customerId, dueAt }) => {
      const time = times.get(clockOf.get(customerId) ?? "") ?? now
      return dueAt !== null && dueAt <= time
    })
    .map(({ failure, id }) => `${id} ${failure?.problem ?? ""}`)
  return [
    ...late,
    ...clocks.filter(({ clock }) => clock.status !== "ready").map(({ clock }) => `${clock.id} ${clock.name}`),
  ]
}

/** Everything that is left in a memory storage. */
export const readBooks = (memory: Memory, { now, seen, tenants, writtenAt }: Run): Effect.Effect<Books> =>
  Effect.gen(function* () {
    const snapshot = yield* Context.get(memory, MemoryInspector).snapshot
    const store = Context.get(memory, SubscriptionStore)
    const collections = Context.get(memory, Collections)
    const subscriptions = yield* Effect.forEach(snapshot.subscriptions, ({ subscription, tenant }) =>
      Effect.map(
        store
          .periodsBefore(subscription.id, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
          .pipe(Effect.provideService(CurrentTenant, tenant)),
        (periods) => ({ tenant, subscription, periods }),
      ),
    )
    const all = <A, Id>(collection: Collection<A, Id>) =>
      Effect.forEach(tenants, (tenant) =>
        collection.list({}, { limit: MANY, cursor: undefined }).pipe(
          Effect.map(({ data }) => data.map((value) => ({ tenant, value }))),
          Effect.provideService(CurrentTenant, tenant),
        ),
      ).pipe(Effect.map((pages) => pages.flat()))
    const clocks = (yield* all(collections.of(TestClock.testClocks))).map(({ tenant, value }) => ({
      tenant,
      clock: value,
    }))
    const customers = snapshot.customers.map(({ customer, id, tenant }) => ({
      tenant,
      id,
      testClockId: customer?.testClockId ?? null,
      isErased: customer === null,
    }))
    return {
      ...snapshot,
      customers,
      clocks,
      records: snapshot.records.map((one) => ({ ...one, writtenAt: writtenAt.get(one.record.id) })),
      subscriptions,
      coupons: (yield* all(collections.of(Coupon.coupons))).map(({ tenant, value }) => ({
        tenant,
        coupon: value,
      })),
      redemptions: (yield* all(collections.of(Redemption.redemptions))).map(({ tenant, value }) => ({
        tenant,
        redemption: value,
      })),
      items: (yield* all(collections.of(InvoiceItem.invoiceItems))).map(({ tenant, value }) => ({
        tenant,
        item: value,
      })),
      migrations: (yield* all(collections.of(PlanMigration.planMigrations))).map(({ tenant, value }) => ({
        tenant,
        migration: value,
      })),
      meters: [CALLS, STORAGE],
      seen,
      overdue: overdueIn(snapshot, customers, clocks, now),
      numberFormat: "{year}-{number:4}",
      creditNoteFormat: "CN-{year}-{number:4}",
      isTaxed: true,
    } satisfies Books
  }).pipe(Effect.orDie)
