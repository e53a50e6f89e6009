/**
 * A good hand-written way to send webhooks with a job queue. It has tables of events, endpoints, deliveries and
 * attempts. A publication stores an event, its deliveries and their jobs in one transaction. Requests are signed as
 * in Standard Webhooks and sent over kept-alive connections of undici, and their results are written.
 *
 * All baselines use it. It leaves out what Billwright does in addition: idempotency keys, a stream of events, limits
 * for each endpoint, leases with tokens, tenants, and a guard against private networks. Endpoints are cached for 5
 * seconds.
 */
import { createHmac, randomBytes } from "node:crypto"
import type { Client, Pool } from "pg"
import { Agent, request } from "undici"
import { dataOf, ENDPOINTS, type Publish, typeOf } from "../webhooks/Scenario.ts"

const ENDPOINT_CACHE_MILLIS = 5_000
const TIMEOUT_MILLIS = 15_000
const MAX_BODY = 4_096

export const TABLES = `
create table endpoints (
  id uuid primary key, url text not null, secret text not null, event_types text[] not null,
  status text not null default 'enabled'
);
create table events (
  id uuid primary key, type text not null, occurred_at timestamptz(3) not null, payload text not null
);
create index on events (occurred_at);
create table deliveries (
  id uuid primary key, event_id uuid not null, event_type text not null, endpoint_id uuid not null,
  status text not null, attempt_count integer not null, last_response_status smallint, last_error text,
  created_at timestamptz(3) not null, finished_at timestamptz(3)
) with (fillfactor = 70);
create index on deliveries (event_id);
create index on deliveries (endpoint_id, id);
create table attempts (
  delivery_id uuid not null, number integer not null, started_at timestamptz(3) not null, duration_ms integer,
  request_headers json not null, response_status smallint, response_headers json, response_body text, error text,
  primary key (delivery_id, number)
);
`

/** Stores an event and its deliveries. The caller appends the statement that turns \`queued\` into jobs. */
export const PUBLISH = `
with event as (
  insert into events (id, type, occurred_at, payload) values ($1, $2, $3, $4)
), queued as (
  insert into deliveries (id, event_id, event_type, endpoint_id, status, attempt_count, created_at)
  select uuidv7(), $1, $2, e.id, 'pending', 0, $3 from endpoints e
  where e.status = 'enabled' and $2 = any (e.event_types)
  returning id, endpoint_id
)`

const WRITE = `
with result as (
  select * from unnest($1::uuid[], $2::integer[], $3::timestamptz[], $4::integer[], $5::json[], $6::smallint[],
    $7::json[], $8::text[], $9::text[])
    as r (id, number, started_at, duration_ms, request_headers, response_status, response_headers, response_body, error)
), marked as (
  update deliveries d set attempt_count = r.number, last_response_status = r.response_status, last_error = r.error,
    status = case when r.response_status between 200 and 299 then 'delivered' else 'pending' end,
    finished_at = case when r.response_status between 200 and 299 then now() end
  from result r where d.id = r.id
)
insert into attempts select * from result on conflict do nothing`

export interface Job {
  readonly deliveryId: string
  readonly endpointId: string
  readonly eventId: string
  readonly body: string
}

export interface Outcome {
  readonly deliveryId: string
  readonly number: number
  readonly startedAt: Date
  readonly durationMillis: number
  readonly requestHeaders: Record<string, string>
  readonly status: number | null
  readonly responseHeaders: Record<string, string | Array<string> | undefined> | null
  readonly responseBody: string | null
  readonly error: string | null
}

export const isDelivered = ({ status }: Outcome): boolean => status !== null && status >= 200 && status < 300

