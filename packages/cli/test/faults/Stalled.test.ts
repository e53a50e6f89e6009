import { readFile } from "node:fs/promises"
/**
 * Workers that continue after their leases have ended: rows 6 and 7 of the fault matrix.
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import type * as Cli from "../Cli.ts"
import { holds } from "../Receiver.ts"
import { until } from "../Until.ts"
import { checkAll, holdsAll, outcomes, stored, unchanged } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { World } from "./World.ts"

const world = new World()
const { receiver } = world

beforeAll(() => world.start(), TIMEOUT)
afterEach(async () => {
  await world.endWorkers()
  await holdsAll(world)
}, TIMEOUT)
afterAll(() => world.stop(), TIMEOUT)

/** Stops a process, and waits until it is stopped. */
const freeze = async ({ child }: Cli.Running): Promise<void> => {
  child.kill("SIGSTOP")
  await until("the process stops", async () => {
    // Without /proc, this assumes that the process has stopped.
    const stat = await readFile(`/proc/${child.pid}/stat`, "utf8").catch(() => ") T")
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T")
  })
}

/**
 * Stalls a worker before it reads the answer to its request, until another worker sends the same delivery. Then the
 * first worker continues and tries to write its result, before the other one has its answer. `stall` returns a function
 * that ends the stall.
 */
const outlive = async (
  path: string,
  worker: Cli.Running,
  stall: () => Promise<() => void>,
): Promise<void> => {
  const target = await world.target(path)
  receiver.script(path, holds)
  // The other worker is already running when the lease ends. It is stopped first, so that it doesn't send first. Its own
  // lease is long.
  const other = await world.worker([])
  await freeze(other)
  const eventId = await world.tenant.publish()
  const first = await receiver.next(path, 1)
  const goOn = await stall()
  first.answer(204)

  other.child.kill("SIGCONT")
  const second = await receiver.next(path, 2)
  const before = await stored(world.postgres, target)
  assert.deepStrictEqual(before.map(outcomes), [["unknown"]])
  goOn()
  // A worker that exits normally has written everything that it had.
  assert.strictEqual(await worker.stop("SIGTERM"), 0)
  unchanged(await stored(world.postgres, target), before)

  second.answer(202)
  await world.tenant.drain()
  const deliveries = await checkAll(world, target, [eventId])
  assert.deepStrictEqual(deliveries.map(outcomes), [["unknown", 202]])
  assert.lengthOf(receiver.received(path), 2)
  assert.strictEqual(await other.stop(), 0)
  await world.retire(target)
}

describe("a worker that continues after its lease has ended", () => {
  it("changes nothing after it was stopped (SIGSTOP)", ofRows(6), async () => {
    const worker = await world.worker()
    await outlive("/stopped", worker, async () => {
      await freeze(worker)
      return () => worker.child.kill("SIGCONT")
    })
  })

  it("changes nothing after its event loop was blocked", ofRows(7), async () => {
    // Much longer than the lease of 3 seconds.
    const worker = await world.blockable(10_000)
    await outlive("/blocked", worker, async () => {
      worker.child.kill("SIGUSR2")
      await until("the event loop is blocked", async () => worker.stderr().includes("blocked"))
      return () => {}
    })
  })
})
