/**
 * Batch ingest with meters: 1,000 records a call, from 2 concurrent callers, for 1,000 customers, as in B1.
 *
 * - Records with two dimensions of 10 values each, both declared by a meter, so each customer and day has 100 cells.
 * - Records without dimensions, in a tenant that has a meter of another product.
 * - The same records, in a tenant without a meter.
 *
 * `BENCH_BASELINE` names the folder of another checkout of this repository with its packages installed. Then its library
 * writes the last kind of records, too, on a database of its own: what meters cost those who don't use them.
 */
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { Usage, type UsageRecord, Meters } from "@billwright/core"
import { DateTime, Effect } from "effect"
import { compare, type Contender } from "./Comparison.ts"
import * as Ours from "./Ours.ts"
import * as PostgresServer from "./PostgresServer.ts"

const BATCH = 1000
const BATCHES_A_CALLER = 25
const CALLERS = 2
const CUSTOMERS = 1000
const VALUES = 10
const RECORDS = BATCH * BATCHES_A_CALLER * CALLERS

interface Kind {
  readonly name: string
  /** The product that a meter with two dimensions measures. */
  readonly metered: string | undefined
  readonly hasDimensions: boolean
}

const KINDS: ReadonlyArray<Kind> = [
  { name: "two declared dimensions", metered: "api", hasDimensions: true },
  { name: "no dimensions, a meter of another product", metered: "other", hasDimensions: false },
  { name: "no dimensions, no meter", metered: undefined, hasDimensions: false },
]

/** The records of a call: of most customers, in no order, with values of dimensions in no order. */
const recordsOf = (
  customers: ReadonlyArray<UsageRecord.RecordUsage["customerId"]>,
  key: string,
  batch: number,
  hasDimensions: boolean,
): ReadonlyArray<UsageRecord.RecordUsage> => {
  const timestamp = DateTime.makeUnsafe(Date.now())
  return Array.from({ length: BATCH }, (_, index) => {
    const customer = (index * 7919 + batch * 104_729) % CUSTOMERS
    // Each customer goes through all combinations, one a call, from a place of its own.
    const combination = (batch * 37 + customer) % (VALUES * VALUES)
    return {
      customerId: customers[customer]!,
      productId: "api",
      quantity: index,
      unit: "call",
      timestamp,
      idempotencyKey: `${key}-${batch}-${index}`,
      ...(hasDimensions
        ? {
            dimensions: {
              model: `model-${combination % VALUES}`,
              kind: `kind-${Math.floor(combination / VALUES)}`,
            },
          }
        : {}),
    }
  })
}

const makeMeter = (productId: string) =>
  Effect.gen(function* () {
    const meters = yield* Meters
    const { id } = yield* meters.create({
      key: "tokens",
      productId,
      unit: "call",
      dimensions: ["model", "kind"],
    })
    const meter = yield* meters.rebuild(id)
    if (meter.status !== "ready") throw new Error("the meter is not ready")
  })

/** A library on a database. */
const contenderOf = async (library: typeof Ours, url: string, kind: Kind) => {
  const ours = library.make(url)
  const customers = await ours.run(library.createCustomers(CUSTOMERS))
  if (kind.metered !== undefined) await ours.run(makeMeter(kind.metered))
  const caller = async (round: number, number: number): Promise<void> => {
    for (let batch = 0; batch < BATCHES_A_CALLER; batch++) {
      const records = recordsOf(
        customers,
        `${round}-${number}`,
        (round + 1) * BATCHES_A_CALLER * CALLERS + batch * CALLERS + number,
        kind.hasDimensions,
      )
      await ours.run(Effect.flatMap(Usage, (usage) => usage.recordBatch({ records })))
    }
  }
  const contender: Contender = {
    name: kind.name,
    round: async (round) => {
      const started = performance.now()
      await Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(round, number)))
      return RECORDS / ((performance.now() - started) / 1000)
    },
  }
  return { contender, close: ours.close }
}

/** The same module of another checkout: it uses the packages there. */
const baseline = async (): Promise<typeof Ours | undefined> => {
  const folder = process.env["BENCH_BASELINE"]
  if (folder === undefined) return undefined
  return (await import(pathToFileURL(join(folder, "bench/Ours.ts")).href)) as typeof Ours
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const sides: Array<Awaited<ReturnType<typeof contenderOf>>> = []
    for (const [index, kind] of KINDS.entries()) {
      sides.push(await contenderOf(Ours, await server.createDatabase(`bench_meters_${index}`), kind))
    }
    const old = await baseline()
    if (old !== undefined) {
      const kind = { ...KINDS[2]!, name: "no dimensions, BENCH_BASELINE" }
      sides.push(await contenderOf(old, await server.createDatabase("bench_meters_baseline"), kind))
    }
    await compare({
      name: "meters-ingest",
      title: `Batch ingest with meters: ${RECORDS} records a round, ${BATCH} a call, ${CALLERS} callers, ${CUSTOMERS} customers, Postgres ${server.version}`,
      unit: "records/s",
      isRate: true,
      contenders: sides.map(({ contender }) => contender),
    })
    for (const { close } of sides) await close()
  } finally {
    await server.stop()
  }
}
