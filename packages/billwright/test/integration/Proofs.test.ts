/** Proofs of invoices on Postgres: many that are issued together, and by two processes at once. */
import { type Billing, createBilling, generateProofKey, publicProofKey } from "billwright"
import { postgres } from "billwright/postgres"
import { verifyProofs } from "billwright/proof"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { rejection } from "../Rejection.ts"
import { makeDatabase } from "./Database.ts"

const CUSTOMERS = 12

let database: Awaited<ReturnType<typeof makeDatabase>>
let pool: Pool
let proofKey: string
let processes: ReadonlyArray<Billing>

const started = () =>
  createBilling({ store: postgres({ pool }), mode: "test", dispatcher: "manual", proofKey, log: false })

beforeAll(async () => {
  database = await makeDatabase()
  pool = new Pool({ connectionString: database.url })
  proofKey = await generateProofKey()
  processes = [await started(), await started()]
})
afterAll(async () => {
  await Promise.all(processes.map((each) => each.close()))
  await pool.end()
  await database.drop()
})

describe("proofs on Postgres", () => {
  it("form one series, whoever issues how many invoices at once", async () => {
    const [one, other] = processes as [Billing, Billing]
    await one.plans.push({
      key: "pro",
      name: "Pro",
      currencies: ["EUR"],
      interval: { unit: "month", count: 1 },
      charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
    })
    const drafts: Array<string> = []
    for (let index = 0; index < CUSTOMERS; index++) {
      const { id: customerId } = await one.customers.create({
        name: "Ada",
        email: "ada@example.com",
        currency: "EUR",
      })
      await one.subscriptions.create({ customerId, plan: "pro", startAt: new Date(Date.now() - 1_000) })
      const lines = [{ description: "Workshop", amount: 90_000 }]
      drafts.push((await one.invoices.create({ customerId, lines })).id)
    }

    const issue = (by: Billing, ids: ReadonlyArray<string>) => ids.map((id) => by.invoices.finalize(id))
    await Promise.all([
      one.runDue(),
      other.runDue(),
      ...issue(one, drafts.slice(0, CUSTOMERS / 2)),
      ...issue(other, drafts.slice(CUSTOMERS / 2)),
    ])
    const keys = { keys: [publicProofKey(proofKey)] }
    const verified = await verifyProofs(one.invoiceProofs.list(), { keys })
    assert.deepStrictEqual(verified.problems, [])
    assert.deepInclude(verified, { proofs: 2 * CUSTOMERS, first: 1, linesRated: CUSTOMERS })
  })

  it("can't be changed, also by the owner of the table", async () => {
    const change = `update billwright.invoice_proofs set signature = repeat('A', 86) || '=='`
    assert.match((await rejection(pool.query(change))).message, /what is signed of a proof does not change/)
    // Without the trigger it can, and then it is seen.
    await pool.query("alter table billwright.invoice_proofs disable trigger user")
    await pool.query(`update billwright.invoice_proofs set document =
      to_jsonb(replace(document #>> '{}', '"total":"90000"', '"total":"80000"'))`)
    await pool.query("alter table billwright.invoice_proofs enable trigger user")
    const keys = { keys: [publicProofKey(proofKey)] }
    const { isValid } = await verifyProofs(processes[0]!.invoiceProofs.list(), { keys })
    assert.isFalse(isValid)
  })
})
