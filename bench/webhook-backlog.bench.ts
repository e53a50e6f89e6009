/**
 * B7: the figures of B4 on a store with a million finished deliveries and 100,000 that are not due yet, against those
 * on an empty store.
 *
 * SQL writes the stored data, because that part is not measured.
 */
import { Id } from "@billwright/core"
import { compare } from "./Comparison.ts"
import { connected, fillTables, uuidOf } from "./Fill.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as Ours from "./webhooks/Ours.ts"
import { end, startReceiver } from "./webhooks/Processes.ts"
import { ENDPOINTS, FAN_OUT } from "./webhooks/Scenario.ts"
import { afterWarmUp, deliver } from "./webhooks/Side.ts"

const DONE = 1_000_000
const WAITING = 100_000
/** How many deliveries each of the stored events has. */
const DELIVERIES_OF_EVENT = 10
const EVENTS = 1_500

const event = uuidOf("0190", `n / ${DELIVERIES_OF_EVENT}`)

/** Of all endpoints, whose ids are $1. */
const FILL = [
  `insert into billwright.events (account_id, mode, id, type, occurred_at, payload)
select 'default', 'test', ${uuidOf("0190", "n")}, 'bench.type_' || n % 5, timestamptz '2026-06-01Z' + n * interval '1 second',
  '{"id":"evt_01","type":"bench","data":{"padding":"' || repeat('x', 300) || '"}}'
from generate_series(0, ${(DONE + WAITING) / DELIVERIES_OF_EVENT - 1}) n where $1::uuid[] is not null`,
  `insert into billwright.webhook_finished (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count,
  last_response_status, created_at, status, finished_at, attempt_started_at, attempt_duration_ms,
  attempt_request_headers, attempt_response_status, attempt_response_headers, attempt_response_body)
select 'default', 'test', ${uuidOf("0191", "n")}, ${event}, 'bench.type', ($1::uuid[])[1 + n % cardinality($1::uuid[])], 1, 200,
  at.created, 'Delivered', at.created, at.created, 5,
  '{"content-type":"application/json","webhook-id":"evt_01"}', 200, '{"content-length":"2"}', 'ok'
from generate_series(0, ${DONE - 1}) n, lateral (
  select timestamptz '2026-06-01Z' + n * interval '0.1 second' as created
) as at`,
  `insert into billwright.webhook_pending (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count,
  last_response_status, created_at, due_at)
select 'default', 'test', ${uuidOf("0192", "n")}, ${uuidOf("0190", `(n + ${DONE}) / ${DELIVERIES_OF_EVENT}`)}, 'bench.type',
  ($1::uuid[])[1 + n % cardinality($1::uuid[])], 3, 503, now(), now() + interval '1 day' + n * interval '1 second'
from generate_series(0, ${WAITING - 1}) n`,
]

const TABLES = ["events", "webhook_finished", "webhook_pending"].map((table) => `billwright.${table}`)

const fill = (url: string, endpoints: ReadonlyArray<string>): Promise<void> =>
  connected(url, (client) =>
    fillTables(client, TABLES, async () => {
      for (const statement of FILL) await client.query(statement, [endpoints])
    }),
  )

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const receiver = await startReceiver()
  const urlOf = (index: number) => `${receiver.url}/hooks/${index}`
  const { postmaster } = server
  try {
    const fullUrl = await server.createDatabase("bench_backlog_full")
    const full = await Ours.make(
      `${DONE.toLocaleString("en-US")} done and ${WAITING.toLocaleString("en-US")} waiting`,
      fullUrl,
      urlOf,
    )
    console.log("  writing what is stored")
    await fill(
      fullUrl,
      full.endpoints.map(({ id }) => Id.toUuid(id)),
    )
    const empty = await Ours.make("an empty store", await server.createDatabase("bench_backlog_empty"), urlOf)
    const [fullWorker, emptyWorker] = await Promise.all([full.startWorker(), empty.startWorker()])
    fullWorker.go()
    emptyWorker.go()
    const contender = (side: typeof full, worker: typeof fullWorker) => ({
      name: side.name,
      round: async (round: number) => {
        const { perSecond } = await deliver(side, [worker], { events: EVENTS, postmaster })
        await afterWarmUp(side, round)
        return perSecond
      },
    })
    await compare({
      name: "webhook-backlog",
      title: `B7: ${EVENTS} events a round to ${FAN_OUT} of ${ENDPOINTS} endpoints each, one worker process, Postgres ${server.version}`,
      unit: "deliveries/s",
      isRate: true,
      contenders: [contender(full, fullWorker), contender(empty, emptyWorker)],
    })
    await Promise.all([fullWorker.end(), emptyWorker.end()])
    await Promise.all([full.close(), empty.close()])
  } finally {
    await end(receiver.process)
    await server.stop()
  }
}
