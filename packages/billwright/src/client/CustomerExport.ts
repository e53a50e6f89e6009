/**
 * Reads the export of a customer: lines of JSON, and a last one that says that it is whole.
 */
import type { ExportedObject } from "../customers/Customers.ts"
import { ConnectionError } from "./ApiError.ts"
import { type Connection, rethrow } from "./Connection.ts"
import * as ExactJson from "./ExactJson.ts"
import { linesOf } from "./Lines.ts"
import { path } from "./Requests.ts"

const END = "customer_export"
const BROKEN_OFF = "the export broke off before its end: begin again"

/** The next object; `undefined` at the end of a whole export. */
const read = async (
  lines: AsyncGenerator<string>,
  signal: AbortSignal | undefined,
): Promise<ExportedObject | undefined> => {
  try {
    const { done, value: line } = await lines.next()
    if (done) throw new ConnectionError("network_error", BROKEN_OFF)
    const value = ExactJson.parse(line) as ExportedObject
    return value.object === END ? undefined : value
  } catch (cause) {
    return rethrow(cause, signal, BROKEN_OFF)
  }
}

export const exported = async function* (
  connection: Connection,
  id: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ExportedObject, void> {
  const response = await connection.openLines(path`/customers/${id}/export`, signal)
  const lines = linesOf(response.body!)
  try {
    for (let value; (value = await read(lines, signal)) !== undefined;) yield value
  } finally {
    // Lets go of the connection, also when the caller leaves the loop.
    await lines.return(undefined)
  }
}
