/**
 * Causes faults during a soak: one at a time, chosen by the seed, each ended after some seconds.
 */
import { setTimeout as pause } from "node:timers/promises"
import type { Choice } from "@billwright/simulation"
import type { Running } from "../../Command.ts"
import { until } from "../../Until.ts"
import { never } from "../Proxy.ts"
import type { World } from "../World.ts"

const LEASE_MILLIS = 3_000
const MAX_FAULT_MILLIS = 3_000
const MAX_REST_MILLIS = 6_000

/** Causes a fault. Returns a function that ends it. */
type Fault = () => Promise<() => unknown>

const nothing = async (): Promise<void> => {}

export class Nemesis {
  readonly #world: World
  readonly #choice: Choice
  /** The worker that is killed and started again. Other workers run all the time. */
  #victim: Running
  #isOver = false
  readonly counts = new Map<string, number>()

  constructor(world: World, choice: Choice, victim: Running) {
    this.#world = world
    this.#choice = choice
    this.#victim = victim
  }

  /** Stops causing faults. `work` ends when the last fault has ended. */
  end(): void {
    this.#isOver = true
  }

  async work(): Promise<void> {
    const faults = Object.entries(this.#faults)
    while (!this.#isOver) {
      const [name, fault] = this.#choice.pick(faults)!
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
      const heal = await fault()
      await pause(this.#choice.int(0, MAX_FAULT_MILLIS))
      await heal()
      await this.#isBack()
      await pause(this.#choice.int(0, MAX_REST_MILLIS))
    }
  }

  #isBack(): Promise<boolean> {
    return until("Postgres is back", () =>
      this.#world.postgres.query("select 1").then(
        () => true,
        () => false,
      ),
    )
  }

  readonly #faults: Readonly<Record<string, Fault>> = {
    "worker killed": () => this.#replaceVictim("SIGKILL"),
    "worker ended": () => this.#replaceVictim("SIGTERM"),
    "worker stopped beyond its lease": async () => {
      const { child } = this.#victim
      child.kill("SIGSTOP")
      await pause(LEASE_MILLIS)
      return () => child.kill("SIGCONT")
    },
    "Postgres crashed": async () => {
      await this.#world.postgres.crash()
      return () => this.#world.postgres.start()
    },
    "backend killed": async () => {
      await this.#world.postgres.killBackend()
      return nothing
    },
    "backends terminated": async () => {
      await this.#world.postgres.terminate()
      return nothing
    },
    "Postgres frozen": () => this.#world.postgres.freeze(),
    "table locked": async () => {
      const session = this.#world.postgres.open()
      await session.query("begin", "lock table billwright.usage_records in exclusive mode")
      return async () => {
        await session.query("rollback")
        await session.close()
      }
    },
    "connections dropped": async () => {
      this.#world.proxy.drop()
      return nothing
    },
    "packets lost": async () => {
      this.#world.proxy.isBlackhole = true
      return () => {
        this.#world.proxy.isBlackhole = false
        // Lost data is not sent again, so these connections are dead.
        this.#world.proxy.drop()
      }
    },
    "answers lost": async () => {
      this.#world.proxy.cutsAnswer = () => this.#choice.chance(0.03)
      return () => {
        this.#world.proxy.cutsAnswer = never
      }
    },
    "requests lost": async () => {
      this.#world.proxy.cutsRequest = () => this.#choice.chance(0.03)
      return () => {
        this.#world.proxy.cutsRequest = never
      }
    },
  }

  async #replaceVictim(signal: NodeJS.Signals): Promise<() => Promise<void>> {
    await this.#victim.stop(signal)
    return async () => {
      this.#victim = await this.#world.worker()
    }
  }
}
