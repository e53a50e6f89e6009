/**
 * What each checker reports: takes a correct history and changes one thing in it.
 */
import { createHmac } from "node:crypto"
import { Tenant } from "@billwright/core"
import { assert, beforeAll, describe, it } from "vitest"
import { checkers, type Invariant, judge } from "../src/Checkers.ts"
import type { Answer, Call, History, OrderedEntry, Received, Stored } from "../src/History.ts"
import { simulate } from "../src/Simulation.ts"

type Forge = (history: History) => History

/** Changes the first element that it can. Throws if it can change none. */
const changeFirst = <A>(items: ReadonlyArray<A>, change: (item: A) => A | undefined): ReadonlyArray<A> => {
  for (const [index, item] of items.entries()) {
    const changed = change(item)
    if (changed !== undefined) return items.with(index, changed)
  }
  throw new Error("the history has nothing to change")
}

const calls =
  (change: (call: Call) => Call | undefined): Forge =>
  (history) => ({ ...history, calls: changeFirst(history.calls, change) })

const received =
  (change: (request: Received) => Received | undefined): Forge =>
  (history) => ({ ...history, received: changeFirst(history.received, change) })

const storage =
  (change: (entry: OrderedEntry) => OrderedEntry | undefined): Forge =>
  (history) => ({ ...history, storage: changeFirst(history.storage, change) })

const stored =
  <Table extends keyof Stored>(
    table: Table,
    change: (row: Stored[Table][number], history: History) => Stored[Table][number] | undefined,
  ): Forge =>
  (history) => {
    const rows: ReadonlyArray<Stored[Table][number]> = history.stored[table]
    const changed = changeFirst(rows, (row) => change(row, history))
    return { ...history, stored: { ...history.stored, [table]: changed } }
  }

/** Leaves out the last matching row of a table. */
const without =
  <Table extends keyof Stored>(table: Table, isIt: (row: Stored[Table][number]) => boolean): Forge =>
  (history) => {
    const rows: ReadonlyArray<Stored[Table][number]> = history.stored[table]
    const index = rows.findLastIndex(isIt)
    if (index === -1) throw new Error("the history has nothing to leave out")
    return { ...history, stored: { ...history.stored, [table]: rows.toSpliced(index, 1) } }
  }

/** Adds a changed copy of a row. */
const another =
  <Table extends keyof Stored>(
    table: Table,
    copy: (row: Stored[Table][number]) => Stored[Table][number] | undefined,
  ): Forge =>
  (history) => {
    const rows: ReadonlyArray<Stored[Table][number]> = history.stored[table]
    const made = rows.map(copy).find((row) => row !== undefined)
    if (made === undefined) throw new Error("the history has nothing to copy")
    return { ...history, stored: { ...history.stored, [table]: [...rows, made] } }
  }

const isDone = (answer: Answer) => answer._tag === "Done"

const isOfTransaction = ({ idempotencyKey }: { readonly idempotencyKey: string | null }): boolean =>
  idempotencyKey?.startsWith("m-") ?? false

