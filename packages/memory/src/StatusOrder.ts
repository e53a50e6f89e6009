/**
 * Deliveries in the order of their ids, in total and by status.
 */
import type { Delivery } from "@billwright/core"
import { IdOrder } from "./IdOrder.ts"

export class StatusOrder<Row extends { readonly id: string }> {
  readonly #all = new IdOrder<Row>()
  readonly #byStatus = {
    Pending: new IdOrder<Row>(),
    Delivered: new IdOrder<Row>(),
    Failed: new IdOrder<Row>(),
  }

  /** The rows in one status, or all rows. */
  of(status: Delivery.DeliveryStatus | undefined): IdOrder<Row> {
    return status === undefined ? this.#all : this.#byStatus[status]
  }

  /** Moves a row from one status to another. `undefined` means that the row is not in the table. */
  move(
    row: Row,
    before: Delivery.DeliveryStatus | undefined,
    after: Delivery.DeliveryStatus | undefined,
  ): void {
    if (before === after) return
    if (before !== undefined) this.#byStatus[before].remove(row)
    else this.#all.insert(row)
    if (after !== undefined) this.#byStatus[after].insert(row)
    else this.#all.remove(row)
  }
}
