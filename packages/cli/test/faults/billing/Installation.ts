/**
 * The services of billing on one storage, with a clock that a test sets. Time passes for waits as always.
 */
import {
  Billing,
  BillingRuns,
  Coupons,
  CreditNotes,
  CurrentTenant,
  Customers,
  type Event,
  Events,
  type Invoice,
  InvoiceItems,
  InvoiceStore,
  type Page,
  type PaymentProvider,
  PlanMigrations,
  Plans,
  PlanStore,
  Redemptions,
  type Subscription,
  SubscriptionStore,
  Tenant,
  TestClocks,
  Usage,
} from "@billwright/core"
import { issuedText } from "@billwright/engine"
import { PostgresClient, Storage } from "@billwright/postgres"
import type { Books } from "@billwright/simulation"
import { Clock, type Context, Effect, Layer, ManagedRuntime, Option, Redacted } from "effect"

const NANOS_PER_MILLI = 1_000_000n
const PAGE = 100
/** More periods than a test has. */
const MANY = 1_000_000

type Ports = Billing.Storage | Billing.InvoicingStorage
type Services = Billing.Services | Ports

const live: Tenant.Tenant = { accountId: Tenant.defaultAccountId, mode: "live" }

/** All pages of a list, oldest first. */
const pagesOf = Effect.fnUntraced(function* <A extends { readonly id: string }, E, R>(
  list: (cursor: {
    readonly startingAfter?: string
  }) => Effect.Effect<{ readonly data: ReadonlyArray<A>; readonly hasMore: boolean }, E, R>,
) {
  const all: Array<A> = []
  for (;;) {
    const last = all.at(-1)
    const { data, hasMore } = yield* list(last === undefined ? {} : { startingAfter: last.id })
    all.push(...data)
    if (!hasMore || data.length === 0) return all.toReversed()
  }
})

/** A storage as a test changes it. */
export type Change = (ports: Context.Context<Ports>) => Context.Context<Ports>

export const onPostgres = (url: string): Layer.Layer<Ports, unknown> =>
  Storage.layer().pipe(
    Layer.provide(
      PostgresClient.layer({
        url: Redacted.make(url),
        poolSize: 4,
        isPooled: process.env["DATABASE_POOLED"] === "true",
      }),
    ),
  )

export interface InstallationOptions {
  readonly change?: Change | undefined
  /** Default: live. */
  readonly mode?: Tenant.Mode | undefined
  /** Who takes the money of invoices. Default: nobody. */
  readonly payments?: PaymentProvider | undefined
}

export class Installation {
  readonly #runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
  readonly #seen = new Map<string, string>()
  readonly #tenant: Tenant.Tenant
  now: number

  constructor(
    storage: Layer.Layer<Ports, unknown>,
    now: number,
    { change = (same) => same, mode = "live", payments }: InstallationOptions = {},
  ) {
    this.now = now
    this.#tenant = { ...live, mode }
    const changed = Layer.effectContext(Effect.map(Effect.context<Ports>(), change)).pipe(
      Layer.provide(storage),
    )
    const services =
      payments === undefined ? Billing.layer : Billing.layerWith({ encryption: "none", payments })
    this.#runtime = ManagedRuntime.make(services.pipe(Layer.provideMerge(changed)))
  }

  close(): Promise<void> {
    return this.#runtime.dispose()
  }

  run<A, E>(effect: Effect.Effect<A, E, Services | CurrentTenant>): Promise<A> {
    return this.#runtime.runPromise(
      Effect.flatMap(Clock.Clock, (base) =>
        effect.pipe(
          Effect.provideService(CurrentTenant, this.#tenant),
          Effect.provideService(Clock.Clock, {
            ...base,
            currentTimeMillisUnsafe: () => this.now,
            currentTimeMillis: Effect.sync(() => this.now),
            currentTimeNanosUnsafe: () => BigInt(this.now) * NANOS_PER_MILLI,
            currentTimeNanos: Effect.sync(() => BigInt(this.now) * NANOS_PER_MILLI),
            monotonicTimeNanosUnsafe: () => base.monotonicTimeNanosUnsafe(),
            monotonicTimeNanos: base.monotonicTimeNanos,
            sleep: (duration) => base.sleep(duration),
          }),
        ),
      ),
    )
  }

  /** Does what is due now, for at most this many subjects. */
  runDue(limit?: number) {
    const input = limit === undefined ? {} : { limit }
    return this.run(Effect.flatMap(BillingRuns, (runs) => runs.runDue(input)))
  }

  /** Moves the clock to an instant, and does what is due on the way when it is due. */
  async advanceTo(target: number): Promise<void> {
    for (;;) {
      const next = await this.run(Effect.flatMap(BillingRuns, (runs) => runs.nextDueAt))
      if (Option.isNone(next) || next.value.epochMilliseconds > target) break
      this.now = Math.max(this.now, next.value.epochMilliseconds)
      await this.runDue()
    }
    this.now = target
    await this.look()
  }

