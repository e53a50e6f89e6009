/**
 * The calls of clients, drawn at random from what the clients know.
 */
import type { Ask, MeterDefinition, UsageAsked } from "../History.ts"
import type { Choice } from "./Choice.ts"
import type { Known } from "./Known.ts"

export const FILTERS = [
  ["*"],
  ["invoice.paid"],
  ["invoice.paid", "payment.succeeded"],
  ["usage.threshold"],
] as const
const TYPES = ["invoice.paid", "invoice.created", "payment.succeeded"] as const
/** Products and units. */
export const METERS = [
  { productId: "api", unit: "call" },
  { productId: "disk", unit: "byte" },
] as const
/** Few, so that they are used again: by other customers, in other modes, with other content. */
const KEYS = Array.from({ length: 12 }, (_, index) => `key-${index}`)
/** The first customers of every tenant. */
export const FIRST_CUSTOMERS = 2

const DIMENSIONS = ["model", "region"] as const
/** Meters of the first product, one of each aggregation. */
const METER_DEFINITIONS: ReadonlyArray<MeterDefinition> = [
  { aggregation: "sum", dimensions: ["model"], counted: null },
  { aggregation: "count", dimensions: ["region"], counted: null },
  { aggregation: "max", dimensions: [], counted: null },
  { aggregation: "latest", dimensions: ["model", "region"], counted: null },
  { aggregation: "unique_count", dimensions: ["model"], counted: "model" },
  { aggregation: "time_weighted", dimensions: ["model"], counted: null },
]
/** The days of all usage, whatever the clocks show. */
const METER_PERIOD = { startDate: "2025-08-01", endDate: "2029-12-31" }

const meterKey = (index: number): string => `meter_${index}`

/** The calls that create the meters of a tenant. */
export const newMeters = (): ReadonlyArray<Ask> =>
  METER_DEFINITIONS.map((definition, index) => ({
    _tag: "CreateMeter",
    key: meterKey(index),
    ...METERS[0],
    ...definition,
  }))

/** The calls that read all usage of a customer. */
export const readsOf = (customerId: string): ReadonlyArray<Ask> => [
  ...METERS.map((meter) => ({ _tag: "ReadTotal" as const, customerId, ...meter })),
  ...METER_DEFINITIONS.map((_, index) => ({
    _tag: "ReadMeter" as const,
    customerId,
    meter: meterKey(index),
    ...METER_PERIOD,
  })),
]

type Creation = Extract<Ask, { readonly _tag: "CreateCustomer" }>

export class Asks {
  readonly #choice: Choice
  readonly #known: ReadonlyArray<Known>
  readonly #creations: Array<Creation> = []
  #markers: number

  /** `markers`: how many already exist, if other clients made calls before. */
  constructor(choice: Choice, known: ReadonlyArray<Known>, markers = 0) {
    this.#choice = choice
    this.#known = known
    this.#markers = markers
  }