const forgeries: ReadonlyArray<readonly [invariant: Invariant, what: string, forge: Forge]> = [
  ["I0", "something died", (history) => ({ ...history, defects: ["TypeError"] })],
  ["I1", "acknowledged usage is missing", without("records", () => true)],
  ["I1", "an acknowledged event is missing", without("events", ({ event }) => event.idempotencyKey !== null)],
  [
    "I1",
    "a record has another quantity",
    stored("records", (row) => ({ ...row, record: { ...row.record, quantity: row.record.quantity + 1 } })),
  ],
  [
    "I1",
    "a void is undone",
    stored("records", (row) =>
      row.record.voidedAt === null ? undefined : { ...row, record: { ...row.record, voidedAt: null } },
    ),
  ],
  [
    "I1",
    "an erased customer still has data",
    stored("customers", (row, { stored: { customers } }) =>
      row.customer === null
        ? { ...row, customer: customers.find(({ customer }) => customer !== null)!.customer }
        : undefined,
    ),
  ],
  [
    "I2",
    "there is a customer that no call created",
    another("customers", (row) =>
      row.customer === null ? undefined : { ...row, customer: { ...row.customer, name: "nobody" } },
    ),
  ],
  [
    "I2",
    "an event exists twice",
    another("events", (row) => (row.event.type === "usage.threshold" ? undefined : row)),
  ],
  ["I2", "there is a delivery that was not requested", deliveriesTenfold],
  [
    "I3",
    "a key has two records",
    another("records", (row) => (row.record.idempotencyKey === null ? undefined : row)),
  ],
  [
    "I3",
    "a record without a key exists twice",
    another("records", (row) => (row.record.idempotencyKey === null ? row : undefined)),
  ],
  [
    "I3",
    "a total was read too high",
    calls((call) =>
      call.ask._tag === "ReadTotal" && isDone(call.answer)
        ? { ...call, answer: { ...call.answer, total: 1_000_000n } as Answer }
        : undefined,
    ),
  ],
  [
    "I3",
    "a threshold did not fire",
    (history) => ({ ...history, stored: { ...history.stored, firings: [] } }),
  ],
  ["I4", "the event of a transaction is missing", without("events", ({ event }) => isOfTransaction(event))],
  [
    "I4",
    "the record of a transaction is missing",
    without("records", ({ record }) => isOfTransaction(record)),
  ],
  [
    "I4",
    "the event of a threshold is missing",
    without("events", ({ event }) => event.type === "usage.threshold"),
  ],
  [
    "I5",
    "an event has no deliveries",
    (history) => ({ ...history, stored: { ...history.stored, deliveries: [] } }),
  ],
  ["I5", "a delivery is Delivered that no receiver accepted", (history) => ({ ...history, received: [] })],
  [
    "I6",
    "a delivery that ended is pending again",
    (history) => ({
      ...history,
      stored: {
        ...history.stored,
        deliveries: history.stored.deliveries.map((row) => ({
          ...row,
          delivery: { ...row.delivery, status: "Pending", reason: null },
        })),
      },
    }),
  ],
  [
    "I6",
    "two attempts have the same number",
    stored("deliveries", (row) =>
      row.attempts.length < 2
        ? undefined
        : { ...row, attempts: row.attempts.with(1, { ...row.attempts[1]!, number: 1 }) },
    ),
  ],
  [
    "I6",
    "a delivery counts more attempts than it has",
    stored("deliveries", (row) => ({ ...row, delivery: { ...row.delivery, attemptCount: 9 } })),
  ],
  [
    "I7",
    "a result is written under a lease that was never given",
    storage((entry) =>
      entry._tag === "Settled" && entry.results[0]?.isWritten === true
        ? { ...entry, results: entry.results.with(0, { ...entry.results[0], token: "another" }) }
        : undefined,
    ),
  ],
  [
    "I8",
    "bytes of before an erasure were sent after it",
    (history) => {
      const id = history.received[0]!.headers["webhook-id"]!
      const redacted = stored("events", (row) => {
        if (row.event.id !== id) return undefined
        const payload = JSON.stringify({ ...(JSON.parse(row.event.payload) as object), redacted: true })
        return { ...row, event: { ...row.event, payload } }
      })(history)
      const entry: OrderedEntry = { _tag: "Redacted", tenant: "live:acme", eventIds: [id], order: 0 }
      return { ...redacted, storage: [entry, ...history.storage] }
    },
  ],
  ["I8", "other bytes were sent", received((request) => ({ ...request, body: `${request.body} ` }))],
  [
    "I8",
    "another id was sent",
    received((request) => ({ ...request, headers: { ...request.headers, "webhook-id": "evt_x" } })),
  ],
  [
    "I8",
    "a signature is wrong",
    received((request) => ({ ...request, headers: { ...request.headers, "webhook-signature": "v1,AAAA" } })),
  ],
  [
    "I8",
    "a timestamp is old",
    received((request) => ({ ...request, headers: { ...request.headers, "webhook-timestamp": "1" } })),
  ],
  [
    "I9",
    "a repeated request got a different answer",
    (history) => {
      const again = history.calls.find(({ answer, ask }) => ask._tag === "CreateCustomer" && isDone(answer))!
      const response = { status: 201, body: "{}", isReplay: true }
      return {
        ...history,
        calls: [...history.calls, { ...again, answer: { _tag: "Done", ids: [], response } }],
      }
    },
  ],
  [
    "I10",
    "a request was sent that has no attempt",
    (history) => ({
      ...history,
      received: [...history.received, ...history.received.filter(({ isCopy }) => !isCopy)],
    }),
  ],
  [
    "I11",
    "a request went to another tenant",
    (history) => {
      const live = history.received.find(({ body }) => body.includes('"livemode":true'))!
      return received((request) =>
        request.body.includes('"livemode":false') ? { ...request, url: live.url } : undefined,
      )(history)
    },
  ],
  [
    "I11",
    "a record belongs to another tenant's customer",
    stored("records", (row, { stored: all }) => {
      const other = all.customers.find(
        ({ tenant }) => Tenant.tenantKey(tenant) !== Tenant.tenantKey(row.tenant),
      )!
      return { ...row, record: { ...row.record, customerId: other.id as typeof row.record.customerId } }
    }),
  ],
  [
    "I11",
    "data of another tenant was shown",
    calls((call) =>
      call.ask._tag === "ReadForeign" ? { ...call, answer: { _tag: "Done", ids: [call.ask.id] } } : undefined,
    ),
  ],
  ["I12", "due work did not finish", (history) => ({ ...history, stuck: "there are pending deliveries" })],
  [
    "I12",
    "a delivery is pending",
    stored("deliveries", (row) => ({
      ...row,
      delivery: { ...row.delivery, status: "Pending", reason: null },
    })),
  ],
  [
    "I13",
    "a roll-up differs from its records",
    stored("rollups", (row) => ({ ...row, quantity: row.quantity + 1n })),
  ],
  [
    "I13",
    "the total that was read at the end differs",
    (history) => ({
      ...history,
      calls: history.calls.map((call) =>
        call.ask._tag === "ReadTotal" && call.answer._tag === "Done"
          ? { ...call, answer: { ...call.answer, total: call.answer.total! + 1n } }
          : call,
      ),
    }),
  ],
  ["I14", "a secret is in a log", (history) => ({ ...history, logs: [secretOf(history)] })],
  ["I14", "a secret is in an error", (history) => ({ ...history, errors: [`no ${secretOf(history)}`] })],
  [
    "I14",
    "a secret is in an attempt",
    (history) =>
      stored("deliveries", (row) =>
        row.attempts.length === 0
          ? undefined
          : {
              ...row,
              attempts: row.attempts.with(0, { ...row.attempts[0]!, responseBody: secretOf(history) }),
            },
      )(history),
  ],
]

