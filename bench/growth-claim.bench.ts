/**
 * How the cost of deliveries grows with the number of finished ones. Measures claiming 64 due deliveries and writing
 * their results, with 10 thousand and a million finished ones. `--millions=0.01,1,10` measures more.
 *
 * Each size has its own database, so that their rounds alternate. The finished deliveries succeeded at the first
 * attempt, with 10 deliveries for each event. The due ones are created for each round.
 */
import { type ClaimedDelivery, DeliveryStore } from "@billwright/core"
import { DateTime, Effect } from "effect"
import { compare } from "./Comparison.ts"
import { connected, fillTables, uuidOf } from "./Fill.ts"
import * as Ours from "./Ours.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { type Size, sizes } from "./Sizes.ts"
import { intervalOf, median } from "./Statistics.ts"

const DEFAULT_MILLIONS = [0.01, 1]
const ENDPOINTS = 20
const DELIVERIES_OF_EVENT = 10
const CLAIM = 64
const CLAIMS_OF_ROUND = 50
const LEASE = { seconds: 30 }

const TABLES = ["events", "webhook_finished"].map((table) => `billwright.${table}`)

const at = (number: string): string => `timestamptz '2026-01-01Z' + ${number} * interval '0.1 second'`
const endpoint = uuidOf("0193", `n % ${ENDPOINTS}`)

const ENDPOINTS_OF = `
insert into billwright.webhook_endpoints (account_id, mode, id, url, event_types, headers, metadata, signature, secrets,
  status, created_at, updated_at)
select 'default', 'live', ${uuidOf("0193", "n")}, 'https://example.com', '{*}', '{}', '{}', 'hmac', '[]', 'enabled', now(), now()
from generate_series(0, ${ENDPOINTS - 1}) n`

/** Inserts $1 deliveries. */
const FILL = [
  `insert into billwright.events (account_id, mode, id, type, occurred_at, payload)
select 'default', 'live', ${uuidOf("0190", "n")}, 'bench.type_' || n % 5, ${at(`n * ${DELIVERIES_OF_EVENT}`)},
  '{"id":"evt_01","type":"bench","data":{"padding":"' || repeat('x', 300) || '"}}'
from generate_series(0, $1::integer / ${DELIVERIES_OF_EVENT} - 1) n`,
  `insert into billwright.webhook_finished (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count,
  last_response_status, created_at, status, finished_at, attempt_started_at, attempt_duration_ms,
  attempt_request_headers, attempt_response_status, attempt_response_headers, attempt_response_body)
select 'default', 'live', ${uuidOf("0191", "n")}, ${uuidOf("0190", `n / ${DELIVERIES_OF_EVENT}`)}, 'bench.type', ${endpoint},
  1, 200, ${at("n")}, 'Delivered', ${at("n")}, ${at("n")}, 5,
  '{"content-type":"application/json","webhook-id":"evt_01"}', 200, '{"content-length":"2"}', 'ok'
from generate_series(0, $1::integer - 1) n`,
]

/** The deliveries that a round claims: numbered from $1 on. */
const DUE = `
insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select 'default', 'live', ${uuidOf("0192", "n")}, ${uuidOf("0190", "n % 1000")}, 'bench.type', ${endpoint}, 0, now(), now()
from generate_series($1::integer, $1::integer + ${CLAIM * CLAIMS_OF_ROUND} - 1) n`

const prepare = async (url: string, size: Size) => {
  const ours = Ours.make(url)
  await ours.run(Effect.void)
  await connected(url, async (client) => {
    console.log(`  writing ${size.name} deliveries`)
    await client.query(ENDPOINTS_OF)
    await fillTables(client, TABLES, async () => {
      for (const statement of FILL) await client.query(statement, [size.rows])
    })
  })
  return { url, size, ours, settles: [] as Array<number>, next: 0 }
}

type Prepared = Awaited<ReturnType<typeof prepare>>

const claim = Effect.gen(function* () {
  const now = yield* DateTime.now
  const store = yield* DeliveryStore
  const claimed = yield* store.claimDue({
    now,
    leaseUntil: DateTime.add(now, LEASE),
    limit: CLAIM,
    limitPerEndpoint: CLAIM,
    limits: new Map(),
    tenantLimits: [],
  })
  return claimed.deliveries
})

const settle = (deliveries: ReadonlyArray<ClaimedDelivery>) =>
  Effect.gen(function* () {
    const at = yield* DateTime.now
    const store = yield* DeliveryStore
    return yield* store.settle(
      deliveries.map(({ attemptCount, endpoint: { id: endpointId }, id, tenant, token }) => ({
        tenant,
        id,
        endpointId,
        token,
        at,
        state: { status: "Delivered", attemptCount: attemptCount + 1 },
        attempt: {
          number: attemptCount + 1,
          startedAt: at,
          durationMillis: 1,
          requestHeaders: {},
          responseStatus: 200,
          responseHeaders: {},
          responseBody: "ok",
          error: null,
        },
      })),
    )
  })

/** The median times of a claim and of writing its results, in milliseconds. */
const measure = async (side: Prepared) => {
  await connected(side.url, (client) => client.query(DUE, [side.next]))
  side.next += CLAIM * CLAIMS_OF_ROUND
  const times = { claims: [] as Array<number>, settles: [] as Array<number> }
  for (let count = 0; count < CLAIMS_OF_ROUND; count++) {
    const started = performance.now()
    const deliveries = await side.ours.run(claim)
    const claimed = performance.now()
    const written = await side.ours.run(settle(deliveries))
    times.claims.push(claimed - started)
    times.settles.push(performance.now() - claimed)
    if (written.length !== CLAIM || !written.every((isWritten) => isWritten))
      throw new Error("not all were done")
  }
  return { claim: median(times.claims), settle: median(times.settles) }
}

/** What writing the results took in the rounds of a side. */
const settlesOf = ({ settles: rounds, size }: Prepared) => {
  const name = `${size.name} done`
  console.log(`${name}: ${CLAIM} results written in ${median(rounds).toFixed(2)} ms`)
  return { name, ...intervalOf(rounds), rounds }
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const prepared: Array<Prepared> = []
    for (const size of sizes(DEFAULT_MILLIONS)) {
      prepared.push(await prepare(await server.createDatabase(`bench_growth_claim_${size.rows}`), size))
    }
    await compare({
      name: "growth-claim",
      title: `Claiming ${CLAIM} deliveries by how many are done, Postgres ${server.version}`,
      unit: "ms",
      isRate: false,
      contenders: prepared.map((side) => ({
        name: `${side.size.name} done`,
        round: async (round) => {
          const times = await measure(side)
          if (round >= 0) side.settles.push(times.settle)
          return times.claim
        },
      })),
      details: () => ({ settles: prepared.map(settlesOf) }),
    })
    for (const { ours } of prepared) await ours.close()
  } finally {
    await server.stop()
  }
}
