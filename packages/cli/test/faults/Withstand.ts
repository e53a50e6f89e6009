import { Choice } from "@billwright/simulation"
/**
 * Clients that work before, during and after a fault. After the fault ends and all deliveries have ended, all invariants
 * are checked.
 */
import { assert } from "@effect/vitest"
import { call } from "../Command.ts"
import { answers } from "../Receiver.ts"
import { holdsAll } from "./Checks.ts"
import { moody } from "./Moody.ts"
import { type Account, Traffic } from "./Traffic.ts"
import type { World } from "./World.ts"

const CLIENTS = 6
/** The promise is 5 seconds. The rest is for a busy machine. */
const MAX_ANSWER_MILLIS = 12_000

export interface Fault {
  /** Causes the fault. Returns a function that ends it. */
  readonly fail: () => Promise<() => unknown>
  /** Checks what must hold during the fault. */
  readonly during: (traffic: Traffic) => Promise<void>
  /** Whether some requests of clients get no answer. */
  readonly mayBeCut?: boolean
  /** The addresses to which clients send requests. Default: those of the servers. */
  readonly servers?: () => ReadonlyArray<string>
}

/** Sends a GET request to the first server. Returns the status. */
export const get = async (world: World, path: string): Promise<number> => {
  const sentAt = performance.now()
  const { status } = await call(world.servers[0]!.url, world.keys.test, "GET", path)
  assert.isBelow(performance.now() - sentAt, MAX_ANSWER_MILLIS, path)
  return status
}

const readiness = async (world: World, status: number): Promise<void> => {
  while ((await get(world, "/readyz")) !== status);
}

/** Checks that all requests are refused and that the server is not ready. */
export const isRefusingAll =
  (world: World): Fault["during"] =>
  async (traffic) => {
    await traffic.refused(2)
    await readiness(world, 503)
  }

/** More markers than one run uses. */
const MARKERS_PER_RUN = 1_000_000
let runs = 0

export class Withstanding {
  readonly #world: World
  #accounts: ReadonlyArray<Account> = []

  constructor(world: World) {
    this.#world = world
  }

  async start(): Promise<void> {
    this.#accounts = await this.#world.accounts()
  }

  /** Like `withstand`. The fault lasts until every client has had this many acknowledged requests. */
  async withstandFor(times: number, fault: Omit<Fault, "during">): Promise<void> {
    await this.withstand({ ...fault, during: (traffic) => traffic.acknowledged(times) })
  }

  /** Lets clients work during a fault. Nothing is restarted, and every client must succeed again afterwards. */
  async withstand({ during, fail, mayBeCut = false, servers }: Fault): Promise<void> {
    const world = this.#world
    const { journal, receiver } = world
    const choice = new Choice(++runs)
    const direct = () => world.servers.map(({ url }) => url)
    const traffic = new Traffic({
      journal,
      receiver,
      accounts: this.#accounts,
      choice,
      servers: servers ?? direct,
      markers: runs * MARKERS_PER_RUN,
      mayBeCut,
    })
    const [well, moods] = [`/well-${runs}`, `/moody-${runs}`]
    await traffic.setUp(well, moods)
    for (const { name } of this.#accounts) receiver.script(`/${name}${moods}`, moody(choice))
    traffic.begin(CLIENTS)
    try {
      await traffic.acknowledged(2)
      const heal = await fail()
      try {
        await during(traffic)
        assert.strictEqual(await get(world, "/livez"), 200)
      } finally {
        await heal()
      }
      await traffic.acknowledged()
      await readiness(world, 200)
      await traffic.end()
    } finally {
      traffic.abandon()
    }
    assert.isBelow(traffic.slowest, MAX_ANSWER_MILLIS)
    for (const { name } of this.#accounts) receiver.script(`/${name}${moods}`, answers(204))
    await world.drain()
    await holdsAll(world)
    await traffic.tearDown()
    for (const { child } of world.servers) assert.strictEqual(child.exitCode, null)
  }
}