function deliveriesTenfold(history: History): History {
  const { deliveries } = history.stored
  return {
    ...history,
    stored: { ...history.stored, deliveries: Array.from({ length: 30 }, () => deliveries).flat() },
  }
}

function secretOf({ calls: all }: History): string {
  return all.map(({ answer }) => (answer._tag === "Done" ? answer.secret : undefined)).find(Boolean)!
}

const NEW_SECRET = `whsec_${"A".repeat(32)}`

/** The id of the endpoint at a URL, as the call gave it that made the endpoint. */
const endpointAt = ({ calls: all }: History, url: string) => {
  const made = all.find(({ ask }) => ask._tag === "CreateEndpoint" && ask.url === url)!
  return { made, endpointId: made.answer._tag === "Done" ? made.answer.ids[0]! : "" }
}

/**
 * Whether the first request is the only one of its event to its endpoint, whose secret nobody rotates. A later request would be
 * signed at another time, and maybe with another secret.
 */
const isPlain = (history: History): boolean => {
  const [first] = history.received
  if (first === undefined) return false
  const isSame = (one: History["received"][number]) =>
    one.url === first.url && one.headers["webhook-id"] === first.headers["webhook-id"]
  const { endpointId } = endpointAt(history, first.url)
  const isRotated = history.calls.some(
    ({ ask }) => ask._tag === "RotateSecret" && ask.endpointId === endpointId,
  )
  return history.received.filter(isSame).length === 1 && !isRotated
}

