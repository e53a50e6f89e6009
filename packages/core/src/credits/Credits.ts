/**
 * The use cases of credits.
 */
import {
  availableFor,
  consumeCredits,
  decimalsIn,
  grantAt,
  grantCredits,
  settleCredits,
  voidGrant,
} from "@billwright/engine"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { Trail } from "../audit/AuditTrail.ts"
import { type Kind, ObjectTrail } from "../audit/ObjectTrail.ts"
import { CreditSettings } from "../catalog/CreditSettings.ts"
import type { CustomerNotFound } from "../customers/Customer.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { traced } from "../shared/Operation.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import {
  type AccountBalance,
  AskBalance,
  ConsumeCredits,
  type Consumption,
  CONSUMPTION_ID_PREFIX,
  ConsumptionId,
  type CreditEntry,
  type CreditGrant,
  CreditGrantId,
  CreditGrantNotFound,
  type CreditKeyConflict,
  DEFAULT_PRIORITY,
  GRANT_ID_PREFIX,
  GrantCredits,
  InsufficientCredits,
  ListEntries,
  ListGrants,
  MAX_LIVE_GRANTS,
  type StoredGrant,
  toConsumption,
  toEntry,
  toGrant,
  TooManyCreditGrants,
} from "./Credit.ts"
import { balanceAfter, type CreditFailure, makeCreditBook, sameAs } from "./CreditBook.ts"
import { liveGrants } from "./LiveGrants.ts"

const decodeGrant = decoder(GrantCredits)
const decodeConsume = decoder(ConsumeCredits)
const decodeBalance = decoder(AskBalance)
const decodeListGrants = decoder(ListGrants)
const decodeListEntries = decoder(ListEntries)
const { knownId, orNotFound } = ById.make(Schema.is(CreditGrantId), (id) => new CreditGrantNotFound({ id }))

/** Grants, uses, reads and lists the credits of the current tenant. */
export class Credits extends Context.Service<
  Credits,
  {
    /**
     * Grants credits to a customer. A debt of the account is repaid first.
     *
     * With an `idempotencyKey`, the same grant again gives the first one, and other content fails with
     * `CreditKeyConflict`. Without one, it is granted twice.
     */
    readonly grant: (
      input: GrantCredits,
    ) => Effect.Effect<
      CreditGrant,
      InvalidInput | CustomerNotFound | CreditKeyConflict | TooManyCreditGrants | CreditFailure,
      CurrentTenant
    >

    /**
     * Uses credits: the whole amount, or nothing. Of any number of callers at once, those succeed for whom there is enough.
     * Grants with a scope are used only for a `purpose` in it.
     *
     * With an `idempotencyKey`, the same again uses nothing and gives the first answer, for ever. Other content fails with
     * `CreditKeyConflict`. A refusal is not kept: after it, the key is free.
     */
    readonly consume: (
      input: ConsumeCredits,
    ) => Effect.Effect<
      Consumption,
      InvalidInput | CustomerNotFound | CreditKeyConflict | InsufficientCredits | CreditFailure,
      CurrentTenant
    >

    /**
     * What a customer has of a unit now, for anything or for a `purpose`. All amounts are 0 if there were never credits. Waits
     * for nobody.
     */
    readonly balance: (
      input: AskBalance,
    ) => Effect.Effect<AccountBalance, InvalidInput | CustomerNotFound | CreditFailure, CurrentTenant>

    /** Its `available` is what is left now. What holds that have just lapsed give back counts from the account's next change. */
    readonly getGrant: (
      id: string,
    ) => Effect.Effect<CreditGrant, CreditGrantNotFound | CreditFailure, CurrentTenant>

    /** Newest first. */
    readonly listGrants: (
      query?: ListGrants,
    ) => Effect.Effect<Page<CreditGrant>, InvalidInput | CreditFailure, CurrentTenant>

    /**
     * Takes back what is left of a grant. What open holds keep of it stays held, and is gone when it is given back. Voiding
     * it again changes nothing. One that has expired stays: `ActionUnavailable`.
     */
    readonly voidGrant: (
      id: string,
    ) => Effect.Effect<
      CreditGrant,
      ActionUnavailable | CreditGrantNotFound | InvalidInput | CreditFailure,
      CurrentTenant
    >

    /** What changed accounts, newest first. What happens by the clock is there from the account's next change. */
    readonly listEntries: (
      query?: ListEntries,
    ) => Effect.Effect<Page<CreditEntry>, InvalidInput | CreditFailure, CurrentTenant>
  }
