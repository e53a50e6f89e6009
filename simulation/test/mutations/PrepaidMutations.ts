/**
 * Rules and storages of prepaid credits with one planted bug each.
 */
import {
  Credit,
  CreditStore,
  DueStore,
  EventStore,
  Id,
  InvoiceStore,
  RateCard,
  TokenUsage,
  TopUp,
  Transactor,
} from "@billwright/core"
import { Context, Effect, Option } from "effect"
import type { PaymentMutations } from "../../src/payments/Collecting.ts"
import type { PrepaidInvariant } from "../../src/prepaid/PrepaidCheckers.ts"
import type { Ports } from "../../src/world/Observer.ts"
import { change, changeValues, everyNth } from "./Mutation.ts"

export interface PrepaidBug extends PaymentMutations {
  readonly name: string
  /** The invariants that it breaks. At least one of them must fail. */
  readonly breaks: ReadonlyArray<PrepaidInvariant>
}

type Store = CreditStore["Service"]
type Written = Parameters<Store["write"]>[1]
type Grant = Credit.StoredGrant
type Kind = Credit.StoredEntry["kind"]

const stored = (
  name: string,
  breaks: ReadonlyArray<PrepaidInvariant>,
  breakStorage: PaymentMutations["breakStorage"] & {},
): PrepaidBug => ({ name, breaks, breakStorage })

/** The rules see grants otherwise than they are. */
const seeing = (changed: (grant: Grant) => Grant) =>
  change(CreditStore, ({ lock }) => ({
    lock: (...input) =>
      Effect.map(lock(...input), (ledger) => ({ ...ledger, grants: ledger.grants.map(changed) })),
  }))

/** Changes are stored otherwise than they were made. */
const writing = (changed: (given: Written) => Written) =>
  change(CreditStore, ({ write }) => ({ write: (key, given) => write(key, changed(given)) }))

const has =
  (kind: Kind) =>
  ({ entries }: Written): boolean =>
    entries.some((entry) => entry.kind === kind)

/** Changes of a kind are not stored at all. */
const losing = (kind: Kind) =>
  change(CreditStore, ({ write }) => ({
    write: (key, given) => (has(kind)(given) ? Effect.void : write(key, given)),
  }))

/** Top-ups are listed otherwise than they are. */
const listing = (isSeen: (topUp: TopUp.TopUp) => boolean) =>
  changeValues<TopUp.TopUp>(TopUp.topUps.type, ({ list }) => ({
    list: (filter, page) =>
      Effect.map(list(filter, page), ({ data, hasMore }) => ({ data: data.filter(isSeen), hasMore })),
  }))

/** The entries of expiries that rules read are otherwise than they are. */
const expiring = (seen: (entry: Credit.StoredEntry) => ReadonlyArray<Credit.StoredEntry>) =>
  change(CreditStore, ({ listEntries }) => ({
    listEntries: (filter, query) =>
      Effect.map(listEntries(filter, query), (page) =>
        filter.kind === "expire" ? { ...page, data: page.data.flatMap(seen) } : page,
      ),
  }))

const tokenUsages = (patch: Parameters<typeof changeValues<TokenUsage.TokenUsage>>[1]) =>
  changeValues<TokenUsage.TokenUsage>(TokenUsage.tokenUsages.type, patch)

const unrated = (usage: TokenUsage.TokenUsage): TokenUsage.TokenUsage =>
  usage.status === "rated" ? { ...usage, status: "unrated" } : usage

/** Events whose type has a beginning are not published, some or all. */
const silent = (beginning: string, often = () => true) =>
  change(EventStore, ({ publish }) => ({
    publish: (event) =>
      event.type.startsWith(beginning) && often()
        ? Effect.succeed({ _tag: "Published", event })
        : publish(event),
  }))

/** An unused id of an entry, derived from another one. */
const otherEntry = (id: Credit.CreditEntryId): Credit.CreditEntryId =>
  Credit.CreditEntryId.make(Id.offset(Credit.ENTRY_ID_PREFIX, id, 2 ** 40), { disableChecks: true })

