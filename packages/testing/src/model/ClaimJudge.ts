/**
 * Whether a claim obeys the rules. Which of several that are due at the same instant it takes is its own choice,
 * so its answer is judged, and the reference follows it.
 */
import type { Claim, ClaimedDelivery } from "@billwright/core"
import { assert } from "@effect/vitest"
import type { ReferenceDelivery } from "./ReferenceWebhooks.ts"

const dueAt = ({ delivery }: ReferenceDelivery): number => delivery.nextAttemptAt!.epochMilliseconds

/** A lost lease does not cost its delivery the place that it had. */
const placeOf = (row: ReferenceDelivery): number => row.lease?.dueAt.epochMilliseconds ?? dueAt(row)

const latest = (rows: ReadonlyArray<ReferenceDelivery>): number => Math.max(...rows.map(placeOf))

const sum = (counts: Iterable<number>): number => [...counts].reduce((a, b) => a + b, 0)

/** Fails when a claim should not have given what it gave, by what is pending of all tenants. */
export const judge = (
  claim: Claim,
  pending: ReadonlyArray<ReferenceDelivery>,
  claimed: ReadonlyArray<ClaimedDelivery>,
): void => {
  const due = pending.filter((row) => dueAt(row) <= claim.now.epochMilliseconds)
  const taken = claimed.map(({ id }) => {
    const row = due.find((other) => other.id === id)
    assert.isDefined(row, "a claimed delivery is due")
    return row
  })
  assert.strictEqual(new Set(taken).size, taken.length, "a delivery is claimed once")
  const instants = taken.map(dueAt)
  assert.deepStrictEqual(
    instants,
    instants.toSorted((a, b) => a - b),
    "the longest due comes first",
  )

  const byEndpoint = Map.groupBy(due, ({ delivery }) => delivery.endpointId)
  const allowed = new Map(
    Array.from(byEndpoint, ([id, rows]) => [
      id,
      Math.min(claim.limits.get(id) ?? claim.limitPerEndpoint, rows.length),
    ]),
  )
  assert.strictEqual(taken.length, Math.min(claim.limit, sum(allowed.values())), "as many as there may be")
  for (const [id, rows] of byEndpoint) {
    const own = rows.filter((row) => taken.includes(row))
    const left = rows.filter((row) => !taken.includes(row))
    const earliest = Math.min(...left.map(dueAt))
    assert.isAtMost(own.length, allowed.get(id)!, "within the limit of the endpoint")
    assert.isAtMost(latest(own), earliest, "the endpoint's longest due")
    if (own.length < allowed.get(id)!) {
      assert.isAtMost(latest(taken), earliest, "the longest due of all")
    }
  }
}
