/**
 * What is left of a customer in the whole database after the erasure: what the books need, and nothing else. Everything about
 * the customer is stored by the ways that there are, with marked words, and then every row of every table is searched for them.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import {
  createBilling,
  defineEvent,
  generateEncryptionKey,
  generateProofKey,
  publicProofKey,
} from "billwright"
import { postgres } from "billwright/postgres"
import { verifyProofs } from "billwright/proof"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeDatabase } from "./Database.ts"

/** Words that are in nothing but what is personal. */
const NAME = "Zquillfeather"
const EMAIL = "zq@quillfeather.example"
const PHONE = "+49-30-5550199"
const STREET = "Quillfeatherweg"
const TAX_ID = "ZQ99887766"
const NOTE = "quillnote"
const MARKERS = [NAME, EMAIL, PHONE, STREET, TAX_ID, NOTE]

/** Where the law wants it to stay: whom an issued invoice was addressed to, and what was signed of it. */
const KEPT = ["billing_invoices.taxed_by", "invoice_proofs.document"]

const signedUp = defineEvent({
  name: "customer.signed_up",
  description: "A customer signed up.",
  parse: (data) => data as object,
  example: { name: "Ada", channel: "web" },
  kept: ["channel"],
})

let database: Awaited<ReturnType<typeof makeDatabase>>
let pool: Pool
let billing: Awaited<ReturnType<typeof start>>
let proofKey: string

const start = () =>
  createBilling({
    store: postgres({ pool }),
    mode: "test",
    dispatcher: "manual",
    encryptionKeys: generateEncryptionKey("k1"),
    events: [signedUp],
    network: { allowLoopback: true },
    proofKey,
    log: false,
  })

beforeAll(async () => {
  database = await makeDatabase()
  pool = new Pool({ connectionString: database.url })
  proofKey = await generateProofKey()
  billing = await start()
})
afterAll(async () => {
  await billing.close()
  await pool.end()
  await database.drop()
})

/** The columns of all tables in which some row has a text, as `table.column`. */
const placesOf = async (text: string): Promise<ReadonlyArray<string>> => {
  const { rows: columns } = await pool.query<{ table: string; column: string }>(
    `select c.relname as table, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'billwright'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`,
  )
  const found: Array<string> = []
  for (const { column, table } of columns) {
    const { rows } = await pool.query(
      `select from billwright."${table}" t where position(lower($1) in lower(t."${column}"::text)) > 0 limit 1`,
      [text],
    )
    if (rows.length > 0) found.push(`${table}.${column}`)
  }
  return found.toSorted()
}

const placesOfAll = async () => {
  const all = await Promise.all(MARKERS.map(placesOf))
  return [...new Set(all.flat())].toSorted()
}

/** A receiver that answers with what it was sent. */
const echo = async () => {
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString()
      response.setHeader("x-echo", body.includes(PHONE) ? PHONE : "nothing")
      response.statusCode = 500
      response.end(body)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, "close")
    },
  }
}

