/**
 * Credits on invoices: what can lower and pay one, and what that changes. Their unit is the currency of the invoice.
 */
import { type Assembled, INVOICE_LIMITS } from "../invoices/Assemble.ts"
import type { CreditInput } from "../invoices/Discounts.ts"
import type { CreditChange, CreditGrant, CreditLedger } from "./Ledger.ts"
import { grantAt, upTo } from "./Operations.ts"

/** The credits that an invoice can use, in the order of their use. */
export interface InvoiceCredits {
  /** They lower the lines before tax. */
  readonly promotional: ReadonlyArray<CreditInput>
  /** They pay what is left after tax. */
  readonly paid: ReadonlyArray<CreditInput>
}

/** How much of a grant an invoice uses. */
export interface CreditUse {
  readonly grantId: string
  readonly amount: bigint
}

/**
 * The credits that an invoice can use at an instant. One with a scope lowers and pays the lines of the charges in it. Those that a plan
 * gives are for `consume` and holds alone. Of each kind it is as many as an invoice can have. The others are for the next ones.
 */
export const invoiceCreditsOf = (ledger: CreditLedger, now: number): InvoiceCredits => {
  const { usable } = upTo(ledger, now)
  const ofKind = (kind: CreditGrant["kind"]) =>
    usable
      .filter((grant) => grant.kind === kind)
      .slice(0, INVOICE_LIMITS.credits)
      .map(({ available, id, scope }) => ({
        id,
        available,
        ...(scope === null ? {} : { scope: { charges: scope } }),
      }))
  return { promotional: ofKind("promotional"), paid: ofKind("paid") }
}

/** The credits that an invoice has used. */
export const creditUsesOf = ({
  applied,
  discounts,
}: Pick<Assembled, "applied" | "discounts">): ReadonlyArray<CreditUse> =>
  [
    ...discounts.filter(({ type }) => type === "promotional_credit"),
    ...applied.filter(({ type }) => type === "paid_credit"),
  ].map(({ amount, id }) => ({ grantId: id, amount }))

/** Uses credits for an invoice that is issued. They are those that {@link invoiceCreditsOf} gave for the same instant. */
export const applyCredits = (
  ledger: CreditLedger,
  invoiceId: string,
  uses: ReadonlyArray<CreditUse>,
  now: number,
): CreditChange => {
  const draft = upTo(ledger, now)
  for (const { amount, grantId } of uses) {
    draft.move({ kind: "apply", at: now, invoiceId }, grantId, { available: -amount })
  }
  return draft.change
}

/**
 * Gives the credits of a voided invoice back to their grants. What a grant that has ended gets back is gone at once. `grants`
 * are those of the uses, as they are stored.
 */
export const restoreCredits = (
  ledger: CreditLedger,
  grants: ReadonlyArray<CreditGrant>,
  invoiceId: string,
  uses: ReadonlyArray<CreditUse>,
  now: number,
): CreditChange => {
  const draft = upTo(ledger, now)
  for (const grant of grants) if (draft.grant(grant.id) === undefined) draft.putGrant(grantAt(grant, now))
  for (const { amount, grantId } of uses) {
    draft.giveBack({ kind: "restore", at: now, invoiceId }, grantId, { available: amount })
  }
  draft.repay(now)
  return draft.change
}