  /** Notes what issued invoices state. */
  async look(): Promise<void> {
    for (const { id, state } of await this.invoices()) {
      if (state.status !== "draft" && !this.#seen.has(id)) this.#seen.set(id, issuedText(state))
    }
  }

  /** All invoices, in the order of their ids. */
  invoices(): Promise<ReadonlyArray<Invoice.StoredInvoice>> {
    return this.run(
      Effect.flatMap(InvoiceStore, (store) =>
        pagesOf(({ startingAfter }) => store.list({}, pageFrom(startingAfter))),
      ),
    )
  }

  /** Everything that is stored about billing. */
  async books(): Promise<Books> {
    const invoices = await this.invoices()
    const tenant = this.#tenant
    const owned = <A>(all: ReadonlyArray<A>) => all.map((value) => ({ ...value, tenant }))
    const stored = await this.run(everything)
    const due = [...stored.subscriptions.map(({ subscription }) => subscription), ...invoices]
    return {
      customers: owned(stored.customers),
      records: owned(stored.records.map((record) => ({ record }))),
      planVersions: owned(stored.planVersions.map((version) => ({ version }))),
      meters: [{ key: "calls", productId: "api", unit: "call" }],
      subscriptions: owned(stored.subscriptions),
      invoices: owned(invoices.map((invoice) => ({ invoice }))),
      clocks: owned(stored.clocks.map((clock) => ({ clock }))),
      creditNotes: owned(stored.creditNotes.map((note) => ({ note }))),
      coupons: owned(stored.coupons.map((coupon) => ({ coupon }))),
      redemptions: owned(stored.redemptions.map((redemption) => ({ redemption }))),
      items: owned(stored.items.map((item) => ({ item }))),
      migrations: owned(stored.migrations.map((migration) => ({ migration }))),
      events: owned(bySequence(stored.events).map((event) => ({ event }))),
      seen: Array.from(this.#seen, ([id, text]) => ({ id, text, tenant })),
      overdue: due.flatMap(({ dueAt, id }) => (dueAt !== null && dueAt <= this.now ? [id] : [])),
      numberFormat: "{year}-{number:4}",
      creditNoteFormat: "CN-{year}-{number:4}",
      isTaxed: false,
    }
  }
}

interface Sequenced {
  readonly data: Readonly<Record<string, { readonly sequence?: number } | undefined>>
}

const sequenceOf = ({ payload }: Event.Event): number => {
  const { data } = JSON.parse(payload) as Sequenced
  return data["subscription"]?.sequence ?? data["invoice"]?.sequence ?? 0
}

/** Lists are in the order of ids, which is not that of commits when processes have different clocks. */
const bySequence = (events: ReadonlyArray<Event.Event>): ReadonlyArray<Event.Event> =>
  events.toSorted((a, b) => sequenceOf(a) - sequenceOf(b))

const pageFrom = (id: string | undefined): Page.PageQuery => ({
  limit: PAGE,
  cursor: id === undefined ? undefined : { id, direction: "older" },
})

const periodsOf = Effect.fnUntraced(function* (subscription: Subscription.StoredSubscription) {
  const store = yield* SubscriptionStore
  return { subscription, periods: yield* store.periodsBefore(subscription.id, MANY, MANY) }
})

const everything = Effect.gen(function* () {
  const subscriptions = yield* SubscriptionStore
  const usage = yield* Usage
  const plans = yield* Plans
  const versions = yield* PlanStore
  const customers = yield* pagesOf((yield* Customers).list)
  const records = yield* Effect.forEach(customers, ({ id }) =>
    pagesOf((cursor) => usage.listRecords({ customerId: id, ...cursor })),
  )
  const found = yield* pagesOf(({ startingAfter }) => subscriptions.list({}, pageFrom(startingAfter)))
  const newest = yield* pagesOf(plans.list)
  const planVersions = yield* Effect.forEach(
    newest.flatMap(({ key, version }) => Array.from({ length: version }, (_, n) => ({ key, number: n + 1 }))),
    ({ key, number }) => versions.findVersion(key, number),
  )
  return {
    customers,
    records: records.flat(),
    subscriptions: yield* Effect.forEach(found, periodsOf),
    planVersions: planVersions.flatMap((one) => (Option.isSome(one) ? [one.value] : [])),
    events: yield* pagesOf((yield* Events).list),
    clocks: yield* pagesOf((yield* TestClocks).list),
    creditNotes: yield* pagesOf((yield* CreditNotes).list),
    coupons: yield* pagesOf((yield* Coupons).list),
    redemptions: yield* pagesOf((yield* Redemptions).list),
    items: yield* pagesOf((yield* InvoiceItems).list),
    migrations: yield* pagesOf((yield* PlanMigrations).list),
  }
})
