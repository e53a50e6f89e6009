/**
 * What a change of plans means in money: the usage of three months of all customers, rated as it was and by the new plan.
 *
 * The bar is 60 seconds for 10,000 customers. `BENCH_SUBSCRIPTIONS` and `BENCH_RECORDS` (of each in a month) change the sizes.
 */
import * as BillRunWorld from "./BillRunWorld.ts"
import { compare } from "./Comparison.ts"
import { connected } from "./Fill.ts"
import * as PostgresServer from "./PostgresServer.ts"

const SUBSCRIPTIONS = Number(process.env["BENCH_SUBSCRIPTIONS"] ?? 10_000)
const RECORDS = Number(process.env["BENCH_RECORDS"] ?? 1_000)
const MONTHS = 3
const LAST = BillRunWorld.FIRST_MONTH + MONTHS

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const url = await server.createDatabase("catalog_costs")
    const world = await BillRunWorld.make(url, SUBSCRIPTIONS)
    try {
      for (let month = BillRunWorld.FIRST_MONTH + 1; month <= LAST; month++) {
        await connected(url, (client) => BillRunWorld.useMonth(client, month, RECORDS))
        await world.bill(month)
      }
      await compare({
        name: "catalog-costs",
        title: `A change of plans for ${SUBSCRIPTIONS} customers: ${MONTHS} months rated twice`,
        unit: "ms",
        isRate: false,
        contenders: [
          {
            name: "postgres",
            round: async () => {
              const started = performance.now()
              const periods = await world.compare(LAST, MONTHS)
              if (periods !== MONTHS * SUBSCRIPTIONS) throw new Error(`${periods} periods were rated`)
              return performance.now() - started
            },
          },
        ],
      })
    } finally {
      await world.close()
    }
  } finally {
    await server.stop()
  }
}
