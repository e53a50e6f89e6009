/**
 * Faults that an adapter could have in events, endpoints and deliveries.
 */
import {
  type Claimed,
  DeliveryStore,
  EndpointStore,
  EventStore,
  RetentionStore,
  type StorageError,
} from "@billwright/core"
import { DateTime, Effect, Option } from "effect"
import { change, type Fault, inTestMode } from "./BrokenStorage.ts"

const firstOnly = (claimed: Effect.Effect<Claimed, StorageError>) =>
  Effect.map(claimed, ({ deliveries, unreadable }) => ({ deliveries: deliveries.slice(0, 1), unreadable }))

export const webhookFaults: ReadonlyArray<Fault> = [
  [
    "idempotency keys of events are forgotten",
    change(EventStore, ({ publish }) => ({
      publish: (event) => publish({ ...event, idempotencyKey: null }),
    })),
    "both",
  ],
  [
    "a repeat of a key with other content is a duplicate",
    change(EventStore, ({ find, publish }) => ({
      publish: (event) =>
        Effect.flatMap(publish(event), (outcome) =>
          outcome._tag === "KeyConflict"
            ? Effect.map(find(outcome.eventId), (first) => ({
                _tag: "Duplicate" as const,
                event: Option.getOrThrow(first),
              }))
            : Effect.succeed(outcome),
        ),
    })),
    "both",
  ],
  [
    "events are published for customers that do not exist",
    change(EventStore, ({ publish }) => ({
      publish: (event) => publish({ ...event, customerId: null }),
    })),
    "both",
  ],
  [
    "an event for one endpoint goes to all endpoints",
    change(EventStore, ({ publish }) => ({
      publish: (event) => publish({ ...event, endpointId: null }),
    })),
    "both",
  ],
  [
    "an event forgets the endpoint that it was made for",
    change(EventStore, ({ find }) => ({
      find: (id) =>
        Effect.map(
          find(id),
          Option.map((event) => ({ ...event, endpointId: null })),
        ),
    })),
    "both",
  ],
  ["events are never redacted", change(EventStore, () => ({ redact: () => Effect.undefined })), "contract"],
  [
    "the first step of a redaction is the last",
    change(EventStore, ({ redact }) => ({
      redact: (step, redacted) => Effect.as(redact(step, redacted), undefined),
    })),
    "contract",
  ],
  [
    "payloads are serialized again",
    change(EventStore, ({ publish }) => ({
      publish: (event) => publish({ ...event, payload: JSON.stringify(JSON.parse(event.payload)) }),
    })),
    "contract",
  ],
  [
    "events are shared by live and test mode",
    change(EventStore, ({ find }) => ({ find: (id) => inTestMode(find(id)) })),
    "both",
  ],
  [
    "a time range includes its end",
    change(EventStore, ({ list }) => ({
      list: (filter, page) => {
        const end = filter.createdBefore
        const createdBefore = end && { ...end, epochMilliseconds: end.epochMilliseconds + 1 }
        return list({ ...filter, createdBefore }, page)
      },
    })),
    "both",
  ],
  [
    "the tail repeats its last event",
    change(EventStore, ({ tail, tailPosition }) => ({
      tail: (position, types, limit) =>
        Effect.flatMap(tail(position, types, limit), (step) =>
          step.events.length < 2
            ? Effect.succeed(step)
            : Effect.map(tailPosition(step.events.at(-2)!.id), (behind) => ({
                events: step.events,
                position: Option.getOrThrow(behind),
              })),
        ),
    })),
    "both",
  ],
  [
    "the tail skips what did not fit in a step",
    change(EventStore, ({ tail, tailPosition }) => ({
      tail: (position, types, limit) =>
        Effect.flatMap(tail(position, types, limit), ({ events }) =>
          Effect.map(tailPosition(undefined), (end) => ({ events, position: Option.getOrThrow(end) })),
        ),
    })),
    "contract",
  ],
  [
    "commits are never signalled",
    change(EventStore, () => ({ committed: Effect.succeed(Effect.never) })),
    "contract",
  ],
  [
    "the number of endpoints is unlimited",
    change(EndpointStore, ({ insert }) => ({ insert: (stored) => Effect.as(insert(stored), true) })),
    "contract",
  ],
  [
    "changes of an endpoint are lost when there are several at once",
    change(EndpointStore, ({ modify }) => ({
      modify: (id, make) =>
        Effect.flatMap(
          modify(id, (stored) => Effect.succeed(stored)),
          (found) =>
            Option.isNone(found)
              ? Effect.succeed(found)
              : Effect.flatMap(make(found.value), (changed) => modify(id, () => Effect.succeed(changed))),
        ),
    })),
    "contract",
  ],
  ["a deleted endpoint stays", change(EndpointStore, () => ({ delete: () => Effect.succeed(true) })), "both"],
  [
    "only one tenant's endpoints are found for re-encryption",
    change(EndpointStore, ({ listSealedByOtherKeys }) => ({
      listSealedByOtherKeys: (keyIds, page) =>
        Effect.map(listSealedByOtherKeys(keyIds, page), (found) =>
          found.filter(({ tenant }) => tenant.mode === "live"),
        ),
    })),
    "contract",
  ],
  [
    "each page of endpoints for re-encryption is the first one",
    change(EndpointStore, ({ listSealedByOtherKeys }) => ({
      listSealedByOtherKeys: (keyIds, { limit, now }) =>
        listSealedByOtherKeys(keyIds, { limit, now, after: undefined }),
    })),
    "contract",
  ],
  [
    "expired secrets are found for re-encryption",
    change(EndpointStore, ({ listSealedByOtherKeys }) => ({
      listSealedByOtherKeys: (keyIds, page) =>
        listSealedByOtherKeys(keyIds, { ...page, now: DateTime.makeUnsafe(0) }),
    })),
    "contract",
  ],
  [
    "a claim takes at most one delivery",
    change(DeliveryStore, ({ claimDue }) => ({ claimDue: (claim) => firstOnly(claimDue(claim)) })),
    "both",
  ],
  [
    "a claim ignores the limits of endpoints",
    change(DeliveryStore, ({ claimDue }) => ({
      claimDue: (claim) => claimDue({ ...claim, limits: new Map(), limitPerEndpoint: claim.limit }),
    })),
    "both",
  ],
  [
    "a claim ignores the limits of tenants",
    change(DeliveryStore, ({ claimDue }) => ({
      claimDue: (claim) => claimDue({ ...claim, tenantLimits: [] }),
    })),
    "both",
  ],
  [
    "a claim does not report lost attempts",
    change(DeliveryStore, ({ claimDue }) => ({
      claimDue: (claim) =>
        Effect.map(claimDue(claim), ({ deliveries, unreadable }) => ({
          deliveries: deliveries.map((claimed) => ({ ...claimed, wasLost: false })),
          unreadable,
        })),
    })),
    "both",
  ],
  [
    "a result under a stale lease is reported as written",
    change(DeliveryStore, ({ settle }) => ({
      settle: (settlements) =>
        Effect.as(
          settle(settlements),
          settlements.map(() => true),
        ),
    })),
    "both",
  ],
  [
    "attempts are not stored",
    change(DeliveryStore, ({ find }) => ({
      find: (id) =>
        Effect.map(
          find(id),
          Option.map((found) => ({ ...found, attempts: [] })),
        ),
    })),
    "both",
  ],
  [
    "a running attempt does not show",
    change(DeliveryStore, ({ find }) => ({
      find: (id) =>
        Effect.map(
          find(id),
          Option.map((found) => ({ ...found, attemptStartedAt: null })),
        ),
    })),
    "both",
  ],
  ["nothing is cancelled", change(DeliveryStore, () => ({ cancel: () => Effect.succeed(0) })), "both"],
  [
    "a replay of a range stops at the limit",
    change(DeliveryStore, ({ replayRange }) => ({
      replayRange: (range) =>
        Effect.map(replayRange({ ...range, limit: 1_000 }), (count) => Math.min(count, range.limit + 1)),
    })),
    "contract",
  ],
  [
    "a dry run of a replay creates deliveries",
    change(DeliveryStore, ({ replayRange }) => ({
      replayRange: (range) => replayRange({ ...range, isDryRun: false }),
    })),
    "both",
  ],
  [
    "deliveries that failed are counted as pending",
    change(DeliveryStore, ({ countByStatus }) => ({
      countByStatus: (eventIds) =>
        Effect.map(countByStatus(eventIds), (all) =>
          all.map(({ delivered, failed, pending }) => ({ pending: pending + failed, delivered, failed: 0 })),
        ),
    })),
    "both",
  ],
  [
    "a replay of failures includes events that did not fail",
    change(DeliveryStore, ({ replayRange }) => ({
      replayRange: (range) => replayRange({ ...range, onlyFailed: false }),
    })),
    "both",
  ],
  [
    "pruning removes newer events, too",
    change(RetentionStore, ({ pruneEvents }) => ({
      pruneEvents: (step) => pruneEvents({ ...step, before: DateTime.add(step.before, { days: 1 }) }),
    })),
    "contract",
  ],
  [
    "a dry run of pruning removes rows",
    change(RetentionStore, ({ pruneEvents }) => ({
      pruneEvents: (step) => pruneEvents({ ...step, isDryRun: false }),
    })),
    "contract",
  ],
  [
    "there is never a next due time",
    change(DeliveryStore, () => ({ nextDueAt: Effect.succeed(Option.none()) })),
    "both",
  ],
]
