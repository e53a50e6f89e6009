import { Choice } from "@billwright/simulation"
/**
 * Clients at work before, during and after a fault; then heal, drain, and everything is judged.
 */
import { assert } from "@effect/vitest"
import { call } from "../Command.ts"
import { answers } from "../Receiver.ts"
import { holdsAll } from "./Checks.ts"
import { moody } from "./Moody.ts"
import { type Account, Traffic } from "./Traffic.ts"
import type { World } from "./World.ts"

const CLIENTS = 6
/** Promised are 5 seconds. The rest is for a machine that has other things to do, too. */
const MAX_ANSWER_MILLIS = 12_000

export interface Fault {
  /** Brings the fault about; gives what ends it. */
  readonly fail: () => Promise<() => unknown>
  /** What must be seen in between. */
  readonly during: (traffic: Traffic) => Promise<void>
  /** Clients get no answer to some of their requests. */
  readonly mayBeCut?: boolean
  /** Where clients send their requests, if not to the servers themselves. */
  readonly servers?: () => ReadonlyArray<string>
}

/** Asks the first server something that needs no storage, or says if there is one. */
export const get = async (world: World, path: string): Promise<number> => {
  const sentAt = performance.now()
  const { status } = await call(world.servers[0]!.url, world.keys.test, "GET", path)
  assert.isBelow(performance.now() - sentAt, MAX_ANSWER_MILLIS, path)
  return status
}

const readiness = async (world: World, status: number): Promise<void> => {
  while ((await get(world, "/readyz")) !== status);
}

/** No client gets anything, and the server says so. */
export const isRefusingAll =
  (world: World): Fault["during"] =>
  async (traffic) => {
    await traffic.refused(2)
    await readiness(world, 503)
  }

/** More than one run asks for. */
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

  /** The same, with something that is done while it fails, often enough to matter. */
  async withstandFor(times: number, fault: Omit<Fault, "during">): Promise<void> {
    await this.withstand({ ...fault, during: (traffic) => traffic.acknowledged(times) })
  }

  /** Lets clients work while something fails. Nothing is restarted: all of them must get through again. */
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
