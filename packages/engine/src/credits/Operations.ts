/**
 * What can be done with credits. Each operation takes the ledger of an account and an instant, and gives what changes.
 *
 * First of all, each brings the ledger up to its instant: grants begin and end, and holds lapse, in the order of their
 * instants. So an answer is right without anything that runs in the background.
 */
import { Draft, rolledOver } from "./Draft.ts"
import type {
  CreditAccount,
  CreditChange,
  CreditGrant,
  CreditHold,
  CreditLedger,
  EntryKind,
} from "./Ledger.ts"

/** A change, or why there is none: less than asked is available. */
export type Consumed =
  | { readonly type: "done"; readonly change: CreditChange }
  | { readonly type: "insufficient"; readonly amount: bigint; readonly available: bigint }

/** A change of a hold, or why there is none. */
export type Settled =
  | Consumed
  /** The hold was settled before, and not in this way. */
  | { readonly type: "settled" }
  /** The hold was settled in this way before: there is nothing to do. */
  | { readonly type: "unchanged" }

/** What to do when more is committed than is held and available: it becomes debt, or it is refused. */
export type Overdraft = "debt" | "refuse"

interface Step {
  readonly at: number
  /** The id of the hold or the grant. */
  readonly id: string
  readonly run: (draft: Draft) => void
}

const lapseOf = (hold: CreditHold): Step => ({
  at: hold.expiresAt,
  id: hold.id,
  run: (draft) => {
    draft.putHold({ ...hold, status: "lapsed", settledAt: hold.expiresAt }, -1)
    const cause = { kind: "lapse", at: hold.expiresAt, holdId: hold.id, purpose: hold.purpose } as const
    draft.settle(cause, hold.slices, 0n)
  },
})

/** By instant, and then by id: in whatever order a store gives its rows, the same comes of them. */
const inOrder = (steps: ReadonlyArray<Step>): ReadonlyArray<Step> =>
  steps.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : Number(a.id > b.id)))

/** What happens to a grant by an instant by itself. */
const stepsOf = (grant: CreditGrant, now: number): ReadonlyArray<Step> => {
  const { effectiveAt, expiresAt, id, rollover, status } = grant
  const isOver = status === "expired" || status === "voided"
  const end = rollover?.expiresAt ?? expiresAt
  const steps: Array<Step> = []
  if (status === "pending") {
    steps.push({ at: effectiveAt, id, run: (draft) => draft.begin(grant, effectiveAt) })
  }
  if (expiresAt !== null && end !== expiresAt) {
    steps.push({ at: expiresAt, id, run: (draft) => draft.rollOver(id, expiresAt) })
  }
  if (end !== null && !isOver) {
    steps.push({ at: end, id, run: (draft) => draft.end(id, "expired", end) })
  }
  return steps.filter(({ at }) => at <= now)
}

/**
 * Brings a draft up to an instant. Of one instant, holds lapse first, and then grants begin and end, each by id. `holds` are
 * those that have not lapsed in it.
 */
export const advance = (draft: Draft, holds: ReadonlyArray<CreditHold>, now: number): Draft => {
  const steps = draft.grants.flatMap((grant) => stepsOf(grant, now))
  const lapsed = holds.filter(({ expiresAt, status }) => status === "open" && expiresAt <= now).map(lapseOf)
  const all = [...inOrder(lapsed), ...inOrder(steps)].toSorted((a, b) => a.at - b.at)
  for (const step of all) step.run(draft)
  return draft
}

/** Brings a ledger up to an instant. */
export const upTo = (ledger: CreditLedger, now: number): Draft =>
  advance(new Draft(ledger), ledger.holds, now)

/** What has happened by an instant through time alone. */
export const settleCredits = (ledger: CreditLedger, now: number): CreditChange => upTo(ledger, now).change