/** A request to the REST API with an idempotency key, whose answer is stored. */
const post = async (secret: string, path: string, body: object) => {
  const response = await billing.fetch(
    new Request(`http://billing.test/v1${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        "idempotency-key": `once${path}`,
      },
      body: JSON.stringify(body),
    }),
  )
  return { status: response.status, body: (await response.json()) as { readonly id: string } }
}

/** More events than the transaction that erases a customer redacts. */
const MANY = 3_000

describe("the erasure of a customer with many events on Postgres", () => {
  it("goes on by runs of several processes, and the queue says what is left", async () => {
    const { id } = await billing.customers.create({ name: NAME, email: EMAIL })
    const { event } = await billing.events.publish({
      type: "customer.signed_up",
      customerId: id,
      data: { name: NAME, channel: "web" },
    })
    await pool.query(
      `insert into billwright.events (account_id, mode, id, type, occurred_at, customer_id, payload)
       select account_id, mode, gen_random_uuid(), type, occurred_at, customer_id, payload
       from billwright.events, generate_series(2, $1) where payload like $2`,
      [MANY, `%${event.id}%`],
    )
    const count = async (condition: string) => {
      const { rows } = await pool.query<{ count: string }>(
        `select count(*) as count from billwright.events where payload like $1 and ${condition}`,
        [`%${event.id}%`],
      )
      return Number(rows[0]!.count)
    }
    const left = async () =>
      (await pool.query("select from billwright.billing_due where kind = 'erasure'")).rowCount
    await billing.customers.erase(id)
    const atOnce = await count("redacted_at is not null")
    assert.isAbove(atOnce, 0)
    assert.isBelow(atOnce, MANY)
    assert.strictEqual(await left(), 1)
    await Promise.all([billing.runDue(), billing.runDue(), billing.runDue()])
    assert.strictEqual(await count("redacted_at is not null"), MANY)
    assert.strictEqual(await count(`payload like '%${NAME}%'`), 0)
    assert.strictEqual(await left(), 0)
  })
})

describe("the erasure of a customer on Postgres", () => {
  it("leaves its words in no row of any table, but on issued invoices", async () => {
    const receiver = await echo()
    const { secret } = await billing.keys.create({ name: "test", role: "admin" })
    await billing.endpoints.create({ url: receiver.url, eventTypes: ["*"] })
    await billing.plans.push({
      key: "pro",
      name: "Pro",
      currencies: ["EUR"],
      interval: { unit: "month", count: 1 },
      charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
    })

    // The customer, what it has, and the stored answers about it.
    const customer = await post(secret, "/customers", {
      name: NAME,
      email: EMAIL,
      country: "DE",
      currency: "EUR",
      tax_id: TAX_ID,
      address: { line1: `${STREET} 1`, city: "Berlin" },
      metadata: { note: NOTE },
    })
    assert.strictEqual(customer.status, 201, JSON.stringify(customer.body))
    const customerId = customer.body.id
    await billing.customers.update(customerId, { metadata: { phone: PHONE } })
    const subscribing = { customer_id: customerId, plan: "pro", metadata: { note: NOTE } }
    const subscription = await post(secret, "/subscriptions", subscribing)
    assert.strictEqual(subscription.status, 201, JSON.stringify(subscription.body))
    const charging = {
      customer_id: customerId,
      currency: "EUR",
      amount: 500,
      description: "Workshop",
      metadata: { note: NOTE },
    }
    const charged = await post(secret, "/invoice_items", charging)
    assert.strictEqual(charged.status, 201, JSON.stringify(charged.body))
    const told = {
      type: "customer.signed_up",
      customer_id: customerId,
      data: { name: NAME, channel: "web", contact: { email: EMAIL, phone: PHONE }, [EMAIL]: 1 },
      idempotency_key: EMAIL,
    }
    const published = await post(secret, "/events", told)
    assert.strictEqual(published.status, 201, JSON.stringify(published.body))
    const lines = [{ description: "Workshop", amount: 900 }]
    const draft = await billing.invoices.create({ customerId, lines })
    const issued = await billing.invoices.finalize(draft.id)
    await billing.runDue()
    await billing.deliverDue()
    await billing.subscriptions.cancel(subscription.body.id, { at: "now" })
    await billing.runDue()
    await billing.deliverDue()

    const before = await placesOfAll()
    assert.includeMembers(before, [
      ...KEPT,
      "billing_subscriptions.metadata",
      "customers.address",
      "customers.email",
      "customers.metadata",
      "customers.name",
      "customers.search_text",
      "customers.tax_id",
      "events.idempotency_key",
      "events.payload",
      "idempotency_keys.response_body",
      "invoice_items.metadata",
      "webhook_earlier_attempts.response_body",
      "webhook_earlier_attempts.response_headers",
    ])

    await billing.customers.erase(customerId)
    await billing.runDue()
    await billing.deliverDue()

    assert.deepStrictEqual(await placesOfAll(), KEPT)
    assert.deepStrictEqual(await placesOf(PHONE), [])
    assert.deepStrictEqual(await placesOf(NOTE), [])

    // The books are as before, and still proved.
    const kept = await billing.invoices.get(issued.id)
    assert.deepStrictEqual([kept.number, kept.total], [issued.number, issued.total])
    const keys = { keys: [publicProofKey(proofKey)] }
    assert.deepStrictEqual((await verifyProofs(billing.invoiceProofs.list(), { keys })).problems, [])

    // What was done is not done again by a repeat.
    const repeated = await post(secret, "/subscriptions", subscribing)
    assert.strictEqual(repeated.status, 409)
    assert.include(JSON.stringify(repeated.body), "its answer was removed because its customer was erased")
    await receiver.close()
  })
})
