/**
 * What a commit takes by itself: a row is inserted at the pace of the publications, while nothing else happens. Each claim of
 * each side commits, so no latency of theirs is steadier than this.
 */
import { Client } from "pg"
import { intervalOf, median, percentile } from "../Statistics.ts"

/** Like the row of a delivery with its event. */
const BYTES = 500

/** Makes the table. `round` inserts rows one after another, one every `millis`. */
export const make = async (databaseUrl: string, { count, millis }: { count: number; millis: number }) => {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query("create table rows (row text not null)")
  const rounds: Array<ReadonlyArray<number>> = []
  const insert = async (): Promise<number> => {
    const started = performance.now()
    await client.query("insert into rows values (repeat('x', $1))", [BYTES])
    return performance.now() - started
  }
  return {
    round: async (round: number): Promise<void> => {
      const times: Array<number> = []
      for (let row = 0; row < count; row++) {
        await new Promise((resolve) => setTimeout(resolve, millis))
        times.push(await insert())
      }
      if (round >= 0) rounds.push(times)
    },
    /** The medians and the 99th percentiles of the rounds. */
    figures: () => ({
      p50Millis: intervalOf(rounds.map(median)),
      p99Millis: intervalOf(rounds.map((times) => percentile(times, 0.99))),
    }),
    close: () => client.end(),
  }
}
