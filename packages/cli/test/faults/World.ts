/**
 * A Postgres, servers and workers that a test starts and breaks, a receiver that it scripts, and a record of everything
 * that happened.
 */
import { join } from "node:path"
import { Tenant } from "@billwright/core"
import * as Cli from "../Command.ts"
import { FaultyPostgres } from "../FaultyPostgres.ts"
import { Receiver } from "../Receiver.ts"
import type { Endpoint, Tenant as User } from "../Tenant.ts"
import { drained } from "./Drain.ts"
import { Journal } from "./history/Journal.ts"
import { violationsOf } from "./history/Judge.ts"
import { LEDGER_SETTINGS, observe } from "./history/Ledger.ts"
import { Proxy } from "./Proxy.ts"
import { RecordedTenant } from "./RecordedTenant.ts"
import type { Account } from "./Traffic.ts"

/** Leases that are short enough for a test to wait for their end. */
export const SHORT_LEASE = ["--lease-seconds", "3", "--attempt-seconds", "2"]

type Env = Readonly<Record<string, string>>

/** An endpoint at a path of the receiver. */
export interface Target extends Endpoint {
  readonly path: string
  /** All secrets that it has had. */
  readonly secrets: ReadonlyArray<string>
}

export interface WorldOptions {
  /** Settings of Postgres. */
  readonly settings?: Env
  /** The environment of all processes. */
  readonly env?: Env
  /** Whether processes connect to Postgres through the proxy. */
  readonly isProxied?: boolean
  /** The number of servers. Default: 1. */
  readonly servers?: number
  /** Flags of the servers. By default they send no webhooks. */
  readonly serverArgs?: ReadonlyArray<string>
  /** By how much the clocks of workers may be wrong, in milliseconds. */
  readonly skewMillis?: number
}

export class World {
  readonly postgres: FaultyPostgres
  readonly receiver = new Receiver()
  readonly journal = new Journal()
  readonly #options: WorldOptions
  readonly #processes: Array<Cli.Running> = []
  readonly #workers = new Set<Cli.Running>()
  #servers: ReadonlyArray<Cli.Serving> = []
  #proxy: Proxy | undefined
  readonly #damaged: Array<string> = []
  #env: Record<string, string> = {}

  constructor(options: WorldOptions = {}) {
    this.#options = options
    this.postgres = new FaultyPostgres({ ...LEDGER_SETTINGS, ...options.settings })
  }

  async start(): Promise<void> {
    await Promise.all([this.postgres.start(), this.receiver.start()])
    this.#proxy = new Proxy(this.postgres.url)
    await this.#proxy.start()
    const url = this.#options.isProxied === true ? this.proxy.url : this.postgres.url
    this.#env = { DATABASE_URL: url, ...Cli.ENCRYPTION, ...this.#options.env }
    this.#servers = await Promise.all(Array.from({ length: this.#options.servers ?? 1 }, () => this.server()))
    await observe(this.postgres)
  }

  /** Ends everything. Returns the exit codes of the servers. */
  async stop(): Promise<ReadonlyArray<number | null>> {
    await this.endWorkers()
    const codes = await Promise.all(this.#servers.map((server) => server.stop()))
    await Promise.all(this.#processes.map((process) => process.stop("SIGKILL")))
    this.#proxy?.stop()
    await this.receiver.stop()
    await this.postgres.remove()
    return codes
  }

  /** Ends the workers of a test that failed before it ended them. */
  async endWorkers(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.stop("SIGKILL")))
    this.#workers.clear()
  }

  get proxy(): Proxy {
    return this.#proxy!
  }

  get servers(): ReadonlyArray<Cli.Serving> {
    return this.#servers
  }

  /** The environment of all processes. */
  get env(): Env {
    return this.#env
  }

  /** The keys of the two modes, which the first server printed. */
  get keys(): { readonly test: string; readonly live: string } {
    return this.#servers.map(({ keys }) => keys).find(({ test }) => test !== "")!
  }

  get tenant(): User {
    return new RecordedTenant(this.#servers[0]!.url, this.keys.test, this.journal, "test:default")
  }

  /** Starts another server. */
  async server(
    args: ReadonlyArray<string> = this.#options.serverArgs ?? ["--no-dispatch"],
    env: Env = {},
  ): Promise<Cli.Serving> {
    const server = await Cli.serve(["--store", "postgres", ...args], { env: { ...this.#env, ...env } })
    this.#processes.push(server)
    return server
  }

  /** Starts a worker, by default with a short lease. */
  async worker(args: ReadonlyArray<string> = SHORT_LEASE, env: Env = {}): Promise<Cli.Running> {
    const worker = await Cli.dispatch(args, { env: { ...this.#env, ...env } })
    this.#processes.push(worker)
    this.#workers.add(worker)
    return worker
  }

  /** Starts a worker whose event loop SIGUSR2 blocks for this time. */
  blockable(millis: number): Promise<Cli.Running> {
    return this.worker(SHORT_LEASE, { ...preloading("Blockable.ts"), BLOCK_MILLIS: String(millis) })
  }

  /** Creates an endpoint for all events, at its own path. */
  async target(path: string): Promise<Target> {
    const endpoint = await this.tenant.endpoint(this.receiver.url(path), ["invoice.paid"])
    return { ...endpoint, path, secrets: [endpoint.secret] }
  }

  /** The same user with the live key. */
  get liveTenant(): User {
    return new RecordedTenant(this.#servers[0]!.url, this.keys.live, this.journal, "live:default")
  }

  /** Ends the events for an endpoint after its test. */
  async retire({ id }: Target): Promise<void> {
    await this.tenant.request("DELETE", `/webhook_endpoints/${id}`)
  }

  /** Waits until nothing is pending. Retries that are due later become due at once. */
  async drain(): Promise<void> {
    await drained(this.postgres)
  }

  /** Names things that a test damages on purpose. Violations that mention them are ignored. */
  damages(...names: ReadonlyArray<string>): void {
    this.#damaged.push(...names)
  }

  /** All violations of invariants so far, except for things that a test damaged on purpose. */
  violations(): Promise<ReadonlyArray<string>> {
    const { journal, postgres, receiver } = this
    const logs = this.#processes.flatMap((process) => [process.stdout(), process.stderr()])
    const { skewMillis = 0 } = this.#options
    return violationsOf({ postgres, receiver, journal, logs, skewMillis }, this.#damaged)
  }

  /** The tenants for clients: the first account in both modes, and another account. */
  async accounts(): Promise<ReadonlyArray<Account>> {
    const issue = ["keys", "issue", "--store", "postgres", "--account", "globex", "--mode", "test"]
    const { stdout } = await Cli.run([...issue, "--name", "traffic", "--json"], { env: this.#env })
    const { secret } = JSON.parse(stdout) as { readonly secret: string }
    const first = Tenant.defaultAccountId
    return [
      { name: first, mode: "test", key: this.keys.test },
      { name: first, mode: "live", key: this.keys.live },
      { name: Tenant.AccountId.make("globex"), mode: "test", key: secret },
    ]
  }
}

/** An environment that loads a file of this folder into a process before the command. */
export const preloading = (file: string): Env => ({
  NODE_OPTIONS: `--import=${join(import.meta.dirname, file)}`,
})
