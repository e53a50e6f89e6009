/**
 * A user of the API, with methods for events and webhooks.
 */
import { assert } from "@effect/vitest"
import * as Cli from "./Command.ts"
import { until } from "./Until.ts"

export interface Endpoint {
  readonly id: string
  readonly secret: string
}

export interface Delivery {
  readonly id: string
  readonly event_id: string
  readonly endpoint_id: string
  readonly status: "Pending" | "Delivered" | "Failed"
  readonly reason: string | null
  readonly attempt_count: number
  readonly next_attempt_at: string | null
  readonly last_response_status: number | null
  readonly last_error: string | null
  readonly finished_at: string | null
}

interface Attempt {
  readonly number: number
  readonly response_status: number | null
  readonly error: string | null
}

export type DeliveryWithAttempts = Delivery & { readonly attempts: ReadonlyArray<Attempt> }

export const INVOICE = { invoice_id: "in_1", customer_id: "c_1", amount: 4200, currency: "EUR" }

const PAGE = 100

export class Tenant {
  readonly #url: string
  readonly #key: string

  constructor(url: string, key: string) {
    this.#url = url
    this.#key = key
  }

  /** Sends a request and returns any answer, also an error. */
  call(method: string, path: string, body?: unknown): Promise<Cli.Answer> {
    return Cli.call(this.#url, this.#key, method, `/v1${path}`, body)
  }

  async request(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await this.call(method, path, body)
    assert.oneOf(answer.status, [200, 201], answer.text)
    return answer.body
  }

  async endpoint(url: string, types: ReadonlyArray<string> = ["*"], more: object = {}): Promise<Endpoint> {
    const made = await this.request("POST", "/webhook_endpoints", { url, event_types: types, ...more })
    return made as unknown as Endpoint
  }

  /** Publishes an event about an invoice. Returns its id. */
  async publish(data: object = INVOICE, type = "invoice.paid"): Promise<string> {
    return String((await this.request("POST", "/events", { type, data }))["id"])
  }

  async delivery(id: string): Promise<DeliveryWithAttempts> {
    return (await this.request("GET", `/deliveries/${id}`)) as unknown as DeliveryWithAttempts
  }

  /** The deliveries that match a filter, newest first. */
  async deliveries(filter: Readonly<Record<string, string>> = {}): Promise<ReadonlyArray<Delivery>> {
    const found: Array<Delivery> = []
    for (;;) {
      const after = found.at(-1)?.id
      const query = {
        ...filter,
        limit: String(PAGE),
        ...(after === undefined ? {} : { starting_after: after }),
      }
      const page = await this.request("GET", `/deliveries?${new URLSearchParams(query).toString()}`)
      found.push(...(page["data"] as ReadonlyArray<Delivery>))
      if (page["has_more"] !== true) return found
    }
  }

  /** The only delivery of an event. */
  async deliveryOf(eventId: string): Promise<DeliveryWithAttempts> {
    const found = await this.deliveries({ event_id: eventId })
    assert.lengthOf(found, 1)
    return this.delivery(found[0]!.id)
  }

  /** Waits until the only delivery of an event meets a condition. */
  deliveryThat(
    eventId: string,
    is: (delivery: DeliveryWithAttempts) => boolean,
  ): Promise<DeliveryWithAttempts> {
    return until("a delivery", async () => {
      const delivery = await this.deliveryOf(eventId)
      return is(delivery) && delivery
    })
  }

  /** Waits until a delivery meets a condition. */
  deliveryThatIs(id: string, is: (delivery: DeliveryWithAttempts) => boolean): Promise<DeliveryWithAttempts> {
    return until("a delivery", async () => {
      const delivery = await this.delivery(id)
      return is(delivery) && delivery
    })
  }

  /** Waits until no delivery is pending. */
  async drain(): Promise<void> {
    await until("nothing pending", async () => {
      const page = await this.request("GET", "/deliveries?status=Pending&limit=1")
      return (page["data"] as ReadonlyArray<unknown>).length === 0
    })
  }
}
