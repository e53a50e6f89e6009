/**
 * How the cost of listing events grows: the first and the hundredth page, of all events and of one type, with a
 * million and with 10 million stored events. `--millions=…` measures other sizes.
 *
 * Each size has its own database, so that their rounds alternate. A page has 20 events, and its cursor is the last
 * event of the page before.
 */
import { Events, EventTypes } from "@billwright/core"
import { Effect } from "effect"
import { compare } from "./Comparison.ts"
import { connected, fillTables, uuidOf } from "./Fill.ts"
import * as Ours from "./Ours.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { type Size, sizes } from "./Sizes.ts"
import { median } from "./Statistics.ts"

const DEFAULT_MILLIONS = [1, 10]
const PAGE = 20
const FAR_PAGE = 100
const SAMPLES = 100

/** Inserts $2 events of the types $1. */
const FILL = `
insert into billwright.events (account_id, mode, id, type, occurred_at, payload)
select 'default', 'live', ${uuidOf("0190", "n")}, ($1::text[])[1 + n % cardinality($1::text[])],
  timestamptz '2026-01-01Z' + n * interval '0.1 second',
  '{"id":"evt_01","type":"bench","data":{"padding":"' || repeat('x', 100) || '"}}'
from generate_series(0, $2::integer - 1) n`

const listPage = (cursor: string | undefined, type: string | undefined) =>
  Effect.flatMap(Events, (events) =>
    events.list({
      limit: PAGE,
      ...(cursor === undefined ? {} : { startingAfter: cursor }),
      ...(type === undefined ? {} : { type }),
    }),
  )

/** The cursor of the hundredth page. */
const walk = (type: string | undefined) =>
  Effect.gen(function* () {
    let cursor: string | undefined
    for (let page = 1; page < FAR_PAGE; page++) cursor = (yield* listPage(cursor, type)).data.at(-1)!.id
    return cursor
  })

const prepare = async (url: string, size: Size) => {
  const ours = Ours.make(url)
  const types = await ours.run(Effect.map(EventTypes, ({ all }) => all.map(({ name }) => name)))
  console.log(`  writing ${size.name} events`)
  await connected(url, (client) =>
    fillTables(client, ["billwright.events"], async () => {
      await client.query(FILL, [types, size.rows])
    }),
  )
  const type = types[0]!
  return {
    ours,
    size,
    type,
    far: { all: await ours.run(walk(undefined)), ofType: await ours.run(walk(type)) },
  }
}

/** The median time of a page in milliseconds. */
const measure = async (
  ours: Ours.Ours,
  cursor: string | undefined,
  type: string | undefined,
): Promise<number> => {
  const times: Array<number> = []
  for (let sample = 0; sample < SAMPLES; sample++) {
    const started = performance.now()
    const { data } = await ours.run(listPage(cursor, type))
    times.push(performance.now() - started)
    if (data.length !== PAGE) throw new Error("a page is not full")
  }
  return median(times)
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const prepared: Array<Awaited<ReturnType<typeof prepare>>> = []
    for (const size of sizes(DEFAULT_MILLIONS)) {
      prepared.push(await prepare(await server.createDatabase(`bench_growth_events_${size.rows}`), size))
    }
    const pages = prepared.map(({ far, ours, size, type }) => ({
      first: { name: `${size.name}, first page`, round: () => measure(ours, undefined, undefined) },
      others: [
        { name: `${size.name}, page ${FAR_PAGE}`, round: () => measure(ours, far.all, undefined) },
        { name: `${size.name}, first page of a type`, round: () => measure(ours, undefined, type) },
        { name: `${size.name}, page ${FAR_PAGE} of a type`, round: () => measure(ours, far.ofType, type) },
      ],
    }))
    await compare({
      name: "growth-events",
      title: `A page of ${PAGE} events by what is stored, Postgres ${server.version}`,
      unit: "ms",
      isRate: false,
      contenders: pages.flatMap(({ first, others }) => [first, ...others]),
    })
    for (const { ours } of prepared) await ours.close()
  } finally {
    await server.stop()
  }
}
