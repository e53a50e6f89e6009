/** The REST API in real frameworks: below a path, with and without a body parser, with streams and aborted requests. */
import { once } from "node:events"
import { createServer, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { getRequestListener } from "@hono/node-server"
import {
  type Billing,
  ClosedError,
  ConfigurationError,
  createBilling,
  type DashboardHandlers,
} from "billwright"
import { memory } from "billwright/memory"
import express from "express"
import Fastify from "fastify"
import { Hono } from "hono"
import Koa from "koa"
// @ts-expect-error -- its types would change those of node:http for every test
import bodyParser from "koa-bodyparser"
import mount from "koa-mount"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { rejection } from "./Rejection.ts"

let billing: Billing
let secret: string

beforeAll(async () => {
  billing = await createBilling({ store: memory(), mode: "test", log: false })
  ;({ secret } = await billing.keys.create({ name: "tests" }))
})
afterAll(() => billing.close())

/** A server with the API at `/billing`, and a route of the host at `/own` that answers 200. */
type Host = () => Promise<{ readonly listener: RequestListener; readonly close?: () => Promise<unknown> }>

const expressApp =
  (parsers: ReadonlyArray<ReturnType<typeof express.json>>): Host =>
  async () => {
    const app = express()
    for (const parser of parsers) app.use(parser)
    app.use("/billing", billing.express())
    app.get("/own", (_request, response) => void response.send("own"))
    return { listener: app }
  }

const fastifyApp: Host = async () => {
  const app = Fastify()
  await app.register(billing.fastify(), { prefix: "/billing" })
  app.post("/parsed", async ({ body }) => body)
  app.get("/own", async () => "own")
  await app.ready()
  return { listener: (request, response) => app.routing(request, response), close: () => app.close() }
}

const honoApp =
  (install: (app: Hono) => unknown): Host =>
  async () => {
    const app = new Hono()
    install(app)
    app.get("/own", (context) => context.text("own"))
    return { listener: getRequestListener(app.fetch) as RequestListener }
  }

const koaApp =
  (install: (app: Koa) => unknown): Host =>
  async () => {
    const app = new Koa()
    install(app)
    app.use((context) => {
      context.body = "own"
    })
    return { listener: app.callback() }
  }

/** Like a file `app/billing/[...path]/route.ts` of Next.js. */
const nextRoute = (request: Request) => billing.fetch(request, { basePath: "/billing" })
const next: Host = async () => ({
  listener: getRequestListener((request) =>
    new URL(request.url).pathname.startsWith("/billing/") ? nextRoute(request) : new Response("own"),
  ) as RequestListener,
})

const nodeServer: Host = async () => {
  const handler = billing.node({ basePath: "/billing" })
  return {
    listener: (request, response) => {
      if (request.url?.startsWith("/billing/")) handler(request, response)
      else response.end("own")
    },
  }
}

const honoDashboard = (dashboard: DashboardHandlers): RequestListener =>
  getRequestListener(new Hono().all("/admin/billing/*", dashboard.hono()).fetch) as RequestListener

const hosts: Readonly<Record<string, Host>> = {
  "Express 5": expressApp([]),
  "Express 5 behind express.json()": expressApp([express.json()]),
  "Express 5 behind express.raw()": expressApp([express.raw({ type: "*/*" })]),
  "Express 5 behind express.text()": expressApp([express.text({ type: "*/*" })]),
  "Fastify 5": fastifyApp,
  Hono: honoApp((app) => app.all("/billing/*", billing.hono())),
  "Hono, mounted": honoApp((app) => app.mount("/billing", billing.fetch)),
  "Hono behind a validator": honoApp((app) => {
    app.use("*", async (context, proceed) => {
      if (context.req.method === "POST") await context.req.json()
      await proceed()
    })
    app.all("/billing/*", billing.hono())
  }),
  "Koa with koa-mount": koaApp((app) => app.use(mount("/billing", billing.koa()))),
  "Koa behind a body parser": koaApp((app) =>
    app.use(bodyParser()).use(billing.koa({ basePath: "/billing" })),
  ),
  "a Next-style route": next,
  "node:http": nodeServer,
}

for (const [name, host] of Object.entries(hosts)) {
  describe(name, () => {
    let url: string
    let close: () => Promise<void>

    beforeAll(async () => {
      const { close: closeApp, listener } = await host()
      const server = createServer(listener).listen(0, "127.0.0.1")
      await once(server, "listening")
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      close = async () => {
        server.close()
        server.closeAllConnections()
        await closeApp?.()
      }
    })
    afterAll(() => close())

    const ask = (path: string, init: RequestInit & { readonly json?: string } = {}) =>
      fetch(`${url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        ...(init.json === undefined ? {} : { method: "POST", body: init.json }),
      })

    it("serves the API below its path, and leaves other paths to the host", async () => {
      const created = await ask("/billing/v1/customers", { json: '{"name":"Ada","email":"ada@example.com"}' })
      assert.strictEqual(created.status, 201)
      const { id } = (await created.json()) as { id: string }
      const found = await ask(`/billing/v1/customers/${id}?`)
      assert.strictEqual(((await found.json()) as { id: string }).id, id)
      assert.strictEqual((await ask("/billing/livez")).status, 200)
      assert.strictEqual((await fetch(`${url}/billing/v1/nothing`)).status, 401)
      assert.strictEqual((await ask("/billing/nothing")).status, 404)
      assert.strictEqual(await (await ask("/own")).text(), "own")
      const empty = await ask(`/billing/v1/customers/${id}`, { method: "DELETE" })
      assert.strictEqual(empty.status, 200)
    })

    it("refuses a number that a parser may have changed", async () => {
      const { id } = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
      const threshold = (quantity: string) =>
        `{"customer_id":"${id}","product_id":"api","unit":"call","period":"day","quantity":${quantity}}`
      const exact = await ask("/billing/v1/usage/thresholds", { json: threshold("1000") })
      assert.strictEqual(exact.status, 201)
      const response = await ask("/billing/v1/usage/thresholds", { json: threshold("9007199254740993") })
      const text = await response.text()
      if (response.status === 201) assert.include(text, '"quantity":9007199254740993')
      else {
        assert.strictEqual(response.status, 400)
        assert.match(text, /JSON parser that rounds quantity: mount the billing handler before/)
      }
      assert.strictEqual(response.status, name.endsWith("express.json()") ? 400 : 201)
    })

    it("knows where a request comes from, also behind a parser", async () => {
      const networks = ["127.0.0.0/8", "::1/128"]
      const { secret } = await billing.keys.create({ name: "here", networks })
      const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" }
      const read = await fetch(`${url}/billing/v1/customers`, { headers })
      const body = JSON.stringify({ name: "Ada", email: "ada@example.com" })
      const written = await fetch(`${url}/billing/v1/customers`, { method: "POST", headers, body })
      // A host that gives a Request alone does not tell.
      const isTold = read.status === 200
      assert.deepStrictEqual([read.status, written.status], isTold ? [200, 201] : [401, 401])
      if (name.startsWith("Express")) assert.isTrue(isTold)
    })

    it("streams events until the client disconnects", async () => {
      const controller = new AbortController()
      const response = await ask("/billing/v1/events/stream", { signal: controller.signal })
      assert.strictEqual(response.headers.get("content-type")?.split(";")[0], "text/event-stream")
      const { event } = await billing.events.publish({
        type: "invoice.paid",
        data: { invoice_id: "in_1", customer_id: "ours", amount: 1, currency: "EUR" },
      })
      let text = ""
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk
        if (text.includes(event.id)) break
      }
      assert.include(text, `id: ${event.id}`)
      controller.abort()
      assert.strictEqual((await ask("/billing/livez")).status, 200)
    })
  })
}

describe("the host's own parsers", () => {
  it("still work beside the plugin of Fastify", async () => {
    const app = Fastify()
    await app.register(billing.fastify(), { prefix: "/billing" })
    app.post("/parsed", async ({ body }) => body)
    const response = await app.inject({ method: "POST", url: "/parsed", payload: { a: 1 } })
    assert.deepStrictEqual(response.json(), { a: 1 })
    await app.close()
  })
})

describe.concurrent("a server that stops", () => {
  const headers = () => ({ authorization: `Bearer ${secret}` })

  const served = async (listener: RequestListener) => {
    const server = createServer(listener).listen(0, "127.0.0.1")
    await once(server, "listening")
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }

  const closes = async (name: string, listener: RequestListener, path: string) => {
    const { server, url } = await served(listener)
    const stream = await fetch(`${url}${path}/v1/events/stream`, { headers: headers() })
    assert.strictEqual(stream.status, 200, name)
    server.close()
    await once(server, "close")
    assert.strictEqual(await stream.text(), "retry: 1000\n\n", name)
  }

  it("is not kept open by streams of events", async () => {
    const dashboard = billing.dashboard({ basePath: "/admin/billing" })
    // A plain `Request` has no reference to its server.
    const known = Object.entries(hosts).filter(([name]) => name !== "a Next-style route")
    await Promise.all([
      ...known.map(async ([name, host]) => {
        const { close, listener } = await host()
        await closes(name, listener, "/billing")
        await close?.()
      }),
      closes("the dashboard", dashboard.node(), "/admin/billing"),
      closes("the dashboard in Hono", honoDashboard(dashboard), "/admin/billing"),
    ])
  })

  it("is closed together with Fastify", async () => {
    const app = Fastify()
    await app.register(billing.fastify(), { prefix: "/billing" })
    const url = await app.listen({ host: "127.0.0.1", port: 0 })
    const stream = await fetch(`${url}/billing/v1/events/stream`, { headers: headers() })
    await app.close()
    assert.strictEqual(await stream.text(), "retry: 1000\n\n")
  })

  it("finishes running requests, including those that need billing", async () => {
    const closing = await createBilling({ store: memory(), log: false })
    const { id: customerId } = await closing.customers.create({ name: "Ada", email: "ada@example.com" })
    const key = await closing.keys.create({ name: "tests" })
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const app = express()
    app.use("/billing", closing.express())
    app.post("/orders", async (_request, response) => {
      arrived.resolve()
      await released.promise
      await closing.usage.record({ customerId, productId: "shop", quantity: 1, unit: "order" })
      response.sendStatus(201)
    })
    const { server, url } = await served(app)
    const stream = await fetch(`${url}/billing/v1/events/stream`, {
      headers: { authorization: `Bearer ${key.secret}` },
    })
    const order = fetch(`${url}/orders`, { method: "POST", headers: { connection: "close" } })
    await arrived.promise
    const stopped = new Promise<void>((resolve) => {
      server.close(() => resolve(closing.close()))
    })
    assert.strictEqual(await stream.text(), "retry: 1000\n\n")
    released.resolve()
    assert.strictEqual((await order).status, 201)
    await stopped
  })
})

describe("a handler", () => {
  it("ends its streams when billing is closed, and finishes running requests", async () => {
    const closing = await createBilling({ store: memory(), mode: "test", log: false })
    const key = await closing.keys.create({ name: "tests" })
    const server = createServer(closing.node()).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const headers = { authorization: `Bearer ${key.secret}` }
    const path = "/v1/events/stream"
    const direct = await closing.fetch(new Request(`http://localhost${path}`, { headers }))
    const served = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    const underWay = closing.fetch(new Request("http://localhost/v1/customers", { headers }))
    const ends = [direct, served].map((response) => response.text())
    await closing.close()
    // The streams end completely. A client would get an error if they were cut off.
    assert.deepStrictEqual(await Promise.all(ends), ["retry: 1000\n\n", "retry: 1000\n\n"])
    assert.strictEqual((await underWay).status, 200)
    assert.strictEqual((await fetch(`http://127.0.0.1:${port}/livez`)).status, 503)
    server.close()
    server.closeAllConnections()
  })

  describe.each(["Express", "Koa"])("of %s behind middleware that waits", (framework) => {
    it("does not hold up the end of billing for a client that is gone by then", async () => {
      const closing = await createBilling({ store: memory(), log: false })
      const arrived = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      const waitsForItsEnd = async (response: ServerResponse, proceed: () => unknown) => {
        const gone = once(response, "close")
        arrived.resolve()
        await gone
        await proceed()
        left.resolve()
      }
      const listener =
        framework === "Express"
          ? express()
              .use((_request, response, proceed) => void waitsForItsEnd(response, proceed))
              .use(closing.express())
          : new Koa()
              .use(({ res }, proceed) => waitsForItsEnd(res, proceed))
              .use(closing.koa())
              .callback()
      const server = createServer(listener).listen(0, "127.0.0.1")
      await once(server, "listening")
      const { port } = server.address() as AddressInfo
      const controller = new AbortController()
      const { signal } = controller
      const asked = rejection(fetch(`http://127.0.0.1:${port}/livez`, { signal }))
      await arrived.promise
      controller.abort()
      await asked
      await left.promise
      // Waiting for the request would end by a timer only.
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
      await closing.close().finally(() => vi.useRealTimers())
      server.close()
    })
  })

  it("answers 500 inside the function of a transaction that it would have to wait for", async () => {
    const app = Fastify()
    await app.register(billing.fastify(), { prefix: "/billing" })
    const headers = { authorization: `Bearer ${secret}` }
    const assertTold = (status: number, body: unknown) => {
      assert.strictEqual(status, 500)
      const { error, message } = body as { readonly error: string; readonly message: string }
      assert.strictEqual(error, "internal_error")
      assert.match(
        message,
        /would wait for ever, because it was called inside the function of billing\.transaction/,
      )
    }
    await billing.transaction(async () => {
      const injected = await app.inject({ url: "/billing/v1/customers", headers })
      assertTold(injected.statusCode, injected.json())
      const fetched = await billing.fetch(new Request("http://localhost/v1/customers", { headers }))
      assertTold(fetched.status, await fetched.json())
    })
    await app.close()
  })

  it("can't be mounted after billing is closed", async () => {
    const closed = await createBilling({ store: memory(), log: false })
    await closed.close()
    const mounts = [
      () => closed.node(),
      () => closed.express(),
      () => closed.fastify(),
      () => closed.hono(),
      () => closed.koa(),
      () => closed.dashboard({ basePath: "/admin/billing" }),
    ]
    for (const mount of mounts) assert.throws(mount, ClosedError)
    assert.strictEqual((await closed.fetch(new Request("http://localhost/livez"))).status, 503)
  })

  it("rejects with the reason of the request's signal", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    controller.abort(reason)
    const { signal } = controller
    assert.strictEqual(
      await rejection(billing.fetch(new Request("http://localhost/livez", { signal }))),
      reason,
    )
  })

  it("explains that it can't use a request whose body was already read and not kept", async () => {
    const request = new Request("http://localhost/v1/customers", {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: "{}",
    })
    await request.text()
    const response = await billing.fetch(request)
    assert.strictEqual(response.status, 400)
    assert.match(((await response.json()) as { message: string }).message, /already read/)
  })

  it("refuses unknown options", () => {
    const mount = { bsePath: "/x" } as never
    for (const name of ["express", "node", "hono", "koa"] as const)
      assert.throws(
        () => billing[name](mount),
        ConfigurationError,
        `${name} has no option "bsePath": its options are basePath`,
      )
  })

  it("refuses an invalid base path", () => {
    assert.throws(() => billing.express({ basePath: "billing" }), 'basePath must start with /: "/billing"')
  })
})
