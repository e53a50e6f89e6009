/**
 * Bugs in what is sent, answered and shown, and to whom.
 */
import {
  CurrentTenant,
  DeliveryStore,
  EndpointStore,
  EventStore,
  IdempotencyStore,
  type Tenant,
} from "@billwright/core"
import { Effect, Option } from "effect"
import { change, mutation, otherId } from "./Mutation.ts"

export const contents = [
  mutation(
    "a replay changes the event's id",
    ["I8", "I2"],
    change(DeliveryStore, ({ claimDue, insert }) => {
      const replays = new Set<string>()
      return {
        insert: (replay) =>
          Effect.tap(insert(replay), (made) => Effect.sync(() => made.forEach(({ id }) => replays.add(id)))),
        claimDue: (claim) =>
          Effect.map(claimDue(claim), (claimed) => ({
            ...claimed,
            deliveries: claimed.deliveries.map((one) =>
              replays.has(one.id) ? { ...one, eventId: otherId(one.eventId) } : one,
            ),
          })),
      }
    }),
  ),
  mutation(
    "payloads are rendered again for each attempt",
    ["I8"],
    change(DeliveryStore, ({ claimDue }) => ({
      claimDue: (claim) =>
        Effect.map(claimDue(claim), (claimed) => ({
          ...claimed,
          deliveries: claimed.deliveries.map((one) =>
            one.attemptCount === 0
              ? one
              : { ...one, payload: JSON.stringify(JSON.parse(one.payload), null, 1) },
          ),
        })),
    })),
  ),
  mutation(
    "a rotation drops the old secret at once",
    ["I8"],
    change(EndpointStore, ({ modify }) => ({
      modify: (id, make) =>
        modify(id, (stored) =>
          Effect.map(make(stored), ({ endpoint, secrets }) => ({ endpoint, secrets: secrets.slice(0, 1) })),
        ),
    })),
  ),
  mutation(
    "old secrets sign for ever",
    ["I8"],
    change(DeliveryStore, ({ claimDue }) => ({
      claimDue: (claim) =>
        Effect.map(claimDue(claim), (claimed) => ({
          ...claimed,
          deliveries: claimed.deliveries.map((one) => ({
            ...one,
            endpoint: {
              ...one.endpoint,
              secrets: one.endpoint.secrets.map((secret) => ({ ...secret, expiresAt: null })),
            },
          })),
        })),
    })),
  ),
  mutation(
    "stored answers are not replayed",
    ["I2", "I9"],
    change(IdempotencyStore, ({ once }) => {
      let count = 0
      return {
        once: (request, lifetime, effect) =>
          once({ ...request, key: `${request.key}-${++count}` }, lifetime, effect),
      }
    }),
  ),
  mutation(
    "a repeated answer has other bytes",
    ["I9"],
    change(IdempotencyStore, ({ once }) => ({
      once: (request, lifetime, effect) =>
        Effect.map(once(request, lifetime, effect), (outcome) =>
          outcome._tag === "Replayed"
            ? { ...outcome, response: { ...outcome.response, body: `${outcome.response.body} ` } }
            : outcome,
        ),
    })),
  ),
]

const inMode =
  (mode: Tenant.Mode) =>
  <A, E, R>(effect: Effect.Effect<A, E, R | CurrentTenant>) =>
    Effect.flatMap(CurrentTenant, (tenant) =>
      Effect.provideService(effect, CurrentTenant, { ...tenant, mode }),
    )

export const boundaries = [
  mutation(
    "an event of test mode goes to a live endpoint",
    ["I11"],
    change(DeliveryStore, ({ claimDue }) => {
      let live: string | undefined
      return {
        claimDue: (claim) =>
          Effect.map(claimDue(claim), (claimed) => {
            for (const { endpoint, tenant } of claimed.deliveries)
              if (tenant.mode === "live") live = endpoint.url
            return {
              ...claimed,
              deliveries: claimed.deliveries.map((one) =>
                one.tenant.mode === "test" && live !== undefined && one.endpoint.status === "enabled"
                  ? { ...one, endpoint: { ...one.endpoint, url: live } }
                  : one,
              ),
            }
          }),
      }
    }),
  ),
  mutation(
    "events are visible in both modes",
    ["I11"],
    change(EventStore, ({ find }) => ({
      find: (id) =>
        Effect.flatMap(find(id), (found) =>
          Option.isSome(found) ? Effect.succeed(found) : inMode("live")(find(id)),
        ),
    })),
  ),
  mutation(
    "secrets are logged",
    ["I14"],
    change(EndpointStore, ({ insert }) => ({
      insert: (stored) =>
        Effect.andThen(Effect.logInfo("a new endpoint", stored.secrets[0]!.sealed), insert(stored)),
    })),
  ),
  mutation(
    "a deleted endpoint stays",
    ["I1"],
    change(EndpointStore, () => ({ delete: () => Effect.succeed(true) })),
  ),
]