/** A history with a rotation right before the claim of its first request. Its new secret signs nothing. */
const rotation = (histories: ReadonlyArray<History>) => {
  const history = histories.find(isPlain)!
  const { headers, url } = history.received[0]!
  const eventId = headers["webhook-id"]
  const { endpointId, made } = endpointAt(history, url)
  const isClaim = (entry: OrderedEntry) =>
    entry._tag === "Claimed" &&
    entry.deliveries.some((one) => one.eventId === eventId && one.endpointId === endpointId)
  const { order } = history.storage.find(isClaim)!
  const call: Call = {
    ...made,
    order: order - 0.2,
    endOrder: order - 0.1,
    ask: { _tag: "RotateSecret", endpointId, overlapSeconds: 1e9 },
    answer: { _tag: "Done", ids: [endpointId], secret: NEW_SECRET },
  }
  const problem = `a request of ${eventId} to ${url} is not signed with a secret that is in use`
  return {
    rotated: { ...history, calls: [...history.calls, call] },
    claimedBefore: storage((entry) => (isClaim(entry) ? { ...entry, since: order - 0.3 } : undefined)),
    signedAnew: received((request) => {
      const content = `${eventId}.${request.headers["webhook-timestamp"]}.${request.body}`
      const key = Buffer.from("A".repeat(32), "base64")
      const signature = `v1,${createHmac("sha256", key).update(content).digest("base64")}`
      return { ...request, headers: { ...request.headers, "webhook-signature": signature } }
    }),
    objections: (one: History) => checkers.I8(one).filter((text) => text === problem).length,
  }
}

/** Histories that together contain everything that the tests change. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

describe("a checker", () => {
  let histories: ReadonlyArray<History> = []
  beforeAll(async () => {
    const made: Array<History> = []
    for (const seed of SEEDS) made.push((await simulate({ seed })).history)
    histories = made
  })

  it("reports nothing for a correct history", () => {
    for (const history of histories) assert.deepStrictEqual(judge(history), [])
  })

  it.for(forgeries)("of %s reports that %s", ([invariant, , forge]) => {
    const objections = histories.map((history) => {
      try {
        return checkers[invariant](forge(history)).length
      } catch (error) {
        if (error instanceof Error && error.message.startsWith("the history has nothing")) return 0
        throw error
      }
    })
    assert.isAbove(Math.max(...objections), 0)
  })

  it("of I8 expects no signature by a secret that was made during a claim", () => {
    const { claimedBefore, objections, rotated } = rotation(histories)
    assert.isBelow(objections(claimedBefore(rotated)), objections(rotated))
  })

  it("of I8 expects no signature by a secret that ended by a clock that was set back during a rotation", () => {
    const { objections, rotated, signedAnew } = rotation(histories)
    const ended = (from: number, to: number) =>
      calls((call) =>
        call.ask._tag === "RotateSecret" && call.answer._tag === "Done" && call.answer.secret === NEW_SECRET
          ? { ...call, clock: [from, to], ask: { ...call.ask, overlapSeconds: 1 } }
          : undefined,
      )(signedAnew(rotated))
    const { sentAt } = rotated.received[0]!
    assert.isBelow(
      objections(ended(sentAt + 3_600_000, sentAt - 10_000)),
      objections(ended(sentAt + 3_600_000, sentAt + 3_600_000)),
    )
  })

  it("exists for every invariant, and a test above breaks each", () => {
    assert.sameMembers(Object.keys(checkers), [...new Set(forgeries.map(([invariant]) => invariant))])
  })
})
