/**
 * The customers of the billing server for the parties. Each is created once.
 */
import { createHash } from "node:crypto"
import type { Client, Customer } from "./Client.ts"
import type { Party } from "./Parties.ts"
import { Problem } from "./Problem.ts"

/**
 * Finds a party's customer by its e-mail address, or creates it.
 *
 * Two runs at the same time may both find none. The `Idempotency-Key` makes them create the same customer.
 */
export class Customers {
  readonly #client: Client
  readonly #byEmail = new Map<string, Customer>()

  constructor(client: Client) {
    this.#client = client
  }

  async of(party: Party): Promise<Customer> {
    const known = this.#byEmail.get(party.email)
    if (known !== undefined) return known
    const customer = await this.#findOrCreate(party)
    this.#byEmail.set(party.email, customer)
    return customer
  }

  async #findOrCreate(party: Party): Promise<Customer> {
    const [found, another] = await this.#client.findCustomers(party.email)
    // A program must not guess which of them pays.
    if (another !== undefined) throw new Problem(`There are several customers with e-mail ${party.email}.`)
    if (found !== undefined) return found
    const digest = createHash("sha256").update(party.email).digest("hex")
    const { name, email } = party
    return this.#client.createCustomer(
      { name, email, metadata: { source: "access-log" } },
      `access-log-${digest}`,
    )
  }
}