  someKind(): Ask["_tag"] {
    return this.#choice.weighted<Ask["_tag"]>([
      [10, "RecordUsage"],
      [3, "VoidUsage"],
      [3, "CreateThreshold"],
      [6, "PublishEvent"],
      [5, "RecordAndPublish"],
      [3, "CreateCustomer"],
      [1, "EraseCustomer"],
      [1, "CreateEndpoint"],
      [3, "UpdateEndpoint"],
      [0.5, "DeleteEndpoint"],
      [2, "RotateSecret"],
      [1, "TestEndpoint"],
      [2, "ReplayEvent"],
      [2, "ReplayDelivery"],
      [1, "ReplayRange"],
      [3, "ReadTotal"],
      [2, "ReadMeter"],
      [1, "UpdateMeter"],
      [2, "ReadForeign"],
    ])
  }

  /** A call of a kind, if its input exists. */
  some(kind: Ask["_tag"], known: Known): Ask | undefined {
    return this.#usage(kind, known) ?? this.#webhooks(kind, known)
  }

  #usage(kind: Ask["_tag"], known: Known): Ask | undefined {
    const choice = this.#choice
    const customerId = choice.pick(known.customers)
    if (kind === "CreateCustomer") return this.#someCustomer()
    if (kind === "EraseCustomer") return this.#someErasure(known)
    if (customerId === undefined) return undefined
    switch (kind) {
      case "RecordUsage": {
        const count = choice.chance(0.7) ? 1 : choice.int(2, 4)
        const records = Array.from({ length: count }, () => this.#someUsage(known))
        return { _tag: kind, records }
      }
      case "VoidUsage": {
        const recordId = choice.pick(known.records)
        return recordId === undefined ? undefined : { _tag: kind, recordId }
      }
      case "CreateThreshold": {
        const quantity = BigInt(choice.int(1, 150))
        const period = choice.pick(["day", "month", "lifetime"] as const)
        return { _tag: kind, customerId, ...choice.pick(METERS), quantity, period }
      }
      case "RecordAndPublish": {
        const marker = this.#newMarker()
        const record = { ...this.#someUsage(known), key: marker }
        const type = choice.pick(TYPES)
        return { _tag: kind, record, type, marker, isGivenUp: choice.chance(0.25) }
      }
      case "ReadTotal":
        return { _tag: kind, customerId, ...choice.pick(METERS) }
      case "ReadMeter":
        return {
          _tag: kind,
          customerId,
          meter: meterKey(choice.int(0, METER_DEFINITIONS.length - 1)),
          ...METER_PERIOD,
        }
      case "UpdateMeter": {
        const meterId = choice.pick(known.meters)
        return meterId === undefined ? undefined : { _tag: kind, meterId, ...choice.pick(METER_DEFINITIONS)! }
      }
      default:
        return undefined
    }
  }

  #webhooks(kind: Ask["_tag"], known: Known): Ask | undefined {
    const choice = this.#choice
    switch (kind) {
      case "PublishEvent": {
        const key = choice.chance(0.6) ? choice.pick(KEYS)! : null
        // A key that is used again mostly comes with the same content.
        const marker = key === null || choice.chance(0.1) ? this.#newMarker() : `about-${key}`
        return { _tag: kind, type: choice.pick(TYPES), marker, key }
      }
      case "CreateEndpoint":
        return { _tag: kind, url: this.newUrl(), eventTypes: choice.pick(FILTERS) }
      case "ReplayEvent": {
        const eventId = choice.pick(known.events)
        const endpointId = choice.chance(0.5) ? choice.pick(known.endpoints) : undefined
        return eventId === undefined ? undefined : { _tag: kind, eventId, endpointId }
      }
      case "ReadForeign": {
        const other = choice.pick(this.#known.filter((one) => one !== known))!
        const id = choice.pick([
          ...other.customers,
          ...other.endpoints,
          ...other.records,
          ...other.meters,
          ...other.events,
        ])
        return id === undefined ? undefined : { _tag: kind, id }
      }
      default: {
        const endpointId = choice.pick(known.endpoints)
        return endpointId === undefined ? undefined : this.#ofEndpoint(kind, endpointId)
      }
    }
  }

  #ofEndpoint(kind: Ask["_tag"], endpointId: string): Ask | undefined {
    const choice = this.#choice
    switch (kind) {
      case "UpdateEndpoint": {
        const status = choice.pick(["enabled", "enabled", "disabled", undefined] as const)
        const eventTypes = choice.chance(0.3) ? choice.pick(FILTERS) : undefined
        return { _tag: kind, endpointId, status, eventTypes }
      }
      case "DeleteEndpoint":
      case "ReplayRange":
        return { _tag: kind, endpointId }
      case "RotateSecret":
        return { _tag: kind, endpointId, overlapSeconds: choice.pick([0, 5, 60, 86_400]) }
      case "TestEndpoint":
        return { _tag: kind, endpointId, type: choice.pick(TYPES) }
      default:
        return undefined
    }
  }

  #someUsage(known: Known): UsageAsked {
    const choice = this.#choice
    return {
      customerId: choice.pick(known.customers)!,
      ...choice.pick(METERS),
      quantity: choice.int(0, 40),
      dimensions: this.#someDimensions(),
      key: choice.chance(0.5) ? choice.pick(KEYS)! : null,
    }
  }

  #someDimensions(): Readonly<Record<string, string>> {
    const choice = this.#choice
    const named = DIMENSIONS.filter(() => choice.chance(0.6))
    return Object.fromEntries(named.map((name) => [name, choice.pick(["a", "b"])]))
  }

  newCustomer(isValid: boolean): Creation {
    const marker = this.#newMarker()
    return { _tag: "CreateCustomer", marker, key: `create-${marker}`, isValid }
  }

  /** A new customer, a repeat of an earlier creation, or other content with the key of an earlier one. */
  #someCustomer(): Ask {
    const before = this.#choice.pick(this.#creations)
    if (before === undefined || this.#choice.chance(0.4)) {
      const creation = this.newCustomer(this.#choice.chance(0.8))
      this.#creations.push(creation)
      return creation
    }
    return this.#choice.chance(0.9) ? before : { ...before, marker: this.#newMarker() }
  }

  /** The first customers are never erased, so that calls have customers to work with. */
  #someErasure(known: Known): Ask | undefined {
    const customerId = this.#choice.pick(known.customers.slice(FIRST_CUSTOMERS))
    return customerId === undefined ? undefined : { _tag: "EraseCustomer", customerId }
  }

  #newMarker(): string {
    return `m-${++this.#markers}`
  }

  newUrl(): string {
    return `https://${this.#newMarker()}.example.com/hooks`
  }
}
