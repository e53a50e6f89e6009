/**
 * Webhooks on graphile-worker: a worker process, tuned as its documentation recommends (local queue, completions in
 * batches).
 */
import { Logger, run, type Runner } from "graphile-worker"
import { Pool } from "pg"
import { counter, IN_FLIGHT, obey } from "../webhooks/Scenario.ts"
import { publisher } from "./GraphileWorker.ts"
import {
  isDelivered,
  type Job,
  makeGroupWriter,
  makeSender,
  type Outcome,
  write as writeAll,
} from "./Webhooks.ts"

const COMPLETE_DELAY_MILLIS = 20

const connectionString = process.env["DATABASE_URL"] ?? ""
const pool = new Pool({ connectionString, max: 10 })
pool.on("error", console.error)
pool.on("connect", (client) => client.on("error", console.error))
const send = makeSender(pool, IN_FLIGHT)
// Each task writes its own result. With LINGER_MILLIS, one writer writes the results of many tasks together, and waits so long
// for them. 0: it writes those that came during the statement before.
const linger = process.env["LINGER_MILLIS"]
const write =
  linger === undefined
    ? (outcome: Outcome) => writeAll(pool, [outcome])
    : makeGroupWriter(pool, Number(linger))
const count = counter()
let runner: Runner | undefined

obey(
  async () => {
    runner = await run({
      pgPool: pool,
      // A task that waits for its group sends nothing meanwhile. The sender has no more requests at a time than elsewhere.
      concurrency: Number(linger ?? 0) > 0 ? 2 * IN_FLIGHT : IN_FLIGHT,
      logger: new Logger(() => () => {}),
      noHandleSignals: true,
      taskList: {
        deliver: async (payload, { job }) => {
          const outcome = await send(payload as unknown as Job, job.attempts)
          await write(outcome)
          if (!isDelivered(outcome)) throw new Error(outcome.error ?? `status ${outcome.status}`)
          count(1)
        },
      },
      preset: {
        worker: {
          localQueue: { size: 4 * IN_FLIGHT },
          completeJobBatchDelay: COMPLETE_DELAY_MILLIS,
          failJobBatchDelay: COMPLETE_DELAY_MILLIS,
        },
      },
    })
  },
  async () => {
    await runner?.stop()
  },
  publisher(pool),
)
