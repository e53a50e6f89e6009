/**
 * The 95th percentile of the time from the call that publishes an account's event to its receiver, while another account of
 * the same server publishes to 500 endpoints that never answer, and while that one is idle. The bar is 2 times the idle figure.
 *
 * The first half minute is left out. In it nobody knows yet that these endpoints hang: 288 are tried at first, and the others
 * when those have timed out. Each group takes all places for some seconds.
 */
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { compare } from "./Comparison.ts"
import * as Neighbours from "./Neighbours.ts"
import * as PostgresServer from "./PostgresServer.ts"

const ENDPOINTS = 500
/** Each event of the other account is for all of its endpoints. */
const EVENTS_PER_SECOND = 2
/** How long the other account publishes before the neighbour is measured, in milliseconds. */
const LEAD_MILLIS = 25_000

const later = (millis: number): Promise<void> => new Promise((done) => setTimeout(done, millis))

/** A receiver that says when an invoice came, and one that answers nothing until it is told to. */
const startReceiver = async () => {
  const arrived = new Map<string, (at: number) => void>()
  const held = new Set<ServerResponse>()
  let isHanging = true
  const server = createServer((request, response) => {
    if (request.url === "/hang") {
      request.resume()
      if (!isHanging) return void response.end()
      held.add(response)
      response.on("close", () => held.delete(response))
      return undefined
    }
    const at = performance.now()
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      const event = JSON.parse(Buffer.concat(pieces).toString()) as { data: { invoice_id: string } }
      arrived.get(event.data.invoice_id)?.(at)
      arrived.delete(event.data.invoice_id)
      response.end()
    })
    return undefined
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    arrival: (invoice: string) => new Promise<number>((done) => arrived.set(invoice, done)),
    /** Whether requests to `/hang` wait. When they don't any more, those that wait are answered. */
    hang: (hangs: boolean) => {
      isHanging = hangs
      if (!hangs) for (const response of held) response.end()
    },
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const eventOf = (invoice: string) => ({
  type: "invoice.created",
  data: { invoice_id: invoice, customer_id: "cus_1", amount: 100, currency: "EUR" },
})

/** Waits until nothing is left to send of an account. */
const drained = async (call: Neighbours.Call): Promise<void> => {
  for (;;) {
    const { data } = (await call("GET", "/v1/deliveries?status=Pending&limit=1")) as {
      data: ReadonlyArray<object>
    }
    if (data.length === 0) return
    await later(200)
  }
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const receiver = await startReceiver()
  const { greedy, modest, stop } = await Neighbours.start(
    await server.createDatabase("bench_neighbour_webhooks"),
  )
  try {
    const endpoint = (call: Neighbours.Call, path: string) =>
      call("POST", "/v1/webhook_endpoints", { url: `${receiver.url}${path}`, event_types: ["*"] })
    await endpoint(modest, "/hook")
    for (let count = 0; count < ENDPOINTS; count++) await endpoint(greedy, "/hang")
    let next = 0
    const deliver = async (): Promise<number> => {
      const invoice = `in_${++next}`
      const arrival = receiver.arrival(invoice)
      const begun = performance.now()
      await modest("POST", "/v1/events", eventOf(invoice))
      return (await arrival) - begun
    }
    const measured = () => Neighbours.p95(deliver)
    await compare({
      name: "neighbour-webhooks",
      title: `The 95th percentile of the time from publishing to the receiver beside another account, Postgres ${server.version}`,
      unit: "ms",
      isRate: false,
      contenders: [
        { name: "the other account is idle", round: measured },
        {
          name: `it publishes to ${ENDPOINTS} endpoints that never answer`,
          round: async () => {
            receiver.hang(true)
            const end = Neighbours.keepBusy(1, async () => {
              await greedy("POST", "/v1/events", eventOf("in_greedy"))
              await later(1_000 / EVENTS_PER_SECOND)
            })
            try {
              await later(LEAD_MILLIS)
              return await measured()
            } finally {
              await end()
              receiver.hang(false)
              await drained(greedy)
            }
          },
        },
      ],
    })
  } finally {
    await stop()
    receiver.stop()
    await server.stop()
  }
}