const withoutSource =
  (type: NonNullable<Grant["source"]>["type"]) =>
  (grant: Grant): Grant =>
    grant.source?.type === type ? { ...grant, source: null } : grant

/** The grants of top-ups are written again when their transaction was rolled back, because its outcome was not known. */
const grantedAgain = (ports: Ports): Ports => {
  const store = Context.get(ports, CreditStore)
  const transactor = Context.get(ports, Transactor)
  let last: Effect.Effect<unknown, unknown> = Effect.void
  return ports.pipe(
    Context.add(CreditStore, {
      ...store,
      write: (key, given) =>
        Effect.gen(function* () {
          const context = yield* Effect.context()
          const grants = given.grants.map(withoutSource("invoice"))
          const write = store.write(key, { ...given, grants })
          if (given.grants.some(({ source }) => source?.type === "invoice")) {
            last = Effect.provideContext(write, context as Context.Context<never>) as typeof last
          }
          yield* write
        }),
    }),
    Context.add(Transactor, {
      ...transactor,
      atomically: (effect) =>
        Effect.gen(function* () {
          if (yield* transactor.inTransaction) return yield* transactor.atomically(effect)
          last = Effect.void
          return yield* Effect.onError(transactor.atomically(effect), () => Effect.ignore(last))
        }),
    }),
  )
}

