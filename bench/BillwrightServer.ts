/**
 * `billwright serve` as a separate process, with customers to record usage for.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"

const root = join(import.meta.dirname, "..")
/** How many customers are created at the same time. */
const CONCURRENCY = 50

/** A server with its address and key. */
export interface Target {
  readonly url: string
  readonly key: string
  readonly customers: ReadonlyArray<string>
  readonly process: ChildProcess
}

/** Starts a script of this repository. Its standard output can be read. */
export const launch = (
  script: string,
  args: ReadonlyArray<string>,
  env: Record<string, string>,
): ChildProcess =>
  spawn(process.execPath, [join(root, script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  })

export const lines = (child: ChildProcess) => createInterface({ input: child.stdout! })

const createCustomer = async (url: string, key: string, index: number): Promise<string> => {
  const response = await fetch(`${url}/v1/customers`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: `Customer ${index}`, email: `c${index}@example.com` }),
  })
  return ((await response.json()) as { id: string }).id
}

const createCustomers = async (url: string, key: string, count: number): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  while (ids.length < count) {
    const indexes = Array.from(
      { length: Math.min(CONCURRENCY, count - ids.length) },
      (_, i) => ids.length + i,
    )
    ids.push(...(await Promise.all(indexes.map((index) => createCustomer(url, key, index)))))
  }
  return ids
}

/** Starts the server on an empty database, and creates customers in live mode. */
export const start = async (databaseUrl: string, customers: number): Promise<Target> => {
  const child = launch(
    "packages/cli/src/bin.ts",
    ["serve", "--store", "postgres", "--allow-plaintext-secrets", "--port", "0"],
    {
      DATABASE_URL: databaseUrl,
    },
  )
  let url = ""
  for await (const line of lines(child)) {
    url = /listening on (\S+)/.exec(line)?.[1] ?? url
    const key = /live key {2}(\S+)/.exec(line)?.[1]
    if (key !== undefined) {
      return { url, key, customers: await createCustomers(url, key, customers), process: child }
    }
  }
  throw new Error("the server did not start")
}

export const stop = async ({ process: child }: Target): Promise<void> => {
  child.kill("SIGTERM")
  await once(child, "exit")
}