/** A new grant. One that is effective later is pending until then. */
export const grantCredits = (
  ledger: CreditLedger,
  grant: Omit<CreditGrant, "available" | "held" | "status">,
  now: number,
): CreditChange => {
  const draft = upTo(ledger, now)
  const made: CreditGrant = { ...grant, status: "pending", available: 0n, held: 0n }
  if (grant.effectiveAt > now) draft.putGrant(made)
  else draft.begin(made, now)
  return draft.change
}

/**
 * Takes back what is left of a grant. What is held of it stays held, and is gone when it is given back. `undefined` if the
 * grant has ended already.
 */
export const voidGrant = (
  ledger: CreditLedger,
  grant: CreditGrant,
  now: number,
): CreditChange | undefined => {
  const draft = upTo(ledger, now)
  const { id, status } = grantAt(draft.grant(grant.id) ?? grant, now)
  if (status === "expired" || status === "voided") return undefined
  if (draft.grant(id) === undefined) draft.putGrant(grantAt(grant, now))
  draft.end(id, "voided", now)
  return draft.change
}

/** Takes back all that is left of the grants of an account, and those that begin later. What is held stays held. */
export const closeAccount = (ledger: CreditLedger, now: number): CreditChange => {
  const draft = upTo(ledger, now)
  for (const { id, status } of draft.grants) {
    if (status === "pending" || status === "active") draft.end(id, "voided", now)
  }
  return draft.change
}

/** What is available for something at an instant: the credits that can be used for anything, and those for it. */
export const availableFor = (ledger: CreditLedger, purpose: string | null, now: number): bigint =>
  upTo(ledger, now).availableFor(purpose)

/** What is used at once. */
interface Use {
  readonly amount: bigint
  readonly consumptionId: string
  /** What for: the key of a charge or a feature. Without it, only grants for anything are used. */
  readonly purpose?: string | null
}

/** Uses credits at once: the whole amount, or nothing of it. */
export const consumeCredits = (
  ledger: CreditLedger,
  { amount, consumptionId, purpose = null }: Use,
  now: number,
): Consumed => {
  const draft = upTo(ledger, now)
  const available = draft.availableFor(purpose)
  if (available < amount) return { type: "insufficient", amount, available }
  draft.take({ kind: "consume", at: now, consumptionId, purpose }, amount)
  return { type: "done", change: draft.change }
}

/** Uses credits for what was done already. What is beyond the available ones becomes debt. */
export const chargeCredits = (
  ledger: CreditLedger,
  { amount, consumptionId, purpose = null }: Use,
  now: number,
): CreditChange => {
  const draft = upTo(ledger, now)
  draft.take({ kind: "consume", at: now, consumptionId, purpose }, amount)
  return draft.change
}

/** Holds credits: the whole amount, or nothing of it. */
export const reserveCredits = (
  ledger: CreditLedger,
  { amount, expiresAt, id, purpose }: Pick<CreditHold, "id" | "amount" | "expiresAt" | "purpose">,
  now: number,
): Consumed => {
  const draft = upTo(ledger, now)
  const available = draft.availableFor(purpose)
  if (available < amount) return { type: "insufficient", amount, available }
  const slices = draft.slices(amount, purpose)
  for (const { amount: part, grantId } of slices) {
    draft.move({ kind: "reserve", at: now, holdId: id, purpose }, grantId, { available: -part, held: part })
  }
  const open = { status: "open", committed: null, isLate: false, settledAt: null } as const
  draft.putHold({ id, amount, purpose, slices, expiresAt, ...open }, 1)
  return { type: "done", change: draft.change }
}

/** A hold as it is at an instant: one that has run out has lapsed, whether or not that was written. */
export const holdAt = (hold: CreditHold, now: number): CreditHold =>
  hold.status === "open" && hold.expiresAt <= now
    ? { ...hold, status: "lapsed", settledAt: hold.expiresAt }
    : hold

