/**
 * Checks that a claim follows the rules. A storage may choose among deliveries that are due at the same instant. So
 * the claim's result is checked, and the reference then takes over that result.
 */
import { type Claim, type ClaimedDelivery, Tenant } from "@billwright/core"
import { assert } from "@effect/vitest"
import type { ReferenceDelivery } from "./ReferenceWebhooks.ts"

const dueAt = ({ delivery }: ReferenceDelivery): number => delivery.nextAttemptAt!.epochMilliseconds

/** A delivery keeps its turn when its lease is lost. */
const dueOf = (row: ReferenceDelivery): number => row.lease?.dueAt.epochMilliseconds ?? dueAt(row)

const latest = (rows: ReadonlyArray<ReferenceDelivery>): number => Math.max(...rows.map(dueOf))

const sum = (counts: Iterable<number>): number => [...counts].reduce((a, b) => a + b, 0)

/** The pending deliveries of one tenant. */
export interface PendingOfTenant {
  readonly tenant: Tenant.Tenant
  readonly pending: ReadonlyArray<ReferenceDelivery>
}

/** What a claim took of one tenant, and what it could have taken. */
interface Share {
  readonly taken: ReadonlyArray<ReferenceDelivery>
  readonly most: number
  /** The earliest due time of the deliveries that it left although their endpoint had not reached its limit. */
  readonly nextDueAt: number
}

const shareOf = (
  claim: Claim,
  { pending, tenant }: PendingOfTenant,
  claimed: ReadonlyArray<ReferenceDelivery>,
): Share => {
  const due = pending.filter((row) => dueAt(row) <= claim.now.epochMilliseconds)
  const taken = due.filter((row) => claimed.includes(row))
  let most = 0
  let nextDueAt = Infinity
  for (const [id, rows] of Map.groupBy(due, ({ delivery }) => delivery.endpointId)) {
    const own = rows.filter((row) => taken.includes(row))
    const left = rows.filter((row) => !taken.includes(row))
    const allowed = Math.min(claim.limits.get(id) ?? claim.limitPerEndpoint, rows.length)
    most += allowed
    const earliest = Math.min(...left.map(dueAt))
    assert.isAtMost(own.length, allowed, "a claim respects the limit of the endpoint")
    assert.isAtMost(latest(own), earliest, "a claim takes the endpoint's deliveries that are due longest")
    if (own.length < allowed) nextDueAt = Math.min(nextDueAt, earliest)
  }
  const own = claim.tenantLimits.find((one) => Tenant.tenantKey(one.tenant) === Tenant.tenantKey(tenant))
  return { taken, most: Math.min(most, own?.limit ?? Infinity), nextDueAt }
}

/** Fails if a claim's result breaks a rule, given the pending deliveries of all tenants. */
export const judge = (
  claim: Claim,
  tenants: ReadonlyArray<PendingOfTenant>,
  claimed: ReadonlyArray<ClaimedDelivery>,
): void => {
  const pending = tenants.flatMap((one) => one.pending)
  const taken = claimed.map(({ id }) => {
    const row = pending.find((other) => other.id === id)
    assert.isTrue(row !== undefined && dueAt(row) <= claim.now.epochMilliseconds, "a claimed delivery is due")
    return row!
  })
  assert.strictEqual(new Set(taken).size, taken.length, "a delivery is claimed once")
  const instants = taken.map(dueAt)
  assert.deepStrictEqual(
    instants,
    instants.toSorted((a, b) => a - b),
    "the delivery that is due longest comes first",
  )
  const shares = tenants.map((one) => shareOf(claim, one, taken))
  const most = sum(shares.map((share) => share.most))
  assert.strictEqual(taken.length, Math.min(claim.limit, most), "a claim takes as many as its limits allow")
  for (const share of shares) {
    assert.isAtMost(share.taken.length, share.most, "a claim respects the limit of the tenant")
    if (share.taken.length === share.most) continue
    assert.isAtMost(
      latest(share.taken),
      share.nextDueAt,
      "a claim takes the tenant's deliveries that are due longest",
    )
    for (const other of shares) {
      assert.isAtMost(other.taken.length, share.taken.length + 1, "tenants take turns")
      if (other.taken.length > share.taken.length) {
        assert.isAtMost(
          latest(other.taken),
          share.nextDueAt,
          "the last turns go to the deliveries that are due longest",
        )
      }
    }
  }
}
