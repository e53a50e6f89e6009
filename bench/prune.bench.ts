/**
 * The cost of `billwright prune`: the rate at which it removes events with their deliveries and attempts, and the
 * rate of publishing at the same time, against publishing alone.
 *
 * Each round removes the oldest remaining events, with 4 deliveries each. There are nearly two million done
 * deliveries at the start. One caller publishes to one endpoint.
 */
import { Events, Retention } from "@billwright/core"
import { DateTime, Effect } from "effect"
import { compare } from "./Comparison.ts"
import { connected, fillTables, uuidOf } from "./Fill.ts"
import * as Ours from "./Ours.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { roundsOf } from "./Rounds.ts"
import { intervalOf } from "./Statistics.ts"

const DELIVERIES_OF_EVENT = 4
const EVENTS_OF_ROUND = 25_000
/** Those of the rounds and the warm-up, and two rounds more, so that the last round doesn't empty the table. */
const EVENTS = EVENTS_OF_ROUND * (roundsOf() + 3)
const ALONE_MILLIS = 3_000

const TABLES = ["events", "webhook_finished"].map((table) => `billwright.${table}`)

/** An event a second. */
const START = DateTime.makeUnsafe("2026-01-01T00:00:00Z")
const at = (number: string): string => `timestamptz '2026-01-01Z' + ${number} * interval '1 second'`

const FILL = [
  `insert into billwright.events (account_id, mode, id, type, occurred_at, payload)
select 'default', 'live', ${uuidOf("0190", "n")}, 'invoice.paid', ${at("n")},
  '{"id":"evt_01","type":"invoice.paid","data":{"padding":"' || repeat('x', 300) || '"}}'
from generate_series(0, ${EVENTS - 1}) n`,
  `insert into billwright.webhook_finished (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count,
  last_response_status, created_at, status, finished_at, attempt_started_at, attempt_duration_ms,
  attempt_request_headers, attempt_response_status, attempt_response_headers, attempt_response_body)
select 'default', 'live', ${uuidOf("0191", "n")}, ${uuidOf("0190", `n / ${DELIVERIES_OF_EVENT}`)}, 'invoice.paid',
  ${uuidOf("0193", "n % 20")}, 1, 200, ${at(`n / ${DELIVERIES_OF_EVENT}`)}, 'Delivered', ${at(`n / ${DELIVERIES_OF_EVENT}`)},
  ${at(`n / ${DELIVERIES_OF_EVENT}`)}, 5, '{"content-type":"application/json","webhook-id":"evt_01"}', 200,
  '{"content-length":"2"}', 'ok'
from generate_series(0, ${EVENTS * DELIVERIES_OF_EVENT - 1}) n`,
]

const publish = Effect.flatMap(Events, (events) =>
  events.publish({
    type: "invoice.paid",
    data: { invoice_id: "in_1", customer_id: "cus_1", amount: 4200, currency: "EUR" },
  }),
)

/** Publishes until something has ended. Returns the rate a second. */
const publishUntil = async (ours: Ours.Ours, end: Promise<unknown>): Promise<number> => {
  const state = { isOver: false }
  const over = end.then(() => {
    state.isOver = true
  })
  const started = performance.now()
  let published = 0
  while (!state.isOver) {
    await ours.run(publish)
    published++
  }
  const seconds = (performance.now() - started) / 1000
  await over
  return published / seconds
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const url = await server.createDatabase("bench_prune")
    const ours = Ours.make(url)
    await ours.run(Effect.void)
    console.log(`  writing ${(EVENTS * DELIVERIES_OF_EVENT).toLocaleString("en-US")} deliveries`)
    await connected(url, (client) =>
      fillTables(client, TABLES, async () => {
        for (const statement of FILL) await client.query(statement)
      }),
    )
    const rates: Array<number> = []
    let removed = 0
    /** Removes the next events. Returns the rate a second. */
    const prune = async (): Promise<number> => {
      removed += EVENTS_OF_ROUND
      const started = performance.now()
      const { events } = await ours.run(
        Effect.flatMap(Retention, (retention) =>
          retention.prune({ before: DateTime.add(START, { seconds: removed }) }),
        ),
      )
      if (events !== EVENTS_OF_ROUND) throw new Error(`${events} events were removed, not ${EVENTS_OF_ROUND}`)
      return events / ((performance.now() - started) / 1000)
    }
    await compare({
      name: "prune",
      title: `Publishing while old events are removed: ${EVENTS_OF_ROUND} a round with ${DELIVERIES_OF_EVENT} deliveries each, Postgres ${server.version}`,
      unit: "published events/s",
      isRate: true,
      contenders: [
        {
          name: "while pruning",
          round: async (round) => {
            const pruning = prune()
            const perSecond = await publishUntil(ours, pruning)
            if (round >= 0) rates.push(await pruning)
            return perSecond
          },
        },
        {
          name: "alone",
          round: () => publishUntil(ours, new Promise((done) => setTimeout(done, ALONE_MILLIS))),
        },
      ],
      details: () => {
        const pruned = { name: "removed events/s", ...intervalOf(rates), rounds: rates }
        console.log(
          `${Math.round(pruned.median)} events/s removed, with ${DELIVERIES_OF_EVENT} deliveries each`,
        )
        return { pruned }
      },
    })
    await ours.close()
  } finally {
    await server.stop()
  }
}
