/**
 * One side of the router benchmark as a process. `RouterProcess.ts <side>` prints its port, key and customers as
 * JSON, and serves until it is killed.
 */
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { Server } from "@billwright/http"
import { NodeHandler } from "@billwright/http/node"
import { serve } from "@hono/node-server"
import { Effect, Scope } from "effect"
import Fastify from "fastify"
import { Hono } from "hono"
import { type Handle, makeHandle, prepare, type Prepared, type UsageBody } from "./Handler.ts"

const HOST = "127.0.0.1"

const listen = (listener: RequestListener): Promise<number> =>
  new Promise((done) => {
    const server = createServer(listener).listen(0, HOST, () => done((server.address() as AddressInfo).port))
  })

/** The whole API: routing, keys, limits, validation, and the documented answers. */
const ours = async ({ context }: Prepared): Promise<number> => {
  const server = await Effect.runPromise(
    Effect.provide(Scope.provide(Server.make(), Scope.makeUnsafe()), context),
  )
  return listen(NodeHandler.make(server, context))
}

/** No router and no validation: the cost of `node:http`. */
const raw = (handle: Handle): Promise<number> =>
  listen((request, response) => {
    if (request.method !== "POST" || request.url !== "/v1/usage") {
      response.writeHead(404).end()
      return
    }
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as UsageBody
      void handle(request.headers.authorization, body).then(
        (record) => {
          const text = JSON.stringify(record)
          response.writeHead(201, {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(text),
          })
          response.end(text)
        },
        () => response.writeHead(500).end(),
      )
    })
  })

/** Hono on its Node adapter, without validation. */
const hono = (handle: Handle): Promise<number> => {
  const app = new Hono()
  app.post("/v1/usage", async (context) => {
    const body = await context.req.json<UsageBody>()
    return context.json(await handle(context.req.header("authorization"), body), 201)
  })
  return new Promise((done) => {
    serve({ fetch: app.fetch, port: 0, hostname: HOST }, ({ port }) => done(port))
  })
}

const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength }) as const

const schema = {
  body: {
    type: "object",
    additionalProperties: false,
    required: ["customer_id", "product_id", "quantity", "unit"],
    properties: {
      customer_id: { type: "string", pattern: "^cus_[0-7][0-9a-hjkmnp-tv-z]{25}$" },
      product_id: text(255),
      quantity: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      unit: text(64),
      timestamp: { type: "string", format: "date-time" },
      idempotency_key: text(255),
    },
  },
  response: {
    201: {
      type: "object",
      properties: {
        object: { type: "string" },
        id: { type: "string" },
        customer_id: { type: "string" },
        product_id: { type: "string" },
        quantity: { type: "integer" },
        unit: { type: "string" },
        timestamp: { type: "string" },
        idempotency_key: { type: ["string", "null"] },
        voided_at: { type: ["string", "null"] },
        livemode: { type: "boolean" },
        created_at: { type: "string" },
      },
    },
  },
} as const

/** Fastify with its own validation and serialization. */
const fastify = async (handle: Handle): Promise<number> => {
  const app = Fastify()
  app.post<{ Body: UsageBody }>("/v1/usage", { schema }, async (request, reply) =>
    reply.code(201).send(await handle(request.headers.authorization, request.body)),
  )
  await app.listen({ port: 0, host: HOST })
  return (app.server.address() as AddressInfo).port
}

/** What a request costs at least on Fastify: no schema, no key, and a sum for each customer, product and unit. */
const map = async (): Promise<number> => {
  const sums = new Map<string, number>()
  const app = Fastify()
  app.post<{ Body: UsageBody }>("/v1/usage", async ({ body }, reply) => {
    const key = `${body.customer_id}|${body.product_id}|${body.unit}`
    const sum = (sums.get(key) ?? 0) + body.quantity
    sums.set(key, sum)
    return reply.code(201).send({ sum })
  })
  await app.listen({ port: 0, host: HOST })
  return (app.server.address() as AddressInfo).port
}

const prepared = await prepare()
const handle = makeHandle(prepared.context)
const sides: Readonly<Record<string, () => Promise<number>>> = {
  ours: () => ours(prepared),
  raw: () => raw(handle),
  hono: () => hono(handle),
  fastify: () => fastify(handle),
  map,
}
const port = await sides[process.argv[2] ?? ""]!()
console.log(JSON.stringify({ port, key: prepared.key, customers: prepared.customers }))
