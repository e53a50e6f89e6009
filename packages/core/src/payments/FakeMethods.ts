/**
 * The saved payment methods of a provider for tests.
 */
import { Redacted } from "effect"
import { callWith, type FaultOf } from "./FakeCalls.ts"
import type {
  MethodProvider,
  ProviderCustomer,
  SavedMethod,
  SetupRead,
  StartedSetup,
  StartSetup,
} from "./MethodProvider.ts"

/**
 * How a card of the fake provider behaves. `works`: it pays. `needs_confirmation`: the customer has to confirm each payment,
 * as by SCA. Otherwise each attempt is declined with the code.
 */
export type FakeBehaviour = "works" | "needs_confirmation" | { readonly code: string }

/** A card that a customer enters at the fake provider. */
export interface FakeCard {
  /** Default: it works. */
  readonly behaviour?: FakeBehaviour
  /** Default `visa`. */
  readonly brand?: string
  /** Default `4242`. */
  readonly last4?: string
  /** Default: December 2034. */
  readonly expiry?: SavedMethod["expiry"]
}

/** A setup at the fake provider. */
export interface FakeSetup extends StartSetup {
  readonly reference: string
  readonly state: SetupRead
}

/** The address of the page on which the customer finishes something that waits, such as a setup. */
export type FakePages = (reference: string) => string

const pageOf: FakePages = (reference) => `https://fake.example/${reference}`

/** What a customer goes on with: a secret, or a page of the provider if it is sent back from there. */
export const fakeAction = (reference: string, returnUrl: string | null, pages: FakePages = pageOf) => ({
  clientSecret: returnUrl === null ? Redacted.make(`${reference}_secret_fake`) : null,
  url: returnUrl === null ? null : Redacted.make(pages(reference)),
})

/** Saves cards in memory. */
export class FakeMethods implements MethodProvider {
  readonly #customers = new Map<string, ProviderCustomer>()
  readonly #setups = new Map<string, FakeSetup>()
  readonly #cards = new Map<string, FakeCard>()
  readonly #call: ReturnType<typeof callWith>
  readonly #pages: FakePages | undefined

  constructor(faultOf: FaultOf, pages: FakePages | undefined) {
    this.#call = callWith(faultOf)
    this.#pages = pages
  }

  /** All customers, in the order in which they were made. */
  get customers(): ReadonlyArray<ProviderCustomer> {
    return [...this.#customers.values()]
  }

  /** All setups that were started, in their order. */
  get setups(): ReadonlyArray<FakeSetup> {
    return [...this.#setups.values()]
  }

  /** How the card of a saved method behaves. `undefined` if there is none, or not any more. */
  behaviourOf(reference: string): FakeBehaviour | undefined {
    const card = this.#cards.get(reference)
    return card && (card.behaviour ?? "works")
  }

  /** The customer enters a card, and it is saved. Gives the reference of the saved method. */
  save(setupReference: string, card: FakeCard = {}): string {
    const setup = this.#find(setupReference)
    const method: SavedMethod = {
      reference: `${setupReference}_card`,
      type: "card",
      brand: card.brand ?? "visa",
      last4: card.last4 ?? "4242",
      expiry: card.expiry === undefined ? { month: 12, year: 2034 } : card.expiry,
    }
    this.#cards.set(method.reference, card)
    this.#setups.set(setupReference, { ...setup, state: { status: "saved", method } })
    return method.reference
  }

  /** The customer enters a card that is refused, or gives up. */
  fail(setupReference: string, code: string): void {
    this.#setups.set(setupReference, { ...this.#find(setupReference), state: { status: "failed", code } })
  }

  ensureCustomer(customer: ProviderCustomer) {
    return this.#call("ensureCustomer", () => {
      const reference = `fake_${customer.customerId}`
      if (!this.#customers.has(reference)) this.#customers.set(reference, customer)
      return { reference }
    })
  }

  startSetup(setup: StartSetup) {
    return this.#call("startSetup", (): StartedSetup => {
      if (!this.#customers.has(setup.customer)) {
        throw new TypeError(`no customer has the reference ${setup.customer}`)
      }
      const reference = `fake_${setup.setupId}`
      if (!this.#setups.has(reference)) {
        this.#setups.set(reference, { ...setup, reference, state: { status: "pending" } })
      }
      return { reference, ...fakeAction(reference, setup.returnUrl, this.#pages) }
    })
  }

  readSetup(reference: string) {
    return this.#call("readSetup", () => this.#find(reference).state)
  }

  detachMethod(reference: string) {
    return this.#call("detachMethod", () => {
      this.#cards.delete(reference)
    })
  }

  forgetCustomer(reference: string) {
    return this.#call("forgetCustomer", () => {
      const customer = this.#customers.get(reference)
      if (customer !== undefined) this.#customers.set(reference, { ...customer, name: "", email: "" })
    })
  }

  #find(reference: string): FakeSetup {
    const found = this.#setups.get(reference)
    if (found === undefined) throw new TypeError(`no setup has the reference ${reference}`)
    return found
  }
}
