/**
 * Where `billwright listen` begins and continues, on a server that orders its stream as Postgres does: by the number of the
 * transaction, then by id. A transaction that began early may publish late.
 */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Queue, Schema } from "effect"
import { TestClock } from "effect/testing"
import { ApiClient, type Answer, ServerRefused, ServerUnreachable } from "../src/ApiClient.ts"
import * as EventStream from "../src/EventStream.ts"

interface Stored {
  /** The transaction that published it. */
  readonly xid: number
  readonly id: string
  readonly type: string
}

interface Open {
  readonly controller: ReadableStreamDefaultController<Uint8Array>
  readonly wants: (event: Stored) => boolean
}

const PAGE = 100
const HEAD = { timestamp: "2026-11-21T09:30:00.000Z", livemode: false, endpoint_id: null, data: {} }

const idOf = (number: number): string => `evt_${String(number).padStart(26, "0")}`

const isAfter = (event: Stored, position: Stored): boolean =>
  event.xid > position.xid || (event.xid === position.xid && event.id > position.id)

const frameOf = ({ id, type }: Stored): Uint8Array =>
  new TextEncoder().encode(`id: ${id}\nevent: ${type}\ndata: {}\n\n`)

class FakeServer {
  /** The committed events. */
  readonly stored: Array<Stored> = []
  /** The ids that streams were asked to begin after. */
  readonly begins: Array<string | undefined> = []
  /** Called before each stream is opened. */
  beforeOpen: () => Effect.Effect<void, ServerUnreachable> = () => Effect.void
  #open: Array<Open> = []

  /** Commits an event, and sends it to the streams that it belongs to. */
  commit(number: number, xid: number, type = "invoice.paid"): string {
    const event = { id: idOf(number), xid, type }
    this.stored.push(event)
    for (const { controller, wants } of this.#open) if (wants(event)) controller.enqueue(frameOf(event))
    return event.id
  }

  /** Ends all streams. */
  cut(): void {
    for (const { controller } of this.#open.splice(0)) controller.close()
  }

  #list(query: Readonly<Record<string, unknown>>) {
    const { limit, starting_after: after, type } = query as Record<string, string | undefined>
    const found = this.stored
      .filter(
        (event) => (after === undefined || event.id < after) && (type === undefined || event.type === type),
      )
      .sort((a, b) => (a.id < b.id ? 1 : -1))
    return {
      data: found.slice(0, Number(limit)).map(({ id, type }) => ({ ...HEAD, id, type })),
      has_more: found.length > Number(limit),
    }
  }

  #stream(after: string | undefined, types: string | undefined): ReadableStream<Uint8Array> {
    const isOfType = ({ type }: Stored) => types === undefined || types.split(",").includes(type)
    const last = this.stored.find(({ id }) => id === after)
    const wants = (event: Stored) => isOfType(event) && (last === undefined || isAfter(event, last))
    return new ReadableStream({
      start: (controller) => {
        this.#open.push({ controller, wants })
        if (last === undefined) return
        const missed = this.stored.filter(wants).sort((a, b) => (isAfter(a, b) ? 1 : -1))
        for (const event of missed) controller.enqueue(frameOf(event))
      },
    })
  }

