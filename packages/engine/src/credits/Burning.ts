/**
 * Credits that usage burns: what the lines of an issued invoice take of an account, and give back to it.
 *
 * Usage counts until an instant, the end of what is billed, and the invoice is issued later. So it burns what could be used
 * just before that instant, also of grants that have ended since: of those, what went unused. What is granted from the instant
 * on is not touched by it, but repays the debt of what was not covered.
 */
import { compareGrants, Draft } from "./Draft.ts"
import type { CreditChange, CreditGrant, CreditLedger } from "./Ledger.ts"
import { advance, grantAt } from "./Operations.ts"

/** How much of a grant went unused when it ended, or rolled over, at an instant or after it. */
export interface Unused {
  readonly grant: CreditGrant
  readonly amount: bigint
}

/** What an earlier invoice burnt of a grant and was not given back. `null`: what became debt. */
export interface BurntPart {
  readonly grant: CreditGrant | null
  readonly amount: bigint
}

/** Credits to give back of an earlier invoice. */
export interface GiveBack {
  readonly invoiceId: string
  /** 0 or more. */
  readonly amount: bigint
  /** What it burnt, in the order in which it is given back. */
  readonly parts: ReadonlyArray<BurntPart>
}

/** What an invoice does with the credits of an account. */
export interface Burning {
  readonly invoiceId: string
  /** The instant until which usage counts. */
  readonly at: number
  /** How much it burns. 0 or more. */
  readonly amount: bigint
  readonly unused: ReadonlyArray<Unused>
  readonly back: ReadonlyArray<GiveBack>
  /**
   * The grant of what can't be given back to any other: it was a debt, which others have repaid. It is of so much more then,
   * and does not change if that is 0. `null` if there is nothing to give back.
   */
  readonly rest: CreditGrant | null
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Grants as they begin. */
const byBegin = (a: CreditGrant, b: CreditGrant): number =>
  a.effectiveAt - b.effectiveAt || (a.id < b.id ? -1 : 1)

/**
 * Burns an amount of what could be used just before an instant. What is beyond that is a debt, which the grants repay that have
 * begun since.
 */
const burn = (draft: Draft, { amount, at, invoiceId, unused }: Burning): void => {
  const gone = new Map(unused.map((one) => [one.grant.id, one.amount]))
  for (const { grant } of unused) if (draft.grant(grant.id) === undefined) draft.putGrant(grant)
  let rest = amount
  /** Takes of a grant what went unused of it, and then what is available. */
  const take = ({ available, id }: CreditGrant): bigint => {
    const back = smaller(rest, gone.get(id) ?? 0n)
    draft.move({ kind: "expire", at, invoiceId }, id, { available: back })
    const part = smaller(rest, back + available)
    rest -= part
    return part
  }
  const isBefore = ({ effectiveAt }: CreditGrant) => effectiveAt < at
  const grants = draft.grants.filter(({ available, id }) => available > 0n || gone.has(id))
  for (const grant of grants.filter(isBefore).toSorted(compareGrants)) {
    draft.move({ kind: "burn", at, invoiceId }, grant.id, { available: -take(grant) })
  }
  draft.move({ kind: "burn", at, invoiceId }, null, { debt: rest })
  for (const grant of grants.filter((one) => !isBefore(one)).toSorted(byBegin)) {
    const part = take(grant)
    draft.move({ kind: "repay", at }, grant.id, { available: -part, debt: -part })
  }
}

/** Gives credits back. Gives how much of it was a debt that is repaid already. */
const giveBack = (draft: Draft, { amount, invoiceId, parts }: GiveBack, at: number): bigint => {
  const cause = { kind: "restore", at, invoiceId } as const
  let rest = amount
  for (const { amount: most, grant } of parts) {
    const part = smaller(rest, most)
    if (grant === null) {
      const owed = smaller(part, draft.account.debt)
      draft.move(cause, null, { debt: -owed })
      rest -= owed
      continue
    }
    if (draft.grant(grant.id) === undefined) draft.putGrant(grantAt(grant, at))
    draft.giveBack(cause, grant.id, { available: part })
    rest -= part
  }
  return rest
}

/**
 * Burns credits for an invoice that is issued, and gives back what it states to give back of earlier ones. What a grant that
 * has ended gets back is gone at once.
 */
export const burnCredits = (ledger: CreditLedger, burning: Burning, now: number): CreditChange => {
  const draft = new Draft(ledger)
  const before = burning.at - 1
  advance(draft, ledger.holds, before)
  if (burning.amount > 0n) burn(draft, burning)
  advance(
    draft,
    ledger.holds.filter(({ expiresAt }) => expiresAt > before),
    now,
  )
  giveAllBack(draft, burning, now)
  return draft.change
}

/** Gives back all of what some invoices have burnt. */
export const unburnCredits = (
  ledger: CreditLedger,
  burning: Pick<Burning, "back" | "invoiceId" | "rest">,
  now: number,
): CreditChange => {
  const draft = advance(new Draft(ledger), ledger.holds, now)
  giveAllBack(draft, burning, now)
  return draft.change
}

const giveAllBack = (draft: Draft, { back, rest }: Pick<Burning, "back" | "rest">, now: number): void => {
  for (const one of back) {
    const left = giveBack(draft, one, now)
    if (left === 0n || rest === null) continue
    const grant = draft.grant(rest.id) ?? rest
    draft.putGrant({ ...grant, amount: grant.amount + left })
    draft.move({ kind: "restore", at: now, invoiceId: one.invoiceId }, rest.id, { available: left })
  }
  draft.repay(now)
}
