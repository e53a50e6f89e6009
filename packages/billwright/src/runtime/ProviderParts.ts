/**
 * The internals of a payment provider that comes with the library.
 */
import type { PaymentProvider } from "@billwright/core"
import type { BuiltInProvider } from "../payments/BuiltInProvider.ts"

// Kept outside the object, so that its public type doesn't show its internals.
const providers = new WeakMap<BuiltInProvider, PaymentProvider>()

export const makeBuiltIn = (kind: BuiltInProvider["kind"], provider: PaymentProvider): BuiltInProvider => {
  const builtIn = Object.freeze({ kind, name: provider.name })
  providers.set(builtIn, provider)
  return builtIn
}

/** `undefined` when the value is no provider of the library. */
export const coreOf = (provider: unknown): PaymentProvider | undefined =>
  typeof provider === "object" && provider !== null ? providers.get(provider as BuiltInProvider) : undefined
