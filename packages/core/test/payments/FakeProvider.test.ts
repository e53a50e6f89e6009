import { type FakeOutcome, FakeProvider, type ProviderCall, type ProviderFault } from "@billwright/core"
import { PaymentProviderContract } from "@billwright/testing"

PaymentProviderContract.suite("FakeProvider", () => {
  const faults = new Map<ProviderCall, ProviderFault>()
  const outcomes: Array<FakeOutcome> = []
  const provider = new FakeProvider({
    faultOf: (call) => {
      const fault = faults.get(call)
      faults.delete(call)
      return fault
    },
    outcomeOf: () => outcomes.shift() ?? { status: "succeeded" },
  })
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
  }
})
