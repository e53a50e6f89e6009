import { createHash, randomBytes } from "node:crypto"
import type { AddressInfo } from "node:net"
/**
 * The hand-written comparison for `POST /v1/usage`: Fastify with a JSON Schema, and `pg` with a pool of 10. API keys
 * are found by their digest and cached for 5 seconds. The record and its roll-up are written in one statement, so in
 * one transaction and one round trip. With GATHER_MILLIS above 0, the requests of so many milliseconds share a statement.
 *
 * Run it with DATABASE_URL and API_KEY. It creates its tables, prints its port and customers as JSON, and serves until it is
 * killed.
 */
import Fastify from "fastify"
import { Pool } from "pg"
import { makeRecorder, TABLES } from "./HandUsage.ts"

const KEY_CACHE_MILLIS = 5000

const KEYS = "create table keys (digest bytea primary key, account_id text not null, mode text not null)"

const schema = {
  body: {
    type: "object",
    additionalProperties: false,
    required: ["customer_id", "product_id", "quantity", "unit"],
    properties: {
      customer_id: { type: "string", format: "uuid" },
      product_id: { type: "string", minLength: 1, maxLength: 255 },
      quantity: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      unit: { type: "string", minLength: 1, maxLength: 64 },
      timestamp: { type: "string", format: "date-time" },
      idempotency_key: { type: "string", minLength: 1, maxLength: 255 },
    },
  },
  response: {
    201: {
      type: "object",
      properties: {
        id: { type: "string" },
        customer_id: { type: "string" },
        product_id: { type: "string" },
        quantity: { type: "integer" },
        unit: { type: "string" },
        timestamp: { type: "string" },
        idempotency_key: { type: ["string", "null"] },
        created_at: { type: "string" },
      },
    },
  },
} as const

interface UsageBody {
  readonly customer_id: string
  readonly product_id: string
  readonly quantity: number
  readonly unit: string
  readonly timestamp?: string
  readonly idempotency_key?: string
}

interface Key {
  readonly account_id: string
  readonly mode: string
}

const uuidV7 = (): string => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = 0x70 | (bytes[6]! & 0x0f)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  const hex = bytes.toString("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest()

const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 10 })
const record = makeRecorder(pool, Number(process.env["GATHER_MILLIS"] ?? 0))
await pool.query(KEYS)
await pool.query(TABLES)
await pool.query("insert into keys values ($1, 'default', 'live')", [sha256(process.env["API_KEY"] ?? "")])
const customers = await pool.query<{ id: string }>(
  "insert into customers select gen_random_uuid(), 'default', 'live' from generate_series(1, $1) returning id",
  [Number(process.env["CUSTOMERS"])],
)

const cache = new Map<string, { readonly key: Key; readonly until: number }>()

const authenticate = async (header: string | undefined): Promise<Key | undefined> => {
  const digest = sha256(header?.slice("Bearer ".length) ?? "")
  const id = digest.toString("base64")
  const cached = cache.get(id)
  if (cached !== undefined && Date.now() < cached.until) return cached.key
  const { rows } = await pool.query<Key>("select account_id, mode from keys where digest = $1", [digest])
  const [key] = rows
  if (key !== undefined) cache.set(id, { key, until: Date.now() + KEY_CACHE_MILLIS })
  return key
}

const app = Fastify()

app.post<{ Body: UsageBody }>("/v1/usage", { schema }, async (request, reply) => {
  const key = await authenticate(request.headers.authorization)
  if (key === undefined)
    return reply.code(401).send({ error: "unauthorized", message: "a valid key is required" })
  const { customer_id, idempotency_key = null, product_id, quantity, timestamp, unit } = request.body
  const id = uuidV7()
  const now = new Date().toISOString()
  const at = timestamp ?? now
  await record([
    key.account_id,
    key.mode,
    customer_id,
    id,
    product_id,
    unit,
    quantity,
    at,
    idempotency_key,
    now,
  ])
  return reply
    .code(201)
    .send({ id, customer_id, product_id, quantity, unit, timestamp: at, idempotency_key, created_at: now })
})

await app.listen({ port: 0, host: "127.0.0.1" })
const { port } = app.server.address() as AddressInfo
console.log(JSON.stringify({ port, customers: customers.rows.map(({ id }) => id) }))
