/**
 * The 95th percentile of an account's requests, half of them usage and half of them reads of a customer, while another
 * account of the same server asks for its largest lists and exports on 64 connections, and while that one is idle. The bar is
 * 2 times the idle figure.
 */
import { Client } from "pg"
import { compare } from "./Comparison.ts"
import { uuidOf } from "./Fill.ts"
import * as Neighbours from "./Neighbours.ts"
import * as PostgresServer from "./PostgresServer.ts"

const RECORDS = 200_000
const INVOICES = 100
const LINES = 10
const CONNECTIONS = 64
/** How long the other account reads before the neighbour is measured, in milliseconds. Its first reads have no limit. */
const LEAD_MILLIS = 2_000

const later = (millis: number): Promise<void> => new Promise((done) => setTimeout(done, millis))

/** Records of one customer in a year, of several products. */
const FILL = `
insert into billwright.usage_records
  (account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, idempotency_key, created_at, dimensions)
select 'greedy', 'test', c.id, ${uuidOf("0190", "n")}, 'api', 'call', n % 1000,
  timestamptz '2025-11-01Z' + n * interval '365 days' / ${RECORDS}, 'key-' || n, now(), '{}'
from billwright.customers c, generate_series(0, ${RECORDS} - 1) as n where c.account_id = 'greedy'`

const newCustomer = async (call: Neighbours.Call): Promise<string> =>
  String((await call("POST", "/v1/customers", { name: "Ada", email: "ada@example.com" }))["id"])

const fill = async (url: string, call: Neighbours.Call, customer: string): Promise<void> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query("set statement_timeout = 0")
  await client.query(FILL)
  await client.query("analyze")
  await client.end()
  const lines = Array.from({ length: LINES }, (_, index) => ({ description: `Work ${index}`, amount: 100 }))
  for (let count = 0; count < INVOICES; count++) {
    await call("POST", "/v1/invoices", { customer_id: customer, currency: "EUR", lines })
  }
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const url = await server.createDatabase("bench_neighbour_reads")
  const { ask, greedy, modest, stop } = await Neighbours.start(url)
  try {
    const theirs = await newCustomer(greedy)
    const own = await newCustomer(modest)
    await fill(url, greedy, theirs)
    const dear = [
      "/v1/invoices?limit=100",
      `/v1/customers/${theirs}/export`,
      "/v1/audit_log/export",
      `/v1/usage/records?customer_id=${theirs}&limit=100`,
      `/v1/usage?customer_id=${theirs}&start_date=2025-11-01&end_date=2026-10-31&timezone=America/New_York`,
      "/v1/events?limit=100",
      "/v1/money_overview",
    ]
    const record = { customer_id: own, product_id: "api", unit: "call", quantity: 1 }
    const request = async (index: number): Promise<number> => {
      const begun = performance.now()
      await (index % 2 === 0 ? modest("POST", "/v1/usage", record) : modest("GET", `/v1/customers/${own}`))
      return performance.now() - begun
    }
    const measured = () => Neighbours.p95(request)
    await compare({
      name: "neighbour-reads",
      title: `The 95th percentile of an account's requests beside another account, Postgres ${server.version}`,
      unit: "ms",
      isRate: false,
      contenders: [
        { name: "the other account is idle", round: measured },
        {
          name: `it asks for its dearest reads on ${CONNECTIONS} connections`,
          round: async () => {
            const end = Neighbours.keepBusy(CONNECTIONS, (index) => ask(dear[index % dear.length]!))
            try {
              await later(LEAD_MILLIS)
              return await measured()
            } finally {
              await end()
            }
          },
        },
      ],
    })
  } finally {
    await stop()
    await server.stop()
  }
}
