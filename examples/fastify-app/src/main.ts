/** A shop on Fastify, with its billing in memory or on Postgres. See README.md. */
import { ConflictError, createBilling, InvalidInputError, NotFoundError } from "billwright"
import { memory } from "billwright/memory"
import { postgres } from "billwright/postgres"
import Fastify, { type FastifyError } from "fastify"

const url = process.env["DATABASE_URL"]
const store = url === undefined ? memory() : postgres({ url })
const billing = await createBilling({ store })

// The first start prints the first key of the REST API.
if ((await billing.keys.list({ limit: 1 }).page()).data.length === 0)
  console.log(`key ${(await billing.keys.create({ name: "first" })).secret}`)

const app = Fastify()
app.register(billing.fastify(), { prefix: "/billing" })
app.addHook("onClose", () => billing.close())

const string = { type: "string" }
const integer = { type: "integer" }
/** A schema for a body. All fields are required, and other fields are ignored. */
const bodyOf = (properties: Record<string, object>) => ({
  schema: {
    body: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
  },
})

app.post<{ Body: { name: string; email: string } }>(
  "/customers",
  bodyOf({ name: string, email: string }),
  async ({ body }, reply) => {
    const { id } = await billing.customers.create(body)
    return reply.code(201).send({ id })
  },
)

// The caller chooses the order's id, so an order that is sent again counts once.
app.put<{ Params: { customerId: string; id: string }; Body: { items: number; cents: number } }>(
  "/customers/:customerId/orders/:id",
  bodyOf({ items: integer, cents: integer }),
  async ({ body: { cents, items }, params: { customerId, id } }, reply) => {
    // Stores usage and its event, or neither.
    await billing.transaction(async (tx) => {
      const idempotencyKey = `${customerId}-${id}`
      const usage = { customerId, productId: "shop", quantity: items, unit: "item", idempotencyKey }
      await tx.usage.record(usage)
      const data = { invoice_id: id, customer_id: customerId, amount: cents, currency: "EUR" }
      await tx.events.publish({ type: "invoice.paid", data, customerId, idempotencyKey })
    })
    return reply.code(204).send()
  },
)

app.get<{ Params: { customerId: string } }>("/customers/:customerId/usage", async ({ params }) => {
  const { totalQuantity } = await billing.usage.summary({ customerId: params.customerId, unit: "item" })
  // A string, because many JSON parsers would round a large total.
  return { items: String(totalQuantity) }
})

app.setErrorHandler((error, _request, reply) => {
  if (error instanceof InvalidInputError) return reply.code(400).send({ error: error.message })
  if (error instanceof NotFoundError) return reply.code(404).send({ error: error.message })
  if (error instanceof ConflictError) return reply.code(409).send({ error: error.message })
  // Errors of Fastify, such as those of the schemas, explain what is wrong with the request.
  const { statusCode = 500 } = error as FastifyError
  if (statusCode < 500) return reply.send(error)
  console.error(error)
  return reply.code(500).send({ error: "something went wrong here" })
})

console.log(
  `listening on ${await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 3000) })}`,
)
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void app.close())
