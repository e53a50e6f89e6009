/**
 * Webhooks on graphile-worker: a worker process, tuned as its documentation recommends (local queue, completions in
 * batches).
 */
import { Logger, run, type Runner } from "graphile-worker"
import { Pool } from "pg"
import { counter, IN_FLIGHT, obey } from "../webhooks/Scenario.ts"
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
// Each task writes its own result. With GROUPED, one writer writes the results of many tasks together.
const write =
  process.env["GROUPED"] === "true" ? makeGroupWriter(pool) : (outcome: Outcome) => writeAll(pool, [outcome])
const count = counter()
let runner: Runner | undefined

obey(
  async () => {
    runner = await run({
      pgPool: pool,
      concurrency: IN_FLIGHT,
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
)
