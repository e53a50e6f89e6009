/**
 * Bugs in which worker sends, and in the recorded results.
 */
import {
  type Claimed,
  type Delivery,
  type DeliveryMachine,
  DeliveryStore,
  type Settlement,
} from "@billwright/core"
import { DateTime, Effect } from "effect"
import { change, everyNth, mutation } from "./Mutation.ts"

export const fencing = [
  mutation(
    "the result under a stale lease is written",
    ["I6", "I7", "I10"],
    change(DeliveryStore, ({ claimDue, settle }) => {
      const latest = new Map<string, string>()
      return {
        claimDue: (claim) =>
          Effect.tap(claimDue(claim), ({ deliveries }) =>
            Effect.sync(() => deliveries.forEach(({ id, token }) => latest.set(id, token))),
          ),
        settle: (settlements) =>
          settle(settlements.map((one) => ({ ...one, token: latest.get(one.id) ?? one.token }))),
      }
    }),
  ),
  mutation(
    "two workers get the same delivery",
    ["I7", "I10"],
    change(DeliveryStore, ({ claimDue }) => {
      let before: Claimed["deliveries"] = []
      const isNow = everyNth(5)
      return {
        claimDue: (claim) =>
          Effect.map(claimDue(claim), (claimed) => {
            const deliveries = isNow() ? [...claimed.deliveries, ...before] : claimed.deliveries
            before = claimed.deliveries
            return { ...claimed, deliveries }
          }),
      }
    }),
  ),
  mutation(
    "a lease never ends",
    ["I12"],
    change(DeliveryStore, ({ claimDue }) => ({
      claimDue: (claim) => claimDue({ ...claim, leaseUntil: DateTime.add(claim.leaseUntil, { days: 365 }) }),
    })),
  ),
]

const attemptOf = (number: number, at: DateTime.Utc, status: number): Delivery.Attempt => ({
  number,
  startedAt: at,
  durationMillis: 1,
  requestHeaders: {},
  responseStatus: status,
  responseHeaders: {},
  responseBody: "",
  error: null,
})

const delivered = (settlement: Settlement): boolean => settlement.state.status === "Delivered"

export const results = [
  mutation(
    "the result is written before the request is sent",
    ["I5", "I10"],
    change(DeliveryStore, ({ claimDue, settle }) => ({
      claimDue: (claim) =>
        Effect.tap(claimDue(claim), ({ deliveries }) =>
          settle(
            deliveries.map(({ attemptCount, endpoint, id, tenant, token }) => ({
              tenant,
              id,
              endpointId: endpoint.id,
              token,
              at: claim.now,
              state: { status: "Delivered", attemptCount: attemptCount + 1 },
              attempt: attemptOf(attemptCount + 1, claim.now, 200),
            })),
          ),
        ),
    })),
  ),
  mutation(
    "a delivered event is sent again",
    ["I6"],
    change(DeliveryStore, ({ settle }) => ({
      settle: (settlements) =>
        settle(
          settlements.map((one) => {
            const { attemptCount } = one.state
            const dueAt = one.at.epochMilliseconds + 1_000
            const state: DeliveryMachine.DeliveryState = { status: "Pending", attemptCount, dueAt }
            return delivered(one) && attemptCount === 1 ? { ...one, state } : one
          }),
        ),
    })),
  ),
  mutation(
    "a lost attempt is not recorded",
    ["I10"],
    change(DeliveryStore, ({ claimDue, settle }) => {
      const leased = new Map<string, { readonly until: number; readonly released: Settlement }>()
      return {
        claimDue: (claim) =>
          Effect.gen(function* () {
            const now = claim.now.epochMilliseconds
            const ended = [...leased.values()].filter(({ until }) => until <= now)
            yield* settle(ended.map(({ released }) => released))
            const claimed = yield* claimDue(claim)
            for (const { attemptCount, endpoint, id, tenant, token } of claimed.deliveries) {
              const state = { status: "Pending" as const, attemptCount, dueAt: now }
              const base = { tenant, id, endpointId: endpoint.id, token, at: claim.now }
              const until = claim.leaseUntil.epochMilliseconds
              leased.set(id, { until, released: { ...base, state, attempt: undefined } })
            }
            return claimed
          }),
      }
    }),
  ),
  mutation(
    "the number of an attempt is used again",
    ["I6"],
    change(DeliveryStore, ({ settle }) => ({
      settle: (settlements) =>
        settle(
          settlements.map((one) => {
            const { attempt } = one
            return attempt === undefined || attempt.number === 1
              ? one
              : { ...one, attempt: { ...attempt, number: attempt.number - 1 } }
          }),
        ),
    })),
  ),
  mutation(
    "failed attempts are not stored",
    ["I6", "I10"],
    change(DeliveryStore, ({ settle }) => ({
      settle: (settlements) =>
        settle(settlements.map((one) => (delivered(one) ? one : { ...one, attempt: undefined }))),
    })),
  ),
]
