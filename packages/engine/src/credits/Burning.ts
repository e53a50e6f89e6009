/**
 * Credits that usage burns: what the lines of an issued invoice take of an account, and give back to it.
 *
 * Usage counts until an instant, the end of what is billed, and the invoice is issued later. So it burns what could be used
 * just before that instant, also of grants that have ended since: of those, what went unused. What is granted from the instant
 * on is not touched by it, but repays the debt of what was not covered.
 */
import { compareGrants, Draft } from "./Draft.ts"
import { type CreditChange, type CreditGrant, type CreditLedger, pays } from "./Ledger.ts"
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
  /** The charge that burnt them. */
  readonly purpose: string | null
  /** 0 or more. */
  readonly amount: bigint
  /** What it burnt, in the order in which it is given back. */
  readonly parts: ReadonlyArray<BurntPart>
}

/** What an invoice burns for a charge. Only grants that pay for the charge are used. */
export interface BurningUse {
  readonly purpose: string | null
  /** 0 or more. */
  readonly amount: bigint
}

/** What an invoice does with the credits of an account. */
export interface Burning {
  readonly invoiceId: string
  /** The instant until which usage counts. */
  readonly at: number
  /** How much it burns for each charge, in the order of the lines. */
  readonly uses: ReadonlyArray<BurningUse>
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
 * Burns what could be used just before an instant, for one charge after another. What is beyond that is a debt, which the grants
 * for anything repay that have begun since.
 */
const burn = (draft: Draft, { at, invoiceId, unused, uses }: Burning): void => {
  const gone = new Map(unused.map((one) => [one.grant.id, one.amount]))
  for (const { grant } of unused) if (draft.grant(grant.id) === undefined) draft.putGrant(grant)
  /** Takes of a grant what went unused of it, and then what is available. */
  const take = (id: string, most: bigint, purpose: string | null): bigint => {
    const unusedOf = gone.get(id) ?? 0n
    const back = smaller(most, unusedOf)
    const part = smaller(most, back + (draft.grant(id)?.available ?? 0n))
    draft.move({ kind: "expire", at, invoiceId, purpose }, id, { available: back })
    gone.set(id, unusedOf - back)
    return part
  }
  const isBefore = ({ effectiveAt }: CreditGrant) => effectiveAt < at
  const grants = draft.grants.filter(({ available, id }) => available > 0n || gone.has(id))
  const before = grants.filter(isBefore).toSorted(compareGrants)
  const since = grants.filter((grant) => !isBefore(grant) && grant.scope === null).toSorted(byBegin)
  for (const { amount, purpose } of uses) {
    const cause = { kind: "burn", at, invoiceId, purpose } as const
    let rest = amount
    for (const grant of before) {
      if (!pays(grant, purpose)) continue
      const part = take(grant.id, rest, purpose)
      draft.move(cause, grant.id, { available: -part })
      rest -= part
    }
    draft.move(cause, null, { debt: rest })
    for (const { id } of since) {
      const part = take(id, rest, purpose)
      draft.move({ kind: "repay", at }, id, { available: -part, debt: -part })
      rest -= part
    }
  }
}

/** Gives credits back. Gives how much of it was a debt that is repaid already. */
const giveBack = (draft: Draft, { amount, invoiceId, parts, purpose }: GiveBack, at: number): bigint => {
  const cause = { kind: "restore", at, invoiceId, purpose } as const
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
  burn(draft, burning)
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
    const cause = { kind: "restore", at: now, invoiceId: one.invoiceId, purpose: one.purpose } as const
    draft.giveBack(cause, rest.id, { available: left })
  }
  draft.repay(now)
}