>()("@billwright/core/credits/Credits") {
  static readonly layer = Layer.effect(
    Credits,
    Effect.gen(function* () {
      const { holdCustomer, ids, port, requireAccount, requireCustomer, take, within, write } =
        yield* makeCreditBook

      const decimalsOf = decimalsIn(yield* CreditSettings)
      const grants = new ObjectTrail(yield* Trail, audited)

      const addGrant = Effect.fnUntraced(function* (input: GrantCredits) {
        const store = yield* port
        const key = { customerId: input.customerId, unit: input.unit }
        const now = yield* Clock.currentTimeMillis
        yield* holdCustomer(key)
        const ledger = yield* store.lock(key, now, "open")
        if (input.idempotencyKey !== undefined) {
          const earlier = yield* store.grantByKey(key, input.idempotencyKey)
          const known = yield* sameAs(earlier, (value) => isSameGrant(value, input))
          if (known !== undefined) return toGrant(known, now)
        }
        // Grants may have ended, and nothing has written it yet. They must not keep the account full.
        const live = liveGrants(ledger, now).filter(({ source }) => source === null)
        if (live.length >= MAX_LIVE_GRANTS) return yield* new TooManyCreditGrants()
        const grant = yield* newGrant(CreditGrantId.make(yield* ids.next(GRANT_ID_PREFIX)), input, now)
        yield* write(key, ledger, grantCredits(ledger, grant, now), { grants: [grant] })
        const made = toGrant(yield* orNotFound(yield* store.findGrant(grant.id), grant.id), now)
        yield* grants.note(grant.id, Option.none(), Option.some(made))
        return made
      })

      const grant = Effect.fn("Credits.grant")(function* (input: GrantCredits) {
        const decoded = yield* decodeGrant(input)
        return yield* Effect.catchTag(within(decoded, addGrant(decoded)), "CreditGrantNotFound", Effect.die)
      })

      const use = Effect.fnUntraced(function* (input: ConsumeCredits) {
        const { amount, customerId, unit } = input
        const { idempotencyKey = null, purpose = null } = input
        const store = yield* port
        const key = { customerId, unit }
        const now = yield* Clock.currentTimeMillis
        const ledger = yield* store.lock(key, now, "existing")
        if (idempotencyKey !== null) {
          const earlier = yield* store.consumptionByKey(key, idempotencyKey)
          const known = yield* sameAs(
            earlier,
            (value) => value.amount === amount && value.purpose === purpose,
          )
          if (known !== undefined) return toConsumption(known)
        }
        const id = ConsumptionId.make(yield* ids.next(CONSUMPTION_ID_PREFIX))
        const consumed = consumeCredits(ledger, { amount, purpose, consumptionId: id }, now)
        if (consumed.type === "insufficient") {
          // Of an erased customer nothing is left, so it comes here.
          yield* requireCustomer(key)
          return yield* new InsufficientCredits({ ...consumed, unit })
        }
        const consumption = { ...key, id, amount, purpose, idempotencyKey, createdAt: now }
        yield* write(key, ledger, consumed.change, { consumption })
        const balance = balanceAfter(ledger, consumed.change.account, consumption)
        return toConsumption({ ...consumption, balance })
      })

      const consume = traced(
        "Credits.consume",
        Effect.fnUntraced(function* (input: ConsumeCredits) {
          const decoded = yield* decodeConsume(input)
          const { amount, customerId, idempotencyKey = null, purpose = null, unit } = decoded
          const taken = yield* take({ customerId, unit, amount, purpose, idempotencyKey })
          return taken === undefined ? yield* within(decoded, use(decoded)) : toConsumption(taken)
        }),
      )

      const balance = Effect.fn("Credits.balance")(function* (input: AskBalance) {
        const store = yield* port
        const { purpose = null, ...key } = yield* decodeBalance(input)
        const now = yield* within(key, Clock.currentTimeMillis)
        const ledger = yield* store.read(key, now)
        yield* requireAccount(key, ledger)
        const { available: forAnything, debt, held, scoped, sequence } = settleCredits(ledger, now).account
        const available = availableFor(ledger, purpose, now)
        return {
          ...key,
          decimals: decimalsOf(key.unit),
          purpose,
          available,
          scoped: forAnything + scoped - available,
          held,
          debt,
          sequence,
        }
      })

      /** A grant in the time of its customer. */
      const seen = (stored: StoredGrant) =>
        within(
          stored,
          Effect.map(Clock.currentTimeMillis, (now) => toGrant(stored, now)),
        )

      const getGrant = Effect.fn("Credits.getGrant")(function* (id: string) {
        const store = yield* port
        return yield* seen(yield* orNotFound(yield* store.findGrant(yield* knownId(id)), id))
      })

      const listGrants = Effect.fn("Credits.listGrants")(function* (query: ListGrants = {}) {
        const store = yield* port
        const request = yield* decodeListGrants(query)
        const { data, hasMore } = yield* store
          .listGrants(filterOf(request), yield* toQuery(request))
          .pipe(nameCursor(request))
        return { data: yield* Effect.forEach(data, seen), hasMore }
      })

      const endGrant = Effect.fnUntraced(function* ({ customerId, id, unit }: StoredGrant) {
        const store = yield* port
        const key = { customerId, unit }
        const now = yield* Clock.currentTimeMillis
        const ledger = yield* store.lock(key, now, "existing")
        const stored = yield* orNotFound(yield* store.findGrant(id), id)
        if (stored.status === "voided") return toGrant(stored, now)
        const change = voidGrant(ledger, stored, now)
        if (change === undefined) {
          const { status } = grantAt(stored, now)
          const problem = `void is not possible: the credit grant is ${status}`
          return yield* new ActionUnavailable({ object: "credit grant", id, problem })
        }
        yield* write(key, ledger, change, { grants: [stored] })
        const ended = toGrant(yield* orNotFound(yield* store.findGrant(id), id), now)
        yield* grants.note(id, Option.some(toGrant(stored, now)), Option.some(ended))
        return ended
      })

      const voidOne = Effect.fn("Credits.voidGrant")(function* (id: string) {
        const store = yield* port
        const found = yield* orNotFound(yield* store.findGrant(yield* knownId(id)), id)
        return yield* within(found, endGrant(found))
      })

      const listEntries = Effect.fn("Credits.listEntries")(function* (query: ListEntries = {}) {
        const store = yield* port
        const request = yield* decodeListEntries(query)
        const { data, hasMore } = yield* store
          .listEntries(filterOf(request), yield* toQuery(request))
          .pipe(nameCursor(request))
        return { data: data.map(toEntry), hasMore }
      })

      return Credits.of({ grant, consume, balance, getGrant, listGrants, voidGrant: voidOne, listEntries })
    }),
  )
}

