/**
 * A process of `bill-run-ingest.bench.ts`. Records single records of usage at a steady rate into DATABASE_URL, from the
 * message "start" until "stop". Then it answers with how long each took, in milliseconds. Answers "ready" at the start.
 */
import { Usage } from "@billwright/core"
import { Effect } from "effect"
import * as Ours from "./Ours.ts"

const CUSTOMERS = 100
/** Milliseconds from one record to the next. */
const EVERY = 10

const ours = Ours.make(process.env["DATABASE_URL"] ?? "")
const customers = await ours.run(Ours.createCustomers(CUSTOMERS))

let serial = 0
let timer: NodeJS.Timeout | undefined
let pending: Array<Promise<number>> = []

const record = async (): Promise<number> => {
  const started = performance.now()
  const customerId = customers[serial % CUSTOMERS]!
  const idempotencyKey = `request-${serial++}`
  await ours.run(
    Effect.flatMap(Usage, (usage) =>
      usage.record({ customerId, productId: "ingest", unit: "call", quantity: 1, idempotencyKey }),
    ),
  )
  return performance.now() - started
}

process.on("message", (message: "start" | "stop") => {
  if (message === "start") {
    timer = setInterval(() => pending.push(record()), EVERY)
    return
  }
  clearInterval(timer)
  const all = pending
  pending = []
  void Promise.all(all).then((millis) => process.send?.(millis))
})
process.on("disconnect", () => process.exit())
process.send?.("ready")
