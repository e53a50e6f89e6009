/**
 * The usage records behind a line of an invoice.
 *
 * They are found by what the line bills: the meter and the filters of its charge, in the version of the plan that priced
 * it, and its service period. A period is always rated as a whole. So a record that came late is behind the line that
 * first billed the period and behind the adjustment on a later invoice, and together those lines bill exactly the records.
 */
import { Effect, Option, Schema } from "effect"
import type { PlanStore } from "../catalog/PlanStore.ts"
import type { CollectionOf } from "../shared/Collections.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { nameCursor, type Page, pageFields, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { meters } from "../usage/Meter.ts"
import type { UsageRecord } from "../usage/UsageRecord.ts"
import type { UsageStore } from "../usage/UsageStore.ts"
import type { Invoice } from "./Invoice.ts"

/** Which page of records to list. */
const ListLineRecords = Schema.Struct(pageFields)
export interface ListLineRecords extends Schema.Schema.Type<typeof ListLineRecords> {}

const decodeList = decoder(ListLineRecords)
const NONE: Page<UsageRecord> = { data: [], hasMore: false }

type Line = Invoice["lines"][number]

/** Reads the records behind lines. */
export class LineRecords {
  readonly #plans: PlanStore["Service"]
  readonly #meters: CollectionOf<typeof meters>
  readonly #usage: UsageStore["Service"]

  constructor(
    plans: PlanStore["Service"],
    meters_: CollectionOf<typeof meters>,
    usage: UsageStore["Service"],
  ) {
    this.#plans = plans
    this.#meters = meters_
    this.#usage = usage
  }

  /** Newest first. None behind a line that bills no usage. */
  list(
    { customerId, lines }: Invoice,
    lineId: string,
    request: ListLineRecords,
  ): Effect.Effect<Page<UsageRecord>, InvalidInput | StorageError, CurrentTenant> {
    return Effect.gen({ self: this }, function* () {
      const page = yield* toQuery(yield* decodeList(request))
      const line = lines.find(({ id }) => id === lineId)
      if (line === undefined) {
        return yield* new InvalidInput({ field: "lineId", problem: "is not a line of the invoice" })
      }
      const filter = yield* this.#filterOf(line)
      if (filter === undefined) return NONE
      return yield* this.#usage.list({ customerId, ...filter }, page).pipe(nameCursor(request))
    })
  }

  #filterOf({ charge: key, origin, periodEnd: end, periodStart: start }: Line) {
    return Effect.gen({ self: this }, function* () {
      if (origin === null || start === null || end === null) return undefined
      const version = yield* this.#plans.findVersion(origin.plan.key, origin.plan.version)
      const charges = Option.isNone(version) ? [] : version.value.terms.charges
      const charge = charges.find((one) => one.key === key)
      if (charge?.meter === undefined) return undefined
      // Also a meter that is archived: it was not when the line was billed.
      const { data } = yield* this.#meters
        .list({ key: charge.meter }, { limit: 1, cursor: undefined })
        .pipe(Effect.catchTag("CursorNotFound", Effect.die))
      const [meter] = data
      if (meter === undefined) return undefined
      const { by, where = {} } = charge
      const { group } = origin
      const own = by === undefined || group === null ? [] : [[by, [group]] as const]
      return {
        productId: meter.productId,
        unit: meter.unit,
        where: [...Object.entries(where), ...own],
        counted: { start, end, ...(by !== undefined && group === null ? { lacking: by } : {}) },
      }
    })
  }
}