export const prepaid: ReadonlyArray<PrepaidBug> = [
  stored(
    "a change of plan does not find the grant of the period, and gives another one",
    ["plans"],
    change(CreditStore, ({ lock, write }) => ({
      lock: (...input) =>
        Effect.map(lock(...input), (ledger) => ({
          ...ledger,
          grants: ledger.grants.map(withoutSource("subscription")),
        })),
      grantOfSource: () => Effect.succeed(Option.none()),
      write: (key, given) =>
        write(key, { ...given, grants: given.grants.map(withoutSource("subscription")) }),
    })),
  ),
  stored(
    "a change of plan forgets what was used of the grant",
    ["units"],
    seeing((grant) => (grant.kind === "plan" ? { ...grant, amount: grant.available + grant.held } : grant)),
  ),
  stored(
    "more rolls over than may",
    ["ends"],
    seeing((grant) =>
      grant.rollover === null
        ? grant
        : { ...grant, rollover: { ...grant.rollover, maximum: grant.rollover.maximum + 5n } },
    ),
  ),
  stored(
    "what a hold gives back to a grant that has ended can be used again",
    ["ends"],
    seeing((grant) =>
      grant.status === "expired" ? { ...grant, status: "active", expiresAt: null, rollover: null } : grant,
    ),
  ),
  stored("a top-up gives its credits again after a lost answer", ["origins"], grantedAgain),
  {
    name: "a top-up gives its credits while the bank still works on its payment",
    breaks: ["paid", "J6"],
    breakProvider: (provider) => ({
      ...provider,
      readPayment: (reference) =>
        Effect.map(provider.readPayment(reference), (read) =>
          read.status === "processing" ? ({ status: "succeeded" } as const) : read,
        ),
    }),
  },
  stored(
    "a top-up that was paid is stored as canceled",
    ["paid"],
    changeValues<TopUp.TopUp>(TopUp.topUps.type, ({ modify }) => ({
      modify: (id, by) =>
        modify(id, (value) =>
          Effect.map(by(value), (topUp) => ({ ...topUp, status: "canceled", grantId: null })),
        ),
    })),
  ),
  stored(
    "a runner does not see what others have bought today",
    ["daily"],
    listing(() => false),
  ),
  stored(
    "an automatic top-up does not wait for the payment of the last one",
    ["daily"],
    listing(({ status }) => status !== "pending"),
  ),
  stored(
    "an automatic top-up is never looked at again",
    ["bought"],
    change(DueStore, ({ schedule }) => ({
      schedule: (subject, at) =>
        subject.kind === "auto_top_up" && at !== null ? Effect.void : schedule(subject, at),
    })),
  ),
  stored(
    "what a void invoice gives back is written twice",
    ["units", "invoices", "entries"],
    writing((given) => ({
      ...given,
      entries: given.entries.flatMap((entry) =>
        entry.kind === "restore" ? [entry, { ...entry, id: otherEntry(entry.id) }] : [entry],
      ),
    })),
  ),
  stored("a void invoice keeps the credits that it used", ["invoices"], losing("restore")),
  stored("an invoice states credits that it does not use", ["invoices"], losing("apply")),
  stored(
    "a customer who is erased keeps the credits",
    ["erased"],
    change(CreditStore, () => ({ unitsOf: () => Effect.succeed([]) })),
  ),
  stored(
    "what a plan grants more has no entry",
    ["entries", "units"],
    writing((given) => ({ ...given, entries: given.entries.filter(({ kind }) => kind !== "adjust") })),
  ),
  stored(
    "a commit is stored with less than it used",
    ["once"],
    writing((given) => ({
      ...given,
      holds: given.holds.map((hold) =>
        hold.committed === null || hold.committed === 0n ? hold : { ...hold, committed: hold.committed - 1n },
      ),
    })),
  ),
  stored("an invoice states that usage burns credits, and does not burn them", ["burns"], losing("burn")),
  stored(
    "a void invoice keeps what its usage burnt",
    ["burns"],
    change(CreditStore, ({ write }) => ({
      write: (key, given) =>
        key.unit === "token" && has("restore")(given) ? Effect.void : write(key, given),
    })),
  ),
  stored(
    "usage owes what went unused of the grants of its period",
    ["units"],
    expiring(() => []),
  ),
  stored(
    "what went unused is burnt by each invoice that is late",
    ["units"],
    expiring((entry) => (entry.available > 0n ? [] : [entry])),
  ),
  stored(
    "what a hold gives back to a grant that has ended is burnt",
    ["units"],
    expiring((entry) => [{ ...entry, holdId: null }]),
  ),
  stored(
    "late usage is burnt by each invoice after it",
    ["usage"],
    change(InvoiceStore, ({ billedLines }) => ({
      billedLines: (...input) =>
        Effect.map(billedLines(...input), (all) =>
          all.filter(({ line }) => (line.origin?.burns ?? null) === null || line.kind !== "adjustment"),
        ),
    })),
  ),
  stored(
    "tokens without a price are recorded as free",
    ["tokens"],
    tokenUsages(({ insert }) => ({
      insert: (usage) =>
        insert(usage.status === "rated" ? usage : { ...usage, status: "rated", amount: 0n, exact: "0" }),
    })),
  ),
  stored(
    "tokens are priced by other terms than those of their version",
    ["tokens"],
    changeValues<RateCard.RateCard>(RateCard.rateCards.type, ({ list }) => ({
      list: (filter, page) =>
        Effect.map(list(filter, page), ({ data, hasMore }) => ({
          data: data.map((card) => ("status" in filter ? { ...card, markup: "50" } : card)),
          hasMore,
        })),
    })),
  ),
  stored(
    "what is rated already is charged again",
    ["tokens", "once"],
    tokenUsages(({ find, modify }) => ({
      find: (id) => Effect.map(find(id), Option.map(unrated)),
      modify: (id, by) => modify(id, (usage) => by(unrated(usage))),
    })),
  ),
  stored(
    "a call that is made twice is charged twice",
    ["recorded"],
    tokenUsages(({ list }) => ({
      list: (filter, page) =>
        "idempotencyKey" in filter ? Effect.succeed({ data: [], hasMore: false }) : list(filter, page),
    })),
  ),
  stored("that tokens have no price is not published", ["unrated"], silent("usage.unrated")),
  stored("an alert does not fire", ["alerts"], silent("credit.low", everyNth(3))),
  stored("that a plan grants more is not published", ["J10"], silent("credit.adjusted")),
]
