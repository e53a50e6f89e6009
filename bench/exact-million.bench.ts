/**
 * Four concurrent processes record a million records, some of them twice. Afterwards every summary must be the exact
 * sum, and the audit must find that roll-ups equal their records.
 */
import { once } from "node:events"
import { launch, lines, start, stop, type Target } from "./BillwrightServer.ts"
import { save } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"

const CLIENTS = 4
const RECORDS = 1_000_000
const CUSTOMERS = 1000
const PROGRESS_EVERY = 100_000

/** The output of a client. */
type Report = { readonly sent: number } | { readonly sums: ReadonlyArray<string> }

const runClient = async (target: Target, client: number, onSent: (sent: number) => void) => {
  const { customers, key, url } = target
  const share = { url, key, customers, client, records: RECORDS / CLIENTS }
  const child = launch("bench/MillionClient.ts", [], { SHARE: JSON.stringify(share) })
  for await (const line of lines(child)) {
    const report = JSON.parse(line) as Report
    if ("sums" in report) return report.sums.map(BigInt)
    onSent(report.sent)
  }
  throw new Error(`client ${client} failed`)
}

/** Runs all clients, and returns what was recorded for each customer. */
const record = async (target: Target): Promise<ReadonlyArray<bigint>> => {
  const sent = Array.from({ length: CLIENTS }, () => 0)
  let shown = 0
  const started = performance.now()
  const shares = await Promise.all(
    sent.map((_, client) =>
      runClient(target, client, (count) => {
        sent[client] = count
        const total = sent.reduce((sum, each) => sum + each, 0)
        if (total < shown + PROGRESS_EVERY) return
        shown = total - (total % PROGRESS_EVERY)
        const seconds = (performance.now() - started) / 1000
        console.log(`  ${shown.toLocaleString("en-US")} records in ${seconds.toFixed(1)} s`)
      }),
    ),
  )
  return target.customers.map((_, index) => shares.reduce((sum, share) => sum + share[index]!, 0n))
}

const summary = async ({ key, url }: Target, customer: string) => {
  const response = await fetch(`${url}/v1/usage?customer_id=${customer}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  // Far below 2^53, so a double represents it exactly.
  return (await response.json()) as { readonly total_quantity: number; readonly record_count: number }
}

/** The summaries that differ from the sum of what was recorded, as text, and the number of records. */
const compareSums = async (target: Target, expected: ReadonlyArray<bigint>) => {
  const wrong: Array<string> = []
  let records = 0
  for (const [index, customer] of target.customers.entries()) {
    const { record_count, total_quantity } = await summary(target, customer)
    records += record_count
    if (BigInt(total_quantity) === expected[index]) continue
    wrong.push(`${customer}: the summary says ${total_quantity}, ${expected[index]} was recorded`)
  }
  return { wrong, records }
}

/** Whether `billwright audit usage` finds no difference. It prints what it finds. */
const audit = async (databaseUrl: string): Promise<boolean> => {
  const child = launch("packages/cli/src/bin.ts", ["audit", "usage", "--store", "postgres"], {
    DATABASE_URL: databaseUrl,
  })
  child.stdout!.pipe(process.stdout)
  const [code] = (await once(child, "exit")) as [number | null]
  return code === 0
}

const check = async (target: Target, databaseUrl: string): Promise<void> => {
  const started = performance.now()
  const expected = await record(target)
  const seconds = (performance.now() - started) / 1000
  const { records, wrong } = await compareSums(target, expected)
  const isAudited = await audit(databaseUrl)
  for (const line of wrong) console.error(line)
  const isExact = wrong.length === 0 && records === RECORDS && isAudited
  console.log(
    `${records.toLocaleString("en-US")} records in ${seconds.toFixed(1)} s, ${wrong.length} of ${CUSTOMERS} summaries wrong, the auditor ${isAudited ? "agrees" : "disagrees"}: ${isExact ? "exact" : "NOT EXACT"}`,
  )
  save("exact-million", { clients: CLIENTS, records, seconds, wrongSummaries: wrong.length, isAudited })
  if (!isExact) process.exitCode = 1
}

/** Runs the check. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const databaseUrl = await server.createDatabase("bench_exact_million")
    const target = await start(databaseUrl, CUSTOMERS)
    try {
      await check(target, databaseUrl)
    } finally {
      await stop(target)
    }
  } finally {
    await server.stop()
  }
}
