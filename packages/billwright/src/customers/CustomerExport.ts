/**
 * Implements `customers.export`, with what the REST API answers with.
 */
import { Customer, ExactJson } from "@billwright/core"
import { Effect } from "effect"
import type { CallOptions } from "../Call.ts"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import type { ExportedObject } from "./Customers.ts"

const toId = Ids.of(Customer.CUSTOMER_ID_PREFIX)

/** As a client of the REST API reads it. */
const read = (value: object): ExportedObject => ExactJson.parse(ExactJson.stringify(value)) as ExportedObject

const objects = async function* (
  calls: Calls,
  id: string,
  options: CallOptions | undefined,
): AsyncGenerator<ExportedObject, void> {
  // Loaded when it is needed, because most programs serve no REST API.
  const { CustomerExport } = await import("@billwright/http")
  const begin = () => Effect.flatMap(CustomerExport.make, (make) => make(toId(id)))
  const exporter = await calls.runAsIs(begin, options)
  for (;;) {
    const page = await calls.runAsIs(() => exporter.next, options)
    if (page === undefined) return
    for (const value of page) yield read(value)
  }
}

export const exportOf =
  (calls: Calls) =>
  (id: string, options?: CallOptions): AsyncIterable<ExportedObject> => ({
    [Symbol.asyncIterator]: () => objects(calls, id, options),
  })
