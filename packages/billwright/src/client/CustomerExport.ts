/**
 * Reads the export of a customer: lines of JSON, and a last one that says that it is whole.
 */
import type { ExportedObject } from "../customers/Customers.ts"
import { ConnectionError } from "./ApiError.ts"
import type { Connection } from "./Connection.ts"
import * as ExactJson from "./ExactJson.ts"
import { linesOf } from "./Lines.ts"
import { path } from "./Requests.ts"

const END = "customer_export"

export const exported = async function* (
  connection: Connection,
  id: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ExportedObject, void> {
  const response = await connection.openLines(path`/customers/${id}/export`, signal)
  for await (const line of linesOf(response.body!)) {
    const value = ExactJson.parse(line) as ExportedObject
    if (value.object === END) return
    yield value
  }
  throw new ConnectionError("network_error", "the export broke off before its end: begin again")
}