/** A grant as it is at an instant by itself, whether or not that was written. */
export const grantAt = (grant: CreditGrant, now: number): CreditGrant => {
  const { amount, effectiveAt, expiresAt, rollover, status } = grant
  if (status !== "pending" && status !== "active") return grant
  const begun: CreditGrant =
    status === "pending" && effectiveAt <= now ? { ...grant, status: "active", available: amount } : grant
  if (expiresAt === null || expiresAt > now) return begun
  const end = rollover?.expiresAt ?? expiresAt
  if (end <= now) return { ...begun, expiresAt: end, status: "expired", available: 0n }
  return rolledOver(begun)
}

/** Moves the instant at which an open hold lapses. */
export const extendHold = (
  ledger: CreditLedger,
  hold: CreditHold,
  expiresAt: number,
  now: number,
): Settled => {
  const draft = upTo(ledger, now)
  if (holdAt(hold, now).status !== "open") return { type: "settled" }
  draft.putHold({ ...hold, expiresAt }, 0)
  return { type: "done", change: draft.change }
}

/**
 * Uses an amount of a hold, and settles it. What is held beyond the amount is given back. An amount beyond what is held
 * uses what is available, and then becomes debt or is refused. A hold that has lapsed holds nothing any more, and all of
 * the amount is beyond.
 */
export const commitHold = (
  ledger: CreditLedger,
  given: CreditHold,
  { amount, overdraft }: { readonly amount: bigint; readonly overdraft: Overdraft },
  now: number,
): Settled => {
  const draft = upTo(ledger, now)
  const hold = holdAt(given, now)
  if (hold.status === "committed") return { type: hold.committed === amount ? "unchanged" : "settled" }
  if (hold.status === "released") return { type: "settled" }
  const isLate = hold.status === "lapsed"
  const held = isLate ? 0n : hold.amount
  const beyond = amount > held ? amount - held : 0n
  const available = draft.availableFor(hold.purpose)
  if (overdraft === "refuse" && beyond > available)
    return { type: "insufficient", amount, available: available + held }
  const cause = { kind: "commit", at: now, holdId: hold.id, purpose: hold.purpose } as const
  if (!isLate) draft.settle(cause, hold.slices, amount - beyond)
  if (beyond > 0n) draft.take(cause, beyond)
  draft.putHold({ ...hold, status: "committed", committed: amount, isLate, settledAt: now }, isLate ? 0 : -1)
  return { type: "done", change: draft.change }
}

/** Gives all of an open hold back. */
export const releaseHold = (ledger: CreditLedger, hold: CreditHold, now: number): Settled => {
  const draft = upTo(ledger, now)
  const { status } = holdAt(hold, now)
  if (status === "committed") return { type: "settled" }
  if (status !== "open") return { type: "unchanged" }
  draft.settle({ kind: "release", at: now, holdId: hold.id, purpose: hold.purpose }, hold.slices, 0n)
  draft.putHold({ ...hold, status: "released", settledAt: now }, -1)
  return { type: "done", change: draft.change }
}

/** What uses credits. */
const USES: ReadonlyArray<EntryKind> = ["consume", "reserve", "commit", "apply", "burn"]

/** Whether a change used up all credits that could be used before. */
export const isExhausted = (before: CreditAccount, { account, entries }: CreditChange): boolean =>
  account.available === 0n && before.available > 0n && entries.some(({ kind }) => USES.includes(kind))

/**
 * The instants of a change at which what is available fell below a level: from the level or more to less. Of each, the number
 * of its last entry. What rises and falls within one instant counts as a whole, and what rises later falls again.
 */
export const fallsBelow = (
  level: bigint,
  before: CreditAccount,
  { entries }: CreditChange,
): ReadonlyArray<number> => {
  const falls: Array<number> = []
  let { available } = before
  let atStart = available
  for (const [index, entry] of entries.entries()) {
    available += entry.available
    if (entries[index + 1]?.at === entry.at) continue
    if (atStart >= level && available < level) falls.push(entry.sequence)
    atStart = available
  }
  return falls
}
