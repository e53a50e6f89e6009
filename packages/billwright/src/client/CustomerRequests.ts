/**
 * Customers over the API.
 */
import type { Customer, Customers } from "../customers/Customers.ts"
import type { Connection } from "./Connection.ts"
import { list, path, read, write } from "./Requests.ts"

export const makeCustomers = (connection: Connection): Customers => ({
  create: (input, options) => write(connection, "POST", "/customers", input, options),
  get: (id, options) => read(connection, path`/customers/${id}`, undefined, options),
  update: (id, input, options) => write(connection, "PATCH", path`/customers/${id}`, input, options),
  erase: async (id, options) => {
    await write(connection, "DELETE", path`/customers/${id}`, undefined, options)
  },
  list: (query, options) => list<object, Customer>(connection, "/customers", query, options),
})