/** Whether two scopes have the same keys, in whatever order. */
const isSameScope = (a: StoredGrant["scope"], b: StoredGrant["scope"]): boolean =>
  a === null || b === null ? a === b : a.length === b.length && a.every((key) => b.includes(key))

/** What the audit log shows of a grant that somebody makes or voids. The ledger says how it is used. */
const audited: Kind<CreditGrant> = {
  object: "credit_grant",
  idOf: ({ id }) => id,
  view: (value) => value,
  hidden: [],
  ignored: ["available", "held", "idempotencyKey", "source", "steps"],
}

/** Whether a grant is what is asked for again. What was left to the defaults then may be left to them now. */
const isSameGrant = (
  { amount, effectiveAt, expiresAt, kind, priority, scope }: StoredGrant,
  asked: GrantCredits,
): boolean =>
  kind === asked.kind &&
  amount === asked.amount &&
  priority === (asked.priority ?? DEFAULT_PRIORITY) &&
  isSameScope(scope, asked.scope ?? null) &&
  effectiveAt === (asked.effectiveAt?.epochMilliseconds ?? effectiveAt) &&
  expiresAt === (asked.expiresAt?.epochMilliseconds ?? null)

const newGrant = (
  id: CreditGrantId,
  asked: GrantCredits,
  now: number,
): Effect.Effect<StoredGrant, InvalidInput> => {
  const { amount, customerId, kind, priority = DEFAULT_PRIORITY, scope = null, unit } = asked
  const idempotencyKey = asked.idempotencyKey ?? null
  const effectiveAt = asked.effectiveAt?.epochMilliseconds ?? now
  const expiresAt = asked.expiresAt?.epochMilliseconds ?? null
  if (expiresAt !== null && expiresAt <= Math.max(now, effectiveAt)) {
    const problem = "must be in the future, and after effectiveAt"
    return Effect.fail(new InvalidInput({ field: "expiresAt", problem }))
  }
  const left = { status: "pending", available: 0n, held: 0n } as const
  const terms = { kind, amount, priority, scope, effectiveAt, expiresAt }
  return Effect.succeed({
    id,
    customerId,
    unit,
    ...terms,
    ...left,
    rollover: null,
    source: null,
    steps: [],
    idempotencyKey,
    createdAt: now,
  })
}
