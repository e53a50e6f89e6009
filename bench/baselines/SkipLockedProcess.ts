/**
 * Webhooks on a queue by hand: a worker process. Each of its loops takes a batch of jobs in a transaction, sends them, writes
 * all results in one statement, and commits. So a batch costs one commit, and a worker that dies gives its jobs back. While
 * one loop sends, another takes jobs or writes results.
 */
import { Client, Pool } from "pg"
import { counter, IN_FLIGHT, obey } from "../webhooks/Scenario.ts"
import { CHANNEL, publisher } from "./SkipLocked.ts"
import { isDelivered, makeSender, type Outcome, write } from "./Webhooks.ts"

/** More jobs than requests at a time: requests of one loop go on while another one writes. */
const LOOPS = 3
/** A delivery that failed, or whose notification was lost, is looked for so often. */
const POLL_MILLIS = 500
const RETRY_SECONDS = 5

const CLAIM = `
with claimed as (
  delete from jobs where ctid = any (array(
    select ctid from jobs where due_at <= now() order by due_at limit $1 for update skip locked
  )) returning delivery_id, endpoint_id, event_id, number
)
select c.delivery_id, c.endpoint_id, c.event_id, c.number, e.payload from claimed c join events e on e.id = c.event_id`

const RETRY = `
insert into jobs (delivery_id, endpoint_id, event_id, number, due_at)
select d.id, d.endpoint_id, d.event_id, f.number + 1, now() + f.number * interval '${RETRY_SECONDS} seconds'
from unnest($1::uuid[], $2::integer[]) as f (id, number) join deliveries d on d.id = f.id`

interface Claimed {
  readonly delivery_id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly number: number
  readonly payload: string
}

const connectionString = process.env["DATABASE_URL"] ?? ""
const pool = new Pool({ connectionString, max: 10 })
const send = makeSender(pool, IN_FLIGHT)
const count = counter()

const connect = async (): Promise<Client> => {
  const client = new Client({ connectionString })
  client.on("error", console.error)
  await client.connect()
  return client
}

const attempt = ({ delivery_id, endpoint_id, event_id, number, payload }: Claimed): Promise<Outcome> =>
  send({ deliveryId: delivery_id, endpointId: endpoint_id, eventId: event_id, body: payload }, number)

/** Takes a batch and delivers it. Gives how many jobs it had. */
const work = async (client: Client): Promise<number> => {
  await client.query("begin")
  const { rows } = await client.query<Claimed>({ name: "claim", text: CLAIM, values: [IN_FLIGHT] })
  if (rows.length > 0) {
    const outcomes = await Promise.all(rows.map(attempt))
    await write(client, outcomes)
    const failed = outcomes.filter((outcome) => !isDelivered(outcome))
    if (failed.length > 0) {
      const values = [failed.map(({ deliveryId }) => deliveryId), failed.map(({ number }) => number)]
      await client.query({ name: "retry", text: RETRY, values })
    }
    await client.query("commit")
    count(outcomes.length - failed.length)
  } else {
    await client.query("commit")
  }
  return rows.length
}

/** The loops that wait for news, which are called when there are some. */
const asleep = new Set<() => void>()
let isWorking = false
/** Rises with every notification, so that none is missed that comes while a loop looks for jobs. */
let news = 0

/** One is enough: when it finds a whole batch, it wakes the next one. */
const wakeOne = (): void => {
  const [first] = asleep
  first?.()
}

const sleep = (known: number): Promise<void> =>
  new Promise((done) => {
    if (known !== news) return done()
    const end = () => {
      clearTimeout(timer)
      asleep.delete(end)
      done()
    }
    const timer = setTimeout(end, POLL_MILLIS)
    asleep.add(end)
  })

const loop = async (client: Client): Promise<void> => {
  const isOver = (): boolean => !isWorking
  while (!isOver()) {
    const known = news
    const found = await work(client)
    if (found === IN_FLIGHT) wakeOne()
    if (found === 0) await sleep(known)
  }
}

const clients = await Promise.all(Array.from({ length: LOOPS }, connect))
const listener = await connect()
listener.on("notification", () => {
  news++
  wakeOne()
})
await listener.query(`listen ${CHANNEL}`)
let running: ReadonlyArray<Promise<void>> = []

obey(
  async () => {
    isWorking = true
    running = clients.map(loop)
  },
  async () => {
    isWorking = false
    for (const end of asleep) end()
    await Promise.all(running)
  },
  publisher(pool),
)
