/**
 * What must hold after every fault, checked by what receivers saw and what is stored.
 */
import { Id } from "@billwright/core"
import { assert } from "@effect/vitest"
import type { FaultyPostgres } from "../FaultyPostgres.ts"
import { isVerified, type Received, type Receiver } from "../Receiver.ts"
import type { Target, World } from "./World.ts"

interface StoredAttempt {
  readonly number: number
  readonly response_status: number | null
  readonly error: string | null
}

/** A stored delivery. */
export interface Stored {
  readonly id: string
  readonly eventId: string
  readonly payload: string | null
  readonly status: "Pending" | "Delivered" | "Failed"
  readonly reason: string | null
  readonly attemptCount: number
  readonly attempts: ReadonlyArray<StoredAttempt>
  /** Its whole row, for comparisons. */
  readonly row: string
}

/** All deliveries to an endpoint with their attempts, oldest first. */
export const stored = async (
  postgres: FaultyPostgres,
  { id }: Pick<Target, "id">,
): Promise<ReadonlyArray<Stored>> => {
  const rows = await postgres.query(`
    select d.id::text as id, d.event_id::text as event_id, d.status, d.reason, d.attempt_count::text as attempt_count,
      to_jsonb(d)::text as row, e.payload, coalesce((
        select json_agg(to_json(a) order by a.number) from billwright.webhook_attempts a
        where a.account_id = d.account_id and a.mode = d.mode and a.delivery_id = d.id
      ), '[]')::text as attempts
    from billwright.webhook_deliveries d
    left join billwright.events e on e.account_id = d.account_id and e.mode = d.mode and e.id = d.event_id
    where d.endpoint_id = '${Id.toUuid(id)}' order by d.id`)
  return rows.map((row) => ({
    id: Id.fromUuid("dlv", String(row["id"])),
    eventId: Id.fromUuid("evt", String(row["event_id"])),
    payload: row["payload"] as string | null,
    status: row["status"] as Stored["status"],
    reason: row["reason"] as string | null,
    attemptCount: Number(row["attempt_count"]),
    attempts: JSON.parse(String(row["attempts"])) as ReadonlyArray<StoredAttempt>,
    row: String(row["row"]),
  }))
}

/** I5: every event that was published for the endpoint has a delivery that ended. */
const endedAll = (deliveries: ReadonlyArray<Stored>, events: ReadonlyArray<string>): void => {
  const ended = deliveries.filter(({ status }) => status !== "Pending").map(({ eventId }) => eventId)
  assert.deepStrictEqual([...new Set(ended)].sort(), [...events].sort())
  assert.lengthOf(ended, deliveries.length, "something is pending")
}

const isSuccess = ({ response_status: status }: StoredAttempt): boolean =>
  status !== null && status >= 200 && status < 300

/** I6: attempts are numbered without gaps, and only the last attempt of a delivery delivers it. */
export const movedForward = (deliveries: ReadonlyArray<Stored>): void => {
  for (const { attemptCount, attempts, id, status } of deliveries) {
    const numbers = attempts.map(({ number }) => number)
    assert.deepStrictEqual(
      numbers,
      Array.from({ length: attemptCount }, (_, index) => index + 1),
      id,
    )
    const successes = attempts.filter(isSuccess).map(({ number }) => number)
    assert.deepStrictEqual(successes, status === "Delivered" ? [attemptCount] : [], id)
  }
}

const byEvent = (received: ReadonlyArray<Received>): ReadonlyMap<string, ReadonlyArray<Received>> =>
  Map.groupBy(received, ({ headers }) => headers["webhook-id"] ?? "")

/** I8: every request has the published id and bytes, and a valid, fresh signature. */
const saidTheSame = async (
  received: ReadonlyArray<Received>,
  deliveries: ReadonlyArray<Stored>,
  secrets: ReadonlyArray<string>,
): Promise<void> => {
  const payloads = new Map(deliveries.map(({ eventId, payload }) => [eventId, payload]))
  for (const [eventId, requests] of byEvent(received)) {
    for (const request of requests) {
      assert.strictEqual(request.body, payloads.get(eventId) ?? undefined, eventId)
      assert.isTrue(await isVerified(request, ...secrets), `the signature of ${eventId}`)
    }
  }
}

/** I10: there is an attempt for every request that a receiver saw, even in part. */
const recordedAll = (receiver: Receiver, path: string, deliveries: ReadonlyArray<Stored>): void => {
  const attempts = deliveries.reduce((sum, { attemptCount }) => sum + attemptCount, 0)
  assert.isAtMost(receiver.begun(path), attempts)
  for (const [eventId, requests] of byEvent(receiver.received(path))) {
    const own = deliveries.filter((delivery) => delivery.eventId === eventId)
    assert.isAtMost(
      requests.length,
      own.reduce((sum, { attemptCount }) => sum + attemptCount, 0),
      eventId,
    )
  }
}

/** I7: the stored rows are unchanged, byte for byte. */
export const unchanged = (after: ReadonlyArray<Stored>, before: ReadonlyArray<Stored>): void => {
  assert.deepStrictEqual(after, before)
}

/** Checks all of these for an endpoint that has no pending deliveries. Returns its deliveries. */
export const checkAll = async (
  { postgres, receiver }: World,
  target: Target,
  events: ReadonlyArray<string>,
): Promise<ReadonlyArray<Stored>> => {
  const deliveries = await stored(postgres, target)
  endedAll(deliveries, events)
  movedForward(deliveries)
  await saidTheSame(receiver.received(target.path), deliveries, target.secrets)
  recordedAll(receiver, target.path, deliveries)
  return deliveries
}

/** The result of each attempt of a delivery: a status or an error. */
export const outcomes = ({ attempts }: Stored): ReadonlyArray<number | string | null> =>
  attempts.map(({ error, response_status: status }) => status ?? error)

/** I1 to I14 hold for everything that has happened so far. */
export const holdsAll = async (world: World): Promise<void> => {
  assert.deepStrictEqual(await world.violations(), [])
}
