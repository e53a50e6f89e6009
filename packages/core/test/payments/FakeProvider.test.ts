import { type FakeOutcome, FakeProvider, type ProviderCall, type ProviderFault } from "@billwright/core"
import { PaymentProviderContract } from "@billwright/testing"

for (const hasMethods of [false, true]) {
  PaymentProviderContract.suite(`FakeProvider ${hasMethods ? "with" : "without"} saved methods`, () => {
    const faults = new Map<ProviderCall, ProviderFault>()
    const outcomes: Array<FakeOutcome> = []
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
      ...(methods && {
        customer: {
          save: (setup, behaviour) => methods.save(setup, { behaviour }),
          fail: (setup) => methods.fail(setup, "card_declined"),
        },
      }),
    }
  })
}