  readonly client = ApiClient.of({
    get: <A>(path: string, as: Schema.Codec<A, unknown>, query: Readonly<Record<string, unknown>> = {}) =>
      Effect.suspend(() => {
        if (path !== "/events") return Effect.fail(refused(404))
        const body = this.#list(query)
        const answer: Answer<A> = { value: Schema.decodeUnknownSync(as)(body), text: JSON.stringify(body) }
        return Effect.succeed(answer)
      }),
    open: (_path, query, headers) =>
      Effect.andThen(
        Effect.suspend(this.beforeOpen),
        Effect.suspend(() => {
          const after = headers["last-event-id"]
          this.begins.push(after)
          const isUnknown = after !== undefined && !this.stored.some(({ id }) => id === after)
          return isUnknown
            ? Effect.fail(refused(400))
            : Effect.succeed(this.#stream(after, query["types"] as string | undefined))
        }),
      ),
    post: () => Effect.die("unused"),
    patch: () => Effect.die("unused"),
    delete: () => Effect.die("unused"),
    file: () => Effect.die("unused"),
  })
}

const refused = (status: number) => new ServerRefused({ status, message: "refused", problems: [] })

/** Follows the events of a server until the test ends. */
const start = Effect.fnUntraced(function* (server: FakeServer, types: ReadonlyArray<string> = []) {
  const handled: Array<string> = []
  const news = yield* Queue.unbounded<string>()
  const tell = (text: string) => Effect.asVoid(Queue.offer(news, text))
  const complaining: Console.Console = {
    ...globalThis.console,
    error: (text: string) => Queue.offerUnsafe(news, text),
  }
  yield* EventStream.follow(types, tell("open"), ({ id }) =>
    Effect.andThen(
      Effect.sync(() => handled.push(id)),
      tell(id),
    ),
  ).pipe(
    Effect.provideService(ApiClient, server.client),
    Effect.provideService(Console.Console, complaining),
    Effect.forkScoped({ startImmediately: true }),
  )
  /** Waits until something is said. */
  const until = Effect.fnUntraced(function* (part: string) {
    while (!(yield* Queue.take(news)).includes(part));
  })
  /** Lets it connect again. What happens meanwhile is done before. */
  const reconnect = Effect.fnUntraced(function* (meanwhile: () => void = () => {}) {
    server.cut()
    yield* until("Trying again")
    meanwhile()
    yield* TestClock.adjust("250 millis")
    yield* until("open")
  })
  return { handled, until, reconnect }
})

/** The same, once the first stream is open. */
const listen = (server: FakeServer, types?: ReadonlyArray<string>) =>
  Effect.tap(start(server, types), ({ until }) => until("open"))

/** Events 2 and 1 are stored. The older id is later in the stream's order. */
const inOtherOrder = () => {
  const server = new FakeServer()
  server.commit(2, 101)
  server.commit(1, 105)
  return server
}

describe("listen begins from now on", () => {
  it.effect("with what an earlier transaction publishes later", () =>
    Effect.gen(function* () {
      const server = new FakeServer()
      server.commit(2, 101)
      const { handled, until } = yield* listen(server)
      const late = server.commit(3, 100)
      const older = server.commit(1, 99)
      const last = server.commit(4, 110)
      yield* until(last)
      assert.deepStrictEqual(handled, [late, older, last])
      assert.deepStrictEqual(server.begins, [undefined])
    }),
  )

  it.effect("without what was stored, also when it connects again", () =>
    Effect.gen(function* () {
      const server = inOtherOrder()
      const { handled, reconnect, until } = yield* listen(server)
      yield* reconnect()
      // Of an earlier transaction than both. When it connects again after this event, the server sends both.
      const first = server.commit(3, 100)
      yield* until(first)
      yield* reconnect()
      const second = server.commit(4, 110)
      yield* until(second)
      assert.deepStrictEqual(handled, [first, second])
      assert.deepStrictEqual(server.begins, [undefined, undefined, first])
    }),
  )

  it.effect("with what is published before the stream is open, also when that takes several tries", () =>
    Effect.gen(function* () {
      const server = inOtherOrder()
      const early: Array<string> = []
      server.beforeOpen = () => {
        if (early.length === 2) return Effect.void
        early.push(server.commit(3 + early.length, 110 + early.length))
        return Effect.fail(new ServerUnreachable({ message: "no" }))
      }
      const { handled, until } = yield* start(server)
      yield* until("Trying again")
      yield* TestClock.adjust("1 second")
      yield* until("open")
      const last = server.commit(9, 120)
      yield* until(last)
      assert.deepStrictEqual(handled, [...early, last])
    }),
  )

  it.effect("with the first event of a store that had none", () =>
    Effect.gen(function* () {
      const server = new FakeServer()
      const early: Array<string> = []
      server.beforeOpen = () => Effect.sync(() => void early.push(server.commit(1, 100)))
      const { handled, until } = yield* listen(server)
      const last = server.commit(2, 101)
      yield* until(last)
      assert.deepStrictEqual(handled, [...early, last])
    }),
  )
})

describe("listen continues", () => {
  it.effect("with all that was published while it was away, before the stream has sent an event", () =>
    Effect.gen(function* () {
      const server = new FakeServer()
      // More than a page, of which each is known or older than the page.
      for (let number = 2; number < 2 * PAGE; number++) server.commit(number + PAGE, 100 + number)
      const { handled, reconnect, until } = yield* listen(server)
      const away: Array<string> = []
      yield* reconnect(() => {
        for (let number = 0; number <= PAGE; number++)
          away.push(server.commit(1_000 + number, 1_000 + number))
      })
      yield* until(away.at(-1)!)
      assert.deepStrictEqual(handled, away)
      // Those were read from the list. One of an earlier transaction is still to come.
      const late = server.commit(999, 99)
      yield* until(late)
      assert.deepStrictEqual(handled, [...away, late])
      assert.deepStrictEqual(server.begins, [undefined, undefined])
    }),
  )

  it.effect("without repeating what it read from the list", () =>
    Effect.gen(function* () {
      const server = inOtherOrder()
      const { handled, reconnect, until } = yield* listen(server, ["invoice.paid"])
      const away: Array<string> = []
      yield* reconnect(() => {
        server.commit(3, 110, "invoice.created")
        away.push(server.commit(4, 111))
      })
      yield* until(away[0]!)
      yield* reconnect()
      const last = server.commit(5, 112)
      yield* until(last)
      assert.deepStrictEqual(handled, [...away, last])
    }),
  )

  it.effect("after the last event that the stream has sent", () =>
    Effect.gen(function* () {
      const server = inOtherOrder()
      const { handled, reconnect, until } = yield* listen(server)
      const first = server.commit(3, 110)
      yield* until(first)
      const away: Array<string> = []
      yield* reconnect(() => away.push(server.commit(5, 111), server.commit(4, 112)))
      yield* until(away[1]!)
      assert.deepStrictEqual(handled, [first, ...away])
      assert.deepStrictEqual(server.begins, [undefined, first])
    }),
  )

  it.effect("with new events when the last one is gone", () =>
    Effect.gen(function* () {
      const server = inOtherOrder()
      const { handled, reconnect, until } = yield* listen(server)
      const first = server.commit(3, 110)
      yield* until(first)
      yield* reconnect(() => {
        server.stored.splice(0)
        server.commit(4, 111)
      })
      const last = server.commit(5, 112)
      yield* until(last)
      assert.deepStrictEqual(handled, [first, last])
      assert.deepStrictEqual(server.begins, [undefined, first, undefined])
    }),
  )
})
