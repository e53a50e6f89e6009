/**
 * Storages of credits with one planted bug each: in what is read of an account, and in what is written of it.
 */
import { CreditStore, EventStore } from "@billwright/core"
import { Effect, Option } from "effect"
import type { CreditInvariant } from "../../src/credits/CreditCheckers.ts"
import type { CreditMutations } from "../../src/credits/CreditsWorld.ts"
import { change, everyNth } from "./Mutation.ts"

export interface CreditBug extends CreditMutations {
  readonly name: string
  /** The invariants that it breaks. At least one of them must fail. */
  readonly breaks: ReadonlyArray<CreditInvariant>
}

type Store = CreditStore["Service"]

const stored = (
  name: string,
  breaks: ReadonlyArray<CreditInvariant>,
  patch: (store: Store) => Partial<Store>,
): CreditBug => ({ name, breaks, breakStorage: change(CreditStore, patch) })

type Locked = Effect.Success<ReturnType<Store["lock"]>>
type Written = Parameters<Store["write"]>[1]

/** Reads every locked account otherwise. */
const locking =
  (changed: (ledger: Locked) => Locked) =>
  ({ lock }: Store): Partial<Store> => ({
    lock: (...input) => Effect.map(lock(...input), changed),
  })

/** Writes every change otherwise. */
const writing =
  (changed: (change: Written) => Written) =>
  ({ write }: Store): Partial<Store> => ({ write: (key, given) => write(key, changed(given)) })

const isOfKind =
  (...kinds: ReadonlyArray<string>) =>
  ({ kind }: { readonly kind: string }): boolean =>
    kinds.includes(kind)

export const credits: ReadonlyArray<CreditBug> = [
  stored("an account is not locked while it is changed", ["entries", "tokens"], ({ lock, read, write }) => {
    const seen = new Map<string, Locked>()
    const often = everyNth(3)
    const nameOf = (key: { customerId: string; unit: string }) => JSON.stringify([key.customerId, key.unit])
    return {
      lock: (key, now, mode) =>
        Effect.map(lock(key, now, mode), (ledger) => {
          const before = seen.get(nameOf(key))
          return before !== undefined && often() ? before : ledger
        }),
      write: (key, given) =>
        Effect.gen(function* () {
          seen.set(nameOf(key), yield* read(key, 0))
          yield* write(key, given)
        }),
    }
  }),
  stored(
    "grants are used in the order of their ids",
    ["tokens"],
    locking((ledger) => ({
      ...ledger,
      grants: ledger.grants.map((grant) => ({ ...grant, priority: 0, createdAt: 0 })),
    })),
  ),
  stored(
    "a hold never lapses",
    ["tokens"],
    locking((ledger) => ({ ...ledger, holds: [] })),
  ),
  stored(
    "grants that begin later are not looked at",
    ["tokens"],
    locking((ledger) => ({ ...ledger, grants: ledger.grants.filter(({ status }) => status !== "pending") })),
  ),
  stored("a key is forgotten", ["once", "tokens"], ({ write }) => ({
    consumptionByKey: () => Effect.succeed(Option.none()),
    write: (key, given) => {
      const { consumption } = given
      if (consumption === null) return write(key, given)
      const idempotencyKey = `${consumption.idempotencyKey} ${consumption.id}`
      return write(key, { ...given, consumption: { ...consumption, idempotencyKey } })
    },
  })),
  stored(
    "what a commit gives back has no entry",
    ["entries"],
    writing((given) => ({
      ...given,
      entries: given.entries.filter(
        ({ kind }) => !(kind === "release" && given.entries.some(isOfKind("commit"))),
      ),
    })),
  ),
  stored(
    "a commit keeps the hold open",
    ["entries", "once", "tokens"],
    writing((given) => ({
      ...given,
      holds: given.holds.map((hold) =>
        hold.status === "committed"
          ? { ...hold, status: "open" as const, committed: null, settledAt: null, isLate: false }
          : hold,
      ),
    })),
  ),
  stored("a consumption is answered and not stored", ["told"], ({ write }) => {
    const often = everyNth(4)
    return {
      write: (key, given) => (given.consumption !== null && often() ? Effect.void : write(key, given)),
    }
  }),
  {
    name: "an event of credits is not published",
    breaks: ["J10"],
    breakStorage: change(EventStore, ({ publish }) => {
      const often = everyNth(3)
      return {
        publish: (event) =>
          event.type.startsWith("credit.") && often()
            ? Effect.succeed({ _tag: "Published", event })
            : publish(event),
      }
    }),
  },
]
