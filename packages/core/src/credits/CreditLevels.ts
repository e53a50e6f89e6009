/**
 * The levels that are watched of an account: those of its alerts and of its automatic top-up. The account keeps a copy of them, so that a change of
 * credits knows without a look-up whether it may cross one.
 */
import { type CreditAccount, type CreditChange, type CreditGrant, fallsBelow } from "@billwright/engine"
import { Effect } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import { Outbox } from "../events/Outbox.ts"
import { Collections } from "../shared/Collections.ts"
import { autoTopUps, MAX_AUTO_TOP_UPS } from "./AutoTopUp.ts"
import type { AccountKey } from "./Credit.ts"
import { type CreditAlert, creditAlerts, MAX_CREDIT_ALERTS } from "./CreditAlert.ts"
import { type CreditEvent, lowOf } from "./CreditEvents.ts"
import type { CreditStore, StoredLedger } from "./CreditStore.ts"
import { TopUpQueue } from "./TopUpQueue.ts"

/**
 * Whether credits end some time that a change has made or brought back. Of all that had something left before, and end as they
 * would have ended, somebody knows it already.
 */
const endsAnew = ({ grants: known }: StoredLedger, grant: CreditGrant): boolean => {
  const { available, expiresAt, id, status } = grant
  if (expiresAt === null || (status !== "pending" && available === 0n)) return false
  const before = known.find((one) => one.id === id)
  const hadAny = before !== undefined && (before.available > 0n || before.held > 0n)
  return !hadAny || before.expiresAt !== expiresAt
}

/** Gives what reads and fires the alerts of accounts of the current tenant. */
export const makeCreditLevels = Effect.gen(function* () {
  const alerts = (yield* Collections).of(creditAlerts)
  const autos = (yield* Collections).of(autoTopUps)
  const outbox = yield* Outbox
  const { lookAt } = yield* TopUpQueue

  /** The alerts of a customer, newest first. */
  const ofCustomer = (customerId: CustomerId) =>
    alerts
      .list({ customerId }, { limit: MAX_CREDIT_ALERTS, cursor: undefined })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))

  const ofAccount = ({ customerId, unit }: AccountKey) =>
    Effect.map(ofCustomer(customerId), ({ data }) => data.filter((alert) => alert.unit === unit))

  const autosOf = ({ customerId, unit }: AccountKey) =>
    autos.list({ customerId }, { limit: MAX_AUTO_TOP_UPS, cursor: undefined }).pipe(
      Effect.map(({ data }) => data.filter((auto) => auto.unit === unit)),
      Effect.catchTag("CursorNotFound", Effect.die),
    )

  const publish = ({ data, type }: CreditEvent, { customerId }: AccountKey) =>
    outbox.publish(type, data, { customerId })

  /**
   * The events of the alerts whose levels a change crosses. It also has the automatic top-up looked at, then and when credits are
   * there anew that end some time: the runner has to come back then. Most changes do neither, and read no alert.
   */
  const crossedBy = Effect.fnUntraced(function* (
    key: AccountKey,
    ledger: StoredLedger,
    change: CreditChange,
  ) {
    const { account, levels } = ledger
    const isCrossed = levels.some((level) => fallsBelow(level, account, change).length > 0)
    const endsLater = levels.length > 0 && change.grants.some((grant) => endsAnew(ledger, grant))
    if (isCrossed || endsLater) for (const { id } of yield* autosOf(key)) yield* lookAt(id, 0)
    if (!isCrossed) return []
    return (yield* ofAccount(key))
      .toReversed()
      .flatMap((alert) =>
        fallsBelow(alert.level, account, change).map((sequence) => lowOf(alert, change.account, sequence)),
      )
  })

  /**
   * Fires an alert with a new level, if less than that is available and its level before was not crossed. `account` is what the
   * clock has made of it: if that were written later, the alert would fire again for the same fall.
   */
  const fireNew = Effect.fnUntraced(function* (
    alert: CreditAlert,
    before: bigint | undefined,
    account: CreditAccount,
  ) {
    const wasLow = before !== undefined && account.available < before
    if (wasLow || account.available >= alert.level) return
    yield* publish(lowOf(alert, account, account.sequence), alert)
  })

  /** Copies the levels that are watched of an account, which is locked, to the account. */
  const copy = Effect.fnUntraced(function* (store: CreditStore["Service"], key: AccountKey) {
    const all = [...(yield* ofAccount(key)), ...(yield* autosOf(key))]
    yield* store.watch(
      key,
      all.map(({ level }) => level),
    )
  })

  return { ofCustomer, crossedBy, fireNew, copy }
})
