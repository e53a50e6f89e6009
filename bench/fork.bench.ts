/**
 * A fork: a year ahead for a customer with a year behind, who has a monthly plan and uses it each day. The bar is 1 second.
 */
import { postgres } from "billwright/postgres"
import { createTestBilling, type TestBillingOptions } from "billwright/testing"
import { Pool } from "pg"
import { compare } from "./Comparison.ts"
import { pro } from "./MonthlyPlan.ts"
import * as PostgresServer from "./PostgresServer.ts"

const MONTHS = 12
const DAYS = 30

/** A customer with a year behind. */
const begin = async (options: TestBillingOptions) => {
  const billing = await createTestBilling({ ...options, now: "2026-01-15T12:00:00Z" })
  await billing.meters.create({ key: "calls", productId: "api", unit: "call" })
  await billing.plans.push(pro)
  const { id: customerId } = await billing.testing.customer()
  await billing.subscriptions.create({ customerId, plan: pro.key })
  for (let month = 0; month < MONTHS; month++) {
    await billing.testing.advance({ months: 1 })
    const now = billing.testing.now.getTime()
    await billing.usage.recordBatch(
      Array.from({ length: DAYS }, (_, day) => ({
        customerId,
        productId: "api",
        unit: "call",
        quantity: 10 * day + month,
        timestamp: new Date(now - day * 86_400_000),
      })),
    )
  }
  return { billing, customerId }
}

const contender = (name: string, { billing, customerId }: Awaited<ReturnType<typeof begin>>) => ({
  name,
  round: async () => {
    const started = performance.now()
    const invoices = await billing.fork(customerId, async (f) => {
      await f.advance({ months: MONTHS })
      return f.invoices.list()
    })
    if (invoices.length !== 2 * MONTHS + 1) throw new Error(`there are ${invoices.length} invoices`)
    return performance.now() - started
  },
})

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const pool = new Pool({ connectionString: await server.createDatabase("fork") })
  const worlds = [await begin({}), await begin({ store: postgres({ pool }) })] as const
  try {
    await compare({
      name: "fork",
      title: `A fork of a customer with ${MONTHS} months behind, ${MONTHS} months ahead`,
      unit: "ms",
      isRate: false,
      contenders: [contender("memory", worlds[0]), contender("postgres", worlds[1])],
    })
  } finally {
    for (const { billing } of worlds) await billing.close()
    await pool.end()
    await server.stop()
  }
}
