import { PaymentProviderContract } from "@billwright/testing"
import { signEvent } from "@billwright/testing/stripe"
import { afterAll } from "vitest"
import { fake, lose, open, SECRETS } from "./AtFake.ts"

afterAll(() => fake.close())

const signed = (
  event: object | undefined,
  { at, secret = "current" }: PaymentProviderContract.NoticeSigning,
) => {
  const { body, headers } = signEvent(event ?? {}, SECRETS[secret], at)
  return { body: new TextEncoder().encode(body), headers }
}

PaymentProviderContract.suite("Stripe", () => {
  const { account, provider } = open()
  return {
    provider,
    fail: (call, lever) => lose(account, call, lever),
    next: (outcome) =>
      account.next(
        outcome === "processing"
          ? { isDelayed: true }
          : outcome === "requires_action"
            ? { authentication: "always" }
            : { decline: { declineCode: outcome } },
      ),
    settle: (reference) => account.complete(reference),
    charges: (reference) => account.charged(reference).count,
    nextRefundPends: () => account.next({ refund: "pending" }),
    settleRefund: (reference, outcome) => account.completeRefund(reference, outcome),
    refunded: (reference) => BigInt(account.refunded(reference)),
    dispute: (reference) => account.dispute(reference).id,
    closeDispute: (reference, status) => account.closeDispute(reference, status),
    notice: (_, reference, signing) =>
      signed(
        account.events.find(({ data }) => "id" in data.object && data.object.id === reference),
        signing,
      ),
    foreignNotice: (signing) =>
      signed(
        { id: "evt_1", object: "event", livemode: false, data: { object: { id: "po_1", object: "payout" } } },
        signing,
      ),
    customer: {
      save: (setup, card) => {
        account.enterCard(setup, card === "works" ? "pm_card_visa" : "pm_card_authenticationRequired")
        if (card === "needs_confirmation") account.completeSetup(setup)
      },
      fail: (setup) => {
        try {
          account.enterCard(setup, "pm_card_visa_chargeDeclined")
        } catch {
          // The customer sees why, and goes away.
        }
        account.cancelSetup(setup)
      },
    },
  }
})
