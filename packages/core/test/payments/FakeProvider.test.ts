import {
  type FakeOutcome,
  FakeProvider,
  type FakeRefundOutcome,
  type ProviderCall,
  type ProviderFault,
} from "@billwright/core"
import { PaymentProviderContract } from "@billwright/testing"
import { Redacted } from "effect"

const SECRETS = {
  current: Redacted.make("current"),
  previous: Redacted.make("previous"),
  unknown: Redacted.make("unknown"),
}

for (const hasMethods of [false, true]) {
  PaymentProviderContract.suite(`FakeProvider ${hasMethods ? "with" : "without"} saved methods`, () => {
    const faults = new Map<ProviderCall, ProviderFault>()
    const outcomes: Array<FakeOutcome> = []
    const refundOutcomes: Array<FakeRefundOutcome> = []
    const provider = new FakeProvider({
      hasMethods,
      chargeable: ({ amount }) =>
        amount < 50n ? { status: "below_minimum", minimum: 50n } : { status: "ok" },
      faultOf: (call) => {
        const fault = faults.get(call)
        faults.delete(call)
        return fault
      },
      outcomeOf: () => outcomes.shift(),
      refundOutcomeOf: () => refundOutcomes.shift() ?? "succeeded",
      webhookSecrets: [SECRETS.current, SECRETS.previous],
    })
    const { methods } = provider
    return {
      provider,
      fail: (call, lever) => faults.set(call, lever),
      next: (outcome) =>
        outcomes.push(
          outcome === "insufficient_funds"
            ? { status: "declined", code: outcome, advice: null, notBefore: null }
            : { status: outcome },
        ),
      settle: (reference) => provider.settle(reference, "succeeded"),
      charges: (reference) => provider.payments.find((one) => one.reference === reference)?.charges ?? 0,
      nextRefundPends: () => refundOutcomes.push("pending"),
      settleRefund: (reference, outcome) =>
        provider.settleRefund(reference, outcome === "failed" ? { code: "expired_card" } : outcome),
      refunded: (reference) =>
        provider.refunds
          .filter((one) => one.paymentReference === reference && one.status === "succeeded")
          .reduce((sum, { amount }) => sum + amount, 0n),
      dispute: (reference) => provider.dispute(reference),
      closeDispute: (reference, status) => provider.closeDispute(reference, status),
      notice: (about, reference, { at, secret = "current" }) =>
        provider.sign(
          provider.notices.find((one) => one.about === about && one.reference === reference)!,
          { at, secret: SECRETS[secret] },
        ),
      foreignNotice: ({ at, secret = "current" }) =>
        provider.sign(
          { eventId: "evt_1", mode: "test", about: "payout", reference: "po_1" },
          { at, secret: SECRETS[secret] },
        ),
      ...(methods && {
        customer: {
          save: (setup, behaviour) => methods.save(setup, { behaviour }),
          fail: (setup) => methods.fail(setup, "card_declined"),
        },
      }),
    }
  })
}
