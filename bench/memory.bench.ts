/**
 * B9: the memory adapter, against sums in a hand-written `Map`.
 *
 * All sides get the same records, 1,000 a call, each with an idempotency key. After the last round there are a
 * million and some more. The adapter returns each record, recognizes its key, keeps it for lists and voids, and can undo all of it.
 * The first map has only the sums of each customer, product, unit and UTC day. The second side also keeps the records
 * and their keys.
 */
import {
  Billing,
  CurrentTenant,
  type Customer,
  Customers,
  Dimensions,
  IdGenerator,
  Tenant,
  Usage,
  type UsageRecord,
  UsageStore,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { Clock, DateTime, Effect, Layer, ManagedRuntime } from "effect"
import { compare } from "./Comparison.ts"
import { intervalOf, median, percentile } from "./Statistics.ts"

const CUSTOMERS = 1_000
const BATCH = 1_000
/** A million records in 15 rounds and the warm-up. */
const RECORDS_OF_ROUND = 64_000
const DAY_MILLIS = 86_400_000
const MONTH_START = Date.UTC(2026, 9, 1)
const MONTH_DAYS = 31
/** Summaries in groups, each of which has a median. */
const GROUPS = 15
const SUMMARIES = 400 * GROUPS

type NewUsageRecord = UsageRecord.NewUsageRecord

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" } as const

const sumKeyOf = (customerId: string, productId: string, unit: string, millis: number): string =>
  `${customerId}|${productId}|${unit}|${Math.floor(millis / DAY_MILLIS)}`

class Sums {
  readonly #sums = new Map<string, number>()

  add({ customerId, productId, quantity, timestamp, unit }: NewUsageRecord): void {
    const key = sumKeyOf(customerId, productId, unit, timestamp.epochMilliseconds)
    this.#sums.set(key, (this.#sums.get(key) ?? 0) + quantity)
  }

  /** The sum of a month, day by day. */
  ofMonth(customerId: string, productId: string, unit: string): number {
    let sum = 0
    for (let day = 0; day < MONTH_DAYS; day++) {
      sum += this.#sums.get(sumKeyOf(customerId, productId, unit, MONTH_START + day * DAY_MILLIS)) ?? 0
    }
    return sum
  }
}

/** The sums, and the records and keys for lists and repeats. */
class Records {
  readonly #sums = new Sums()
  readonly #records = new Map<string, Array<NewUsageRecord>>()
  readonly #keys = new Map<string, NewUsageRecord>()

  add(record: NewUsageRecord): boolean {
    const key = `${record.customerId}|${record.idempotencyKey}`
    if (this.#keys.has(key)) return false
    this.#keys.set(key, record)
    const records = this.#records.get(record.customerId)
    if (records === undefined) this.#records.set(record.customerId, [record])
    else records.push(record)
    this.#sums.add(record)
    return true
  }
}

const runtime = () => ManagedRuntime.make(Billing.layer.pipe(Layer.provideMerge(Memory.layer)))
type Services = Billing.Services | Billing.Storage | CurrentTenant

const makeCustomers = Effect.flatMap(Customers, (customers) =>
  Effect.forEach(
    Array.from({ length: CUSTOMERS }, (_, index) => index),
    (index) => customers.create({ name: `Customer ${index}`, email: `c${index}@example.com` }),
  ),
).pipe(Effect.map((made) => made.map(({ id }) => id)))

/** The batches of a round. Customers come in no order, days in the order of time. */
const batchesOf = (round: number, customers: ReadonlyArray<Customer.CustomerId>) =>
  Effect.gen(function* () {
    const ids = yield* IdGenerator
    const now = yield* Clock.currentTimeMillis
    const createdAt = DateTime.makeUnsafe(MONTH_START + MONTH_DAYS * DAY_MILLIS)
    const recordOf = (index: number): NewUsageRecord => ({
      id: ids.at("usg", now) as UsageRecord.UsageRecordId,
      customerId: customers[(index * 7919) % CUSTOMERS]!,
      productId: "api",
      quantity: index % 1_000,
      unit: "call",
      dimensions: Dimensions.NONE,
      timestamp: DateTime.makeUnsafe(
        MONTH_START + Math.floor((index / RECORDS_OF_ROUND) * MONTH_DAYS * DAY_MILLIS),
      ),
      idempotencyKey: `request-${round}-${index}`,
      voidedAt: null,
      createdAt,
      hasOwnTimestamp: true,
    })
    return Array.from({ length: RECORDS_OF_ROUND / BATCH }, (_, batch) =>
      Array.from({ length: BATCH }, (_, index) => recordOf(batch * BATCH + index)),
    )
  })

const timed = async (work: () => Promise<void> | void): Promise<number> => {
  const started = performance.now()
  await work()
  return RECORDS_OF_ROUND / ((performance.now() - started) / 1000)
}

const micros = (times: ReadonlyArray<number>) => {
  const size = times.length / GROUPS
  const groups = Array.from({ length: GROUPS }, (_, group) => times.slice(group * size, (group + 1) * size))
  return {
    p50Micros: intervalOf(groups.map((group) => median(group) * 1000)),
    p99Micros: percentile(times, 0.99) * 1000,
  }
}

/** The time of single summaries of a month, customer after customer, in milliseconds. */
const summaryTimes = (customers: ReadonlyArray<Customer.CustomerId>) =>
  Effect.gen(function* () {
    const usage = yield* Usage
    const times: Array<number> = []
    for (let index = -SUMMARIES / 10; index < SUMMARIES; index++) {
      const customerId = customers.at(index % CUSTOMERS)!
      const started = performance.now()
      yield* usage.summary({
        customerId,
        productId: "api",
        unit: "call",
        startDate: "2026-10-01",
        endDate: "2026-10-31",
      })
      if (index >= 0) times.push(performance.now() - started)
    }
    return times
  })

const mapTimes = (sums: Sums, customers: ReadonlyArray<Customer.CustomerId>): ReadonlyArray<number> =>
  Array.from({ length: SUMMARIES }, (_, index) => {
    const started = performance.now()
    sums.ofMonth(customers[index % CUSTOMERS]!, "api", "call")
    return performance.now() - started
  })

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const services = runtime()
  const provided = <A, E>(effect: Effect.Effect<A, E, Services>) =>
    services.runPromise(Effect.provideService(effect, CurrentTenant, tenant))
  const customers = await provided(makeCustomers)
  const sums = new Sums()
  const records = new Records()
  let current: { readonly round: number; readonly batches: ReadonlyArray<ReadonlyArray<NewUsageRecord>> }
  const batches = async (round: number) => {
    if (current?.round !== round) current = { round, batches: await provided(batchesOf(round, customers)) }
    return current.batches
  }
  await compare({
    name: "memory",
    title: `B9: ${RECORDS_OF_ROUND.toLocaleString("en-US")} records a round, ${BATCH} a call, ${CUSTOMERS} customers`,
    unit: "records/s",
    isRate: true,
    contenders: [
      {
        name: "memory adapter",
        round: async (round) => {
          const given = await batches(round)
          return timed(() =>
            provided(
              Effect.flatMap(UsageStore, (store) =>
                Effect.forEach(given, (batch) => store.append(batch), { discard: true }),
              ),
            ),
          )
        },
      },
      {
        name: "a Map of sums",
        round: async (round) => {
          const given = await batches(round)
          return timed(() => given.forEach((batch) => batch.forEach((record) => sums.add(record))))
        },
      },
      {
        name: "Maps of sums, records and keys",
        round: async (round) => {
          const given = await batches(round)
          return timed(() => given.forEach((batch) => batch.forEach((record) => records.add(record))))
        },
      },
    ],
    details: async () => {
      const { recordCount, totalQuantity } = await provided(
        Effect.flatMap(Usage, (usage) => usage.summary({ customerId: customers[0]! })),
      )
      if (totalQuantity !== BigInt(sums.ofMonth(customers[0]!, "api", "call")))
        throw new Error("the sums differ")
      console.log(`  ${recordCount} records of the first customer add up on all sides`)
      const summaries = [
        { name: "Usage.summary", ...micros(await provided(summaryTimes(customers))) },
        { name: "a Map of sums", ...micros(mapTimes(sums, customers)) },
      ]
      for (const { name, p50Micros, p99Micros } of summaries) {
        console.log(`${name}: a month in ${p50Micros.median.toFixed(1)} µs, p99 ${p99Micros.toFixed(1)} µs`)
      }
      return { summaries }
    },
  })
  await services.dispose()
}