const uuidV7 = (): string => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = 0x70 | (bytes[6]! & 0x0f)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  const hex = bytes.toString("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The parameters of \`PUBLISH\`. */
export const eventOf = (index: number) => {
  const id = uuidV7()
  const at = new Date().toISOString()
  const type = typeOf(index)
  const payload = JSON.stringify({ id, type, timestamp: at, livemode: false, data: dataOf(index) })
  return { id, type, at, payload }
}

/** Publishes an event by one statement that begins with `PUBLISH`. */
export const publishing =
  (pool: Pool, text: string): Publish =>
  async (index) => {
    const { at, id, payload, type } = eventOf(index)
    await pool.query({ name: "publish", text, values: [id, type, at, payload] })
    return id
  }

export const prepare = async (pool: Pool, urlOf: (index: number) => string): Promise<void> => {
  await pool.query(TABLES)
  for (let index = 0; index < ENDPOINTS; index++) {
    await pool.query("insert into endpoints values (gen_random_uuid(), $1, $2, $3)", [
      urlOf(index),
      randomBytes(32).toString("base64"),
      [typeOf(index)],
    ])
  }
}

interface Endpoint {
  readonly url: string
  readonly key: Buffer
}

/** Sends one delivery. Never fails: an error is part of the outcome. */
export const makeSender = (pool: Pool, connections: number) => {
  const dispatcher = new Agent({
    connections,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    headersTimeout: TIMEOUT_MILLIS,
    bodyTimeout: TIMEOUT_MILLIS,
  })
  let cache:
    | { readonly until: number; readonly endpoints: Promise<ReadonlyMap<string, Endpoint>> }
    | undefined

  const load = async (): Promise<ReadonlyMap<string, Endpoint>> => {
    const { rows } = await pool.query<{ id: string; url: string; secret: string }>(
      "select id, url, secret from endpoints where status = 'enabled'",
    )
    return new Map(rows.map(({ id, secret, url }) => [id, { url, key: Buffer.from(secret, "base64") }]))
  }

  const endpointOf = async (id: string): Promise<Endpoint> => {
    if (cache === undefined || Date.now() >= cache.until) {
      cache = { until: Date.now() + ENDPOINT_CACHE_MILLIS, endpoints: load() }
    }
    const endpoint = (await cache.endpoints).get(id)
    if (endpoint === undefined) throw new Error(`there is no endpoint ${id}`)
    return endpoint
  }

  return async ({ body, deliveryId, endpointId, eventId }: Job, number: number): Promise<Outcome> => {
    const { key, url } = await endpointOf(endpointId)
    const startedAt = new Date()
    const timestamp = String(Math.floor(startedAt.getTime() / 1000))
    const signature = createHmac("sha256", key).update(`${eventId}.${timestamp}.${body}`).digest("base64")
    const headers = {
      "content-type": "application/json",
      "user-agent": "Webhooks/1",
      "webhook-id": eventId,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    }
    const base = { deliveryId, number, startedAt, requestHeaders: { ...headers, "webhook-signature": "***" } }
    const duration = () => Date.now() - startedAt.getTime()
    try {
      const answer = await request(url, { method: "POST", headers, body, dispatcher })
      const text = await answer.body.text()
      return {
        ...base,
        durationMillis: duration(),
        status: answer.statusCode,
        responseHeaders: answer.headers,
        responseBody: text.slice(0, MAX_BODY),
        error: null,
      }
    } catch (error) {
      const unanswered = { status: null, responseHeaders: null, responseBody: null }
      return { ...base, ...unanswered, durationMillis: duration(), error: (error as Error).name }
    }
  }
}

/** Writes the attempts of deliveries and updates the deliveries, in one statement. */
export const write = async (connection: Client | Pool, outcomes: ReadonlyArray<Outcome>): Promise<void> => {
  await connection.query({
    name: "write",
    text: WRITE,
    values: [
      outcomes.map((outcome) => outcome.deliveryId),
      outcomes.map((outcome) => outcome.number),
      outcomes.map((outcome) => outcome.startedAt),
      outcomes.map((outcome) => outcome.durationMillis),
      outcomes.map((outcome) => JSON.stringify(outcome.requestHeaders)),
      outcomes.map((outcome) => outcome.status),
      outcomes.map((outcome) =>
        outcome.responseHeaders === null ? null : JSON.stringify(outcome.responseHeaders),
      ),
      outcomes.map((outcome) => outcome.responseBody),
      outcomes.map((outcome) => outcome.error),
    ],
  })
}

interface Waiting {
  readonly outcome: Outcome
  readonly done: () => void
  readonly fail: (error: unknown) => void
}

/**
 * Writes outcomes in groups: those that come during a statement go into the next one. With `lingerMillis` each statement
 * also waits for others for so long. The promise resolves when the outcome is written.
 */
export const makeGroupWriter = (pool: Pool, lingerMillis = 0) => {
  let waiting: Array<Waiting> = []
  let isWriting = false

  const writeWaiting = async (): Promise<void> => {
    isWriting = true
    while (waiting.length > 0) {
      if (lingerMillis > 0) await new Promise((done) => setTimeout(done, lingerMillis))
      const group = waiting
      waiting = []
      try {
        await write(
          pool,
          group.map(({ outcome }) => outcome),
        )
        for (const { done } of group) done()
      } catch (error) {
        for (const { fail } of group) fail(error)
      }
    }
    isWriting = false
  }

  return (outcome: Outcome): Promise<void> =>
    new Promise((done, fail) => {
      waiting.push({ outcome, done, fail })
      if (!isWriting) void writeWaiting()
    })
}
