import { once } from "node:events"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Billing } from "billwright"
import { createTestBilling } from "billwright/testing"
import { afterEach, describe, expect, it } from "vitest"
import { card, createApp } from "../src/App.ts"
import { type Model, parrot } from "../src/Model.ts"

const CREDIT = 1_000_000
const ends: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** The app with a customer who has so many credits. */
const start = async (model: Model, credits = 1, slowed = (billing: Billing): Billing => billing) => {
  const billing = await createTestBilling({ now: "2026-01-01T00:00:00Z" })
  await billing.rateCards.push(card)
  const { id: customerId } = await billing.testing.customer()
  const account = { customerId, unit: "credit" }
  await billing.credits.grant({ ...account, kind: "paid", amount: credits * CREDIT })
  const server: Server = createApp(slowed(billing), model).listen(0, "127.0.0.1")
  await once(server, "listening")
  ends.push(
    () => billing.close(),
    async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  )
  const { port } = server.address() as AddressInfo
  const chat = (prompt: unknown, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}/customers/${customerId}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ prompt }),
      ...init,
    })
  return { billing, chat, server, balance: () => billing.credits.balance(account) }
}

/** Waits until the app has settled the hold: it does so after the client is gone. */
const settled = async (balance: () => Promise<{ available: bigint; held: bigint }>) => {
  for (;;) {
    const now = await balance()
    if (now.held === 0n) return now
    await new Promise((next) => setImmediate(next))
  }
}

describe("the endpoint", () => {
  it("streams the answer and takes what the provider says was used", async () => {
    const { balance, billing, chat } = await start(parrot(0))
    const response = await chat("to be or not to be")
    expect(response.status).toBe(200)
    expect((await response.text()).trim().split(" ")).toHaveLength(40)
    // 6 tokens at 200 and 40 at 800 a million are 0.0332 credits, and 20 % more is 0.03984.
    expect(await settled(balance)).toMatchObject({ available: 1_000_000n - 39_840n, held: 0n })
    const [used] = (await billing.tokenUsages.list().page()).data
    expect(used).toMatchObject({ status: "rated", exact: "0.03984", tokens: { input: 6, output: 40 } })
  })

  it("takes what was written when the client goes away", async () => {
    let isAborted = false
    const model: Model = async function* ({ signal }) {
      yield { text: "one two " }
      await once(signal, "abort")
      isAborted = true
      signal.throwIfAborted()
    }
    const { balance, chat } = await start(model)
    const away = new AbortController()
    const response = await chat("go on", { signal: away.signal })
    const reader = response.body!.getReader()
    await reader.read()
    expect((await balance()).held).toBeGreaterThan(0n)
    away.abort()
    // 2 tokens at 200 and 2 at 800 a million, and 20 % more.
    expect(await settled(balance)).toMatchObject({ available: 1_000_000n - 2_400n })
    expect(isAborted).toBe(true)
  })

  it("gives everything back when the client goes away before the first word, or the model fails", async () => {
    let begin: (() => void) | undefined
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const waiting: Model = async function* ({ signal }) {
      begin?.()
      await once(signal, "abort")
      signal.throwIfAborted()
      yield { text: "" }
    }
    const first = await start(waiting)
    const away = new AbortController()
    const gone = first.chat("go on", { signal: away.signal }).catch((error: Error) => error.name)
    await begun
    away.abort()
    expect(await gone).toBe("AbortError")
    expect(await settled(first.balance)).toMatchObject({ available: 1_000_000n, held: 0n })

    const failing: Model = async function* () {
      throw new Error("the model is not there")
    }
    const second = await start(failing)
    expect((await second.chat("go on")).status).toBe(502)
    expect(await second.balance()).toMatchObject({ available: 1_000_000n, held: 0n })
  })

  it("asks no model when the client goes away while the credits are held", async () => {
    let isGone: (() => void) | undefined
    const gone = new Promise<void>((resolve) => (isGone = resolve))
    let isHeld: (() => void) | undefined
    const held = new Promise<void>((resolve) => (isHeld = resolve))
    const slowed = (billing: Billing): Billing => ({
      ...billing,
      holds: {
        ...billing.holds,
        reserve: async (input) => {
          const hold = await billing.holds.reserve(input)
          isHeld?.()
          await gone
          return hold
        },
      },
    })
    const { balance, chat, server } = await start(parrot(0), 1, slowed)
    server.on("request", (_, response) => response.on("close", () => isGone?.()))
    const away = new AbortController()
    const asked = chat("go on", { signal: away.signal }).catch((error: Error) => error.name)
    await held
    away.abort()
    expect(await asked).toBe("AbortError")
    expect(await settled(balance)).toMatchObject({ available: 1_000_000n, held: 0n })
  })

  it("refuses whoever can't pay the most that it may cost, also with many requests at once", async () => {
    // 0.48 credits are held for each, so that two fit into one credit.
    const held: Array<() => void> = []
    const model: Model = async function* () {
      await new Promise<void>((resolve) => held.push(resolve))
      yield { usage: { prompt_tokens: 2, completion_tokens: 0 } }
    }
    const { balance, chat } = await start(model)
    const statuses: Array<number> = []
    const asked = Array.from({ length: 10 }, async () => {
      const { status } = await chat("go on")
      statuses.push(status)
      // The refused ones answer at once, and then the two others may go on.
      if (statuses.length === 8) for (const go of held) go()
    })
    await Promise.all(asked)
    expect(statuses.toSorted()).toEqual([200, 200, ...Array(8).fill(402)])
    expect(await settled(balance)).toMatchObject({ available: 1_000_000n - 2n * 480n })
  })

  it("says what is wrong with a request", async () => {
    const { chat } = await start(parrot(0))
    const response = await chat(5)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error: "prompt must be a text of 1 to 10000 characters" })
    const { chat: poor } = await start(parrot(0), 0.0001)
    const refused = await poor("hello")
    expect(refused.status).toBe(402)
    expect(await refused.json()).toEqual({ error: "not enough credits", available: "100" })
  })
})
