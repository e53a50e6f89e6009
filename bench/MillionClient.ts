/**
 * A client of `exact-million.bench.ts`: records its share over HTTP, each record with an idempotency key, mostly in
 * batches, some one by one. It sends some requests twice, like a client that got no answer.
 *
 * Prints how many records it has sent, and at the end the sum for each customer, as JSON.
 */
import { setTimeout } from "node:timers/promises"

interface Share {
  readonly url: string
  readonly key: string
  readonly customers: ReadonlyArray<string>
  /** The number of this client, which is part of its idempotency keys. */
  readonly client: number
  readonly records: number
}

const { client, customers, key, records, url } = JSON.parse(process.env["SHARE"] ?? "{}") as Share

const BATCH = 500
/** The number of concurrent requests. */
const CALLERS = 2
/** One in this many batches is sent record by record. */
const SINGLES_EVERY = 50
/** One in this many requests is sent twice. */
const REPEAT_EVERY = 20
/** How many consecutive records belong to one customer. */
const RUN = 25
/** Primes, so that customers and quantities don't repeat in the same rhythm. */
const CUSTOMER_STEP = 7919
const QUANTITY_STEP = 104_729
const MAX_QUANTITY = 1_000_003
/** How often a request is repeated when the server answers that it is unavailable. */
const MAX_TRIES = 20

const sums = customers.map(() => 0n)

const recordAt = (index: number) => {
  const customer = (Math.floor(index / RUN) * CUSTOMER_STEP + client) % customers.length
  const quantity = (index * QUANTITY_STEP + client) % MAX_QUANTITY
  sums[customer]! += BigInt(quantity)
  return {
    customer_id: customers[customer],
    product_id: "api",
    quantity,
    unit: "call",
    idempotency_key: `${client}-${index}`,
  }
}

const post = async (path: string, body: object, attempt = 1): Promise<void> => {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.ok) return
  if (response.status !== 503 || attempt === MAX_TRIES) throw new Error(`${response.status}: ${text}`)
  await setTimeout(Number(response.headers.get("retry-after")) * 1000)
  return post(path, body, attempt + 1)
}

let requests = 0

const send = async (path: string, body: object): Promise<void> => {
  const isRepeated = ++requests % REPEAT_EVERY === 0
  // Both at once: the second arrives before, while or after the first is stored.
  await Promise.all(isRepeated ? [post(path, body), post(path, body)] : [post(path, body)])
}

let next = 0
let sent = 0

const call = async (): Promise<void> => {
  while (next < records) {
    const from = next
    next += BATCH
    const batch = Array.from({ length: Math.min(BATCH, records - from) }, (_, i) => recordAt(from + i))
    if ((from / BATCH) % SINGLES_EVERY === 0) for (const record of batch) await send("/v1/usage", record)
    else await send("/v1/usage/batch", { records: batch })
    sent += batch.length
    console.log(JSON.stringify({ sent }))
  }
}

await Promise.all(Array.from({ length: CALLERS }, call))
console.log(JSON.stringify({ sums: sums.map(String) }))
