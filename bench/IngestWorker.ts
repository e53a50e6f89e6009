/**
 * A process of `growth-processes.bench.ts`. Records batches from 2 callers into DATABASE_URL for the CUSTOMERS, as
 * many as each message says. Answers "ready" at the start, and "done" after each message.
 */
import { type Customer, Usage } from "@billwright/core"
import { Effect } from "effect"
import * as Ours from "./Ours.ts"

const BATCH = 1_000
const CALLERS = 2

const customers = (process.env["CUSTOMERS"] ?? "").split(
  ",",
) as ReadonlyArray<string> as ReadonlyArray<Customer.CustomerId>
const ours = Ours.make(process.env["DATABASE_URL"] ?? "")

let serial = 0

const record = () => {
  const from = serial
  serial += BATCH
  const records = Array.from({ length: BATCH }, (_, index) => ({
    customerId: customers[((from + index) * 7919) % customers.length]!,
    productId: "api",
    quantity: index,
    unit: "call",
    idempotencyKey: `${process.pid}-${from + index}`,
  }))
  return ours.run(Effect.flatMap(Usage, (usage) => usage.recordBatch({ records })))
}

const recordBatches = async (batches: number): Promise<void> => {
  let next = 0
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (next++ < batches) await record()
    }),
  )
}

process.on("message", (batches: number) => {
  void recordBatches(batches).then(() => process.send?.("done"))
})
process.on("disconnect", () => process.exit())
await ours.run(Effect.void)
process.send?.("ready")
