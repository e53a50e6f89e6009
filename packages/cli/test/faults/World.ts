import { join } from "node:path"
/**
 * A Postgres, a server that sends nothing, workers that a test starts and ends, and a receiver that it scripts.
 */
import * as Cli from "../Cli.ts"
import { FaultyPostgres } from "../FaultyPostgres.ts"
import { Receiver } from "../Receiver.ts"
import { type DeliveryWithAttempts, type Endpoint, Tenant } from "../Tenant.ts"

export const TIMEOUT = 120_000

/** Leases that a test can wait for. */
const SHORT_LEASE = ["--lease-seconds", "3", "--attempt-seconds", "2"]

/** An endpoint at a path of the receiver. */
export interface Target extends Endpoint {
  readonly path: string
  /** All secrets that it has had. */
  readonly secrets: ReadonlyArray<string>
}

export class World {
  readonly postgres = new FaultyPostgres({})
  readonly receiver = new Receiver()
  readonly #workers = new Set<Cli.Running>()
  #env: Record<string, string> = {}
  #server: Cli.Serving | undefined

  async start(): Promise<void> {
    await Promise.all([this.postgres.start(), this.receiver.start()])
    this.#env = { DATABASE_URL: this.postgres.url, ...Cli.ENCRYPTION }
    this.#server = await Cli.serve(["--store", "postgres", "--no-dispatch"], { env: this.#env })
  }

  async stop(): Promise<void> {
    await this.endWorkers()
    await this.#server?.stop()
    await this.receiver.stop()
    await this.postgres.remove()
  }

  /** The workers of a test that failed before it had ended them. */
  async endWorkers(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.stop("SIGKILL")))
    this.#workers.clear()
  }

  get tenant(): Tenant {
    return new Tenant(this.#server!.url, this.#server!.keys.test)
  }

  /** Starts a worker with a short lease, unless it is told otherwise. */
  async worker(
    args: ReadonlyArray<string> = SHORT_LEASE,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Cli.Running> {
    const worker = await Cli.dispatch(args, { env: { ...this.#env, ...env } })
    this.#workers.add(worker)
    return worker
  }

  /** A worker that SIGUSR2 blocks for so long. */
  blockable(millis: number): Promise<Cli.Running> {
    const preload = join(import.meta.dirname, "Blockable.ts")
    return this.worker(SHORT_LEASE, { NODE_OPTIONS: `--import=${preload}`, BLOCK_MILLIS: String(millis) })
  }

  /** A new endpoint for all events at a path of its own. */
  async target(path: string): Promise<Target> {
    const endpoint = await this.tenant.endpoint(this.receiver.url(path), ["invoice.paid"])
    return { ...endpoint, path, secrets: [endpoint.secret] }
  }

  /** Asks with the live key. */
  callLive(method: string, path: string, body?: unknown): ReturnType<typeof Cli.call> {
    return Cli.call(this.#server!.url, this.#server!.keys.live, method, path, body)
  }

  /** The first attempt of a live event's only delivery. */
  async liveAttempt(eventId: string): Promise<DeliveryWithAttempts["attempts"][number]> {
    const tenant = new Tenant(this.#server!.url, this.#server!.keys.live)
    const { attempts } = await tenant.deliveryThat(eventId, (delivery) => delivery.attempts.length > 0)
    return attempts[0]!
  }

  /** No more events for an endpoint that a test is done with. */
  async retire({ id }: Target): Promise<void> {
    await this.tenant.request("DELETE", `/webhook_endpoints/${id}`)
  }
}
