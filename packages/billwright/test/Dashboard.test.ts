/** The dashboard in real frameworks, behind the host's login, with and without a body parser. */
import { once } from "node:events"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getRequestListener } from "@hono/node-server"
import { type Billing, ConfigurationError, createBilling, type DashboardOptions } from "billwright"
import { memory } from "billwright/memory"
import express from "express"
import Fastify from "fastify"
import { Hono } from "hono"
import Koa from "koa"
// @ts-expect-error -- its types would change those of node:http for every test
import bodyParser from "koa-bodyparser"
import mount from "koa-mount"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const BASE = "/admin/billing"
const PAGE = `<!doctype html><meta name="billwright-dashboard" content="" /><script src="./assets/app-1a2b.js"></script>`

let directory: string
let billing: Billing
let secret: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "billwright-mounted-"))
  await mkdir(join(directory, "assets"))
  await writeFile(join(directory, "index.html"), PAGE)
  await writeFile(join(directory, "assets/app-1a2b.js"), "export {}")
  billing = await createBilling({ store: memory(), mode: "test", log: false })
  ;({ secret } = await billing.keys.create({ name: "tests" }))
})
afterAll(async () => {
  await billing.close()
  await rm(directory, { recursive: true })
})

const toLogin = () => new Response(null, { status: 303, headers: { location: "/login" } })

/** A login as of a host's session: an operator, another user, or nobody. */
const authorize = async (request: Request): Promise<boolean | Response> => {
  const cookie = request.headers.get("cookie")
  return cookie === "as=operator" || (cookie === null ? toLogin() : false)
}

const mounted = (options: Partial<DashboardOptions> = {}) =>
  billing.dashboard({ basePath: BASE, directory, authorize, ...options })

/** A server with the dashboard at its path, and a route of the host at `/own`. */
type Host = () => Promise<{ readonly listener: RequestListener; readonly close?: () => Promise<unknown> }>

const expressApp =
  (install: (app: express.Express) => unknown): Host =>
  async () => {
    const app = express()
    install(app)
    app.get("/own", (_request, response) => void response.send("own"))
    return { listener: app }
  }

const fastifyApp: Host = async () => {
  const app = Fastify()
  await app.register(mounted().fastify(), { prefix: BASE })
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

const fetchHost: Host = async () => {
  const dashboard = mounted()
  return {
    listener: getRequestListener((request) =>
      new URL(request.url).pathname === "/own" ? new Response("own") : dashboard.fetch(request),
    ) as RequestListener,
  }
}

const nodeServer: Host = async () => {
  const handler = mounted().node()
  return {
    listener: (request, response) => {
      if (request.url === "/own") response.end("own")
      else handler(request, response)
    },
  }
}

const hosts: Readonly<Record<string, Host>> = {
  "Express 5": expressApp((app) => app.use(mounted().express())),
  "Express 5 below a path": expressApp((app) => app.use(BASE, mounted().express())),
  "Express 5 behind express.json()": expressApp((app) => app.use(express.json()).use(mounted().express())),
  "Fastify 5": fastifyApp,
  Hono: honoApp((app) => app.all(`${BASE}/*`, mounted().hono())),
  "Hono behind a validator": honoApp((app) => {
    app.use("*", async (context, proceed) => {
      if (context.req.method === "POST") await context.req.json()
      await proceed()
    })
    app.all(`${BASE}/*`, mounted().hono())
  }),
  Koa: koaApp((app) => app.use(mounted().koa())),
  "Koa with koa-mount, behind a body parser": koaApp((app) =>
    app.use(bodyParser()).use(mount(BASE, mounted().koa())),
  ),
  "a Fetch server": fetchHost,
  "node:http": nodeServer,
}

const OPERATOR = { cookie: "as=operator", "billwright-dashboard": "1" }

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

    const ask = (path: string, headers: Record<string, string> = OPERATOR, init: RequestInit = {}) =>
      fetch(`${url}${path}`, { redirect: "manual", ...init, headers })

    it("serves the page and its files to an operator, and leaves other paths to the host", async () => {
      for (const path of ["", "/", "/events/evt_1", "/usage?customer=cus_1"]) {
        const page = await ask(`${BASE}${path}`)
        assert.strictEqual(page.status, 200, path)
        assert.include(page.headers.get("content-security-policy"), "frame-ancestors 'none'")
        const text = await page.text()
        assert.include(text, `src="${BASE}/assets/app-1a2b.js"`)
        assert.include(text, `"apiUrl":"${BASE}/v1","signIn":"host"`.replaceAll('"', "&quot;"))
      }
      assert.strictEqual(await (await ask(`${BASE}/assets/app-1a2b.js`)).text(), "export {}")
      assert.strictEqual(await (await ask("/own")).text(), "own")
    })

    it("lets an operator read and write without a key, in the mode of the billing", async () => {
      const created = await ask(
        `${BASE}/v1/customers`,
        { ...OPERATOR, "content-type": "application/json" },
        { method: "POST", body: '{"name":"Ada","email":"ada@example.com"}' },
      )
      assert.strictEqual(created.status, 201)
      const { id, livemode } = (await created.json()) as { id: string; livemode: boolean }
      assert.isFalse(livemode)
      assert.strictEqual((await billing.customers.get(id)).name, "Ada")
      const found = await ask(`${BASE}/v1/customers/${id}?`)
      assert.strictEqual(((await found.json()) as { id: string }).id, id)
      assert.strictEqual(
        (await ask(`${BASE}/v1/customers/${id}`, OPERATOR, { method: "DELETE" })).status,
        200,
      )
      assert.strictEqual((await ask(`${BASE}/v1/nothing`)).status, 404)
    })

    it("shows nothing to others", async () => {
      const stranger = { cookie: "as=somebody", "billwright-dashboard": "1" }
      assert.strictEqual((await ask(BASE, stranger)).status, 403)
      assert.strictEqual((await ask(`${BASE}/assets/app-1a2b.js`, stranger)).status, 403)
      assert.strictEqual((await ask(`${BASE}/v1/customers`, stranger)).status, 403)
      const page = await ask(`${BASE}/events`, {})
      assert.deepEqual([page.status, page.headers.get("location")], [303, "/login"])
      // An API key doesn't help either, because only the host decides who may enter.
      const data = await ask(`${BASE}/v1/customers`, {
        authorization: `Bearer ${secret}`,
        "billwright-dashboard": "1",
      })
      assert.deepEqual([data.status, ((await data.json()) as { error: string }).error], [401, "unauthorized"])
    })

    it("refuses requests that a foreign page sends by an operator's browser", async () => {
      const foreign = { cookie: "as=operator", "content-type": "text/plain" }
      const refused = await ask(`${BASE}/v1/customers`, foreign, { method: "POST", body: "{}" })
      assert.strictEqual(refused.status, 403)
      const preflight = await ask(
        `${BASE}/v1/customers`,
        { cookie: "as=operator", "access-control-request-headers": "billwright-dashboard" },
        { method: "OPTIONS" },
      )
      assert.isNull(preflight.headers.get("access-control-allow-headers"))
      assert.isAtLeast(preflight.status, 400)
    })
  })
}

describe("a dashboard without a login of the host", () => {
  it("asks for an API key, and gives no data without one", async () => {
    const { fetch: dashboard } = billing.dashboard({ basePath: BASE, directory })
    const ask = (path: string, headers: Record<string, string> = {}) =>
      dashboard(new Request(`http://localhost${BASE}${path}`, { headers }))
    assert.include(await (await ask("/")).text(), `"signIn":"key"`.replaceAll('"', "&quot;"))
    assert.strictEqual((await ask("/v1/customers")).status, 401)
    assert.strictEqual((await ask("/v1/customers", OPERATOR)).status, 401)
    assert.strictEqual((await ask("/v1/customers", { authorization: `Bearer ${secret}` })).status, 200)
    assert.strictEqual((await ask("/elsewhere")).status, 404)
  })
})

describe("options", () => {
  const customers = async (options: Partial<DashboardOptions>) => {
    const request = new Request(`http://localhost${BASE}/v1/customers`, { headers: OPERATOR })
    const { data } = (await (await mounted(options).fetch(request)).json()) as {
      data: ReadonlyArray<{ name: string; livemode: boolean }>
    }
    return data.map(({ livemode, name }) => [name, livemode])
  }

  it("choose the mode and the account that operators see", async () => {
    await billing.live.customers.create({ name: "Grace", email: "grace@example.com" })
    await billing.forAccount("other").customers.create({ name: "Alan", email: "alan@example.com" })
    assert.deepEqual(await customers({ mode: "live" }), [["Grace", true]])
    assert.deepEqual(await customers({ accountId: "other" }), [["Alan", false]])
    assert.deepEqual(await customers({ accountId: "other", mode: "live" }), [])
  })

  it("that are wrong are refused at once", () => {
    const wrong: ReadonlyArray<object | undefined> = [
      undefined,
      {},
      { basePath: "/" },
      { basePath: "admin" },
      { basePath: "/a b" },
      { basePath: BASE, authorize: true },
      { basePath: BASE, mode: "prod" },
      { basePath: BASE, authorise: () => true },
    ]
    for (const options of wrong)
      assert.throws(() => billing.dashboard(options as DashboardOptions), ConfigurationError)
  })

  it("of Fastify must have the same path as the prefix of the plugin", async () => {
    const app = Fastify()
    app.register(mounted().fastify(), { prefix: "/elsewhere" })
    const error = await app.ready().then(
      () => undefined,
      (problem: unknown) => problem,
    )
    assert.match(String(error), /prefix: "\/admin\/billing"/)
  })

  it("with a failing authorize let nobody in", async () => {
    const failing = () => Promise.reject(new Error("the session store is down"))
    const server = createServer(mounted({ authorize: failing }).node()).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    for (const path of ["/", "/v1/customers"]) {
      const answer = await fetch(`http://127.0.0.1:${port}${BASE}${path}`, { headers: OPERATOR })
      assert.strictEqual(answer.status, 500)
      assert.notInclude(await answer.text(), "session store")
    }
    server.close()
  })
})

it("answers 503 after billing is closed", async () => {
  const own = await createBilling({ store: memory(), log: false })
  const dashboard = own.dashboard({ basePath: BASE, directory, authorize: () => true })
  await own.close()
  for (const path of ["/", "/v1/customers"]) {
    const answer = await dashboard.fetch(new Request(`http://localhost${BASE}${path}`, { headers: OPERATOR }))
    assert.strictEqual(answer.status, 503)
  }
})

describe("streams and exports", () => {
  it.each([
    ["/v1/events/stream", 20],
    ["/v1/audit_log/export", 2],
    ["/v1/customers/:id/export", 2],
  ])("of one operator at %s leave those of another alone", async (path, limit) => {
    const { id } = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
    const { fetch } = mounted({
      authorize: ({ headers }) => ({ id: headers.get("cookie") ?? "", role: "admin" }),
    })
    const address = `http://shop.example${BASE}${path.replace(":id", id)}`
    const ask = (cookie: string) =>
      fetch(new Request(address, { headers: { "billwright-dashboard": "1", cookie } }))
    const ada = await Promise.all(Array.from({ length: limit }, () => ask("ada")))
    assert.deepStrictEqual([...new Set(ada.map(({ status }) => status))], [200])
    assert.strictEqual((await ask("ada")).status, 429)
    const bob = await ask("bob")
    assert.strictEqual(bob.status, 200)
    await Promise.all([...ada, bob].map(({ body }) => body?.cancel()))
  })
})

describe("the audit log", () => {
  const change = async (options: Partial<DashboardOptions>) => {
    const { fetch } = mounted(options)
    const request = new Request(`http://shop.example${BASE}/v1/customers`, {
      method: "POST",
      headers: {
        "billwright-dashboard": "1",
        "content-type": "application/json",
        authorization: "Bearer forged",
      },
      body: JSON.stringify({ name: "Ada", email: "ada@example.com" }),
    })
    const response = await fetch(request)
    assert.strictEqual(response.status, 201)
    const { id } = (await response.json()) as { readonly id: string }
    const [record] = (await billing.auditRecords.list({ objectId: id }).page()).data
    return { type: record?.actorType, id: record?.actorId, role: record?.actorRole }
  }

  it("says where the request comes from, behind the proxies that the host trusts", async () => {
    const own = await createBilling({ store: memory(), http: { trustedProxies: ["10.0.0.0/8"] } })
    const { fetch } = own.dashboard({ basePath: BASE, directory, authorize: () => true })
    const request = new Request(`http://shop.example${BASE}/v1/customers`, {
      method: "POST",
      headers: {
        "billwright-dashboard": "1",
        "content-type": "application/json",
        "x-forwarded-for": "203.0.113.7",
      },
      body: JSON.stringify({ name: "Ada", email: "ada@example.com" }),
    })
    const incoming = { socket: { remoteAddress: "10.0.0.1" } }
    assert.strictEqual((await fetch(request, { incoming } as never)).status, 201)
    const [record] = (await own.auditRecords.list().page()).data
    assert.strictEqual(record?.ip, "203.0.113.7")
    await own.close()
  })

  it("says which person used the dashboard, in which role", async () => {
    const ada = { id: "ada@example.com – Ålesund", role: "finance" } as const
    assert.deepStrictEqual(await change({ authorize: () => ada }), { type: "operator", ...ada })
    const nameless = { type: "operator", id: "operator", role: "admin" } as const
    assert.deepStrictEqual(await change({ authorize: async () => ({ role: "admin" }) }), nameless)
    assert.deepStrictEqual(await change({ authorize: () => true }), nameless)
  })

  it("lets a person do what the role may, and nobody whose role doesn't exist", async () => {
    const ask = async (role: string, method: "GET" | "POST") => {
      const { fetch } = mounted({ authorize: () => ({ id: "ada", role }) as never })
      const request = new Request(`http://shop.example${BASE}/v1/customers`, {
        method,
        headers: { "billwright-dashboard": "1", "content-type": "application/json" },
        ...(method === "POST" ? { body: JSON.stringify({ name: "Ada", email: "ada@example.com" }) } : {}),
      })
      return (await fetch(request)).status
    }
    assert.strictEqual(await ask("viewer", "GET"), 200)
    assert.strictEqual(await ask("viewer", "POST"), 403)
    assert.strictEqual(await ask("support", "POST"), 403)
    assert.strictEqual(await ask("finance", "POST"), 201)
    for (const wrong of ["owner", "toString", ""]) {
      await ask(wrong, "GET").then(
        (status) => assert.fail(`${wrong} got ${status}`),
        (error: Error) => assert.match(error.message, /^(authorize gave the role|role must be)/),
      )
    }
  })

  it("says which person your program acts for, also in a transaction", async () => {
    const ada = billing.as({ id: "ada", role: "finance" })
    const input = { name: "Ada", email: "ada@example.com" }
    const made = [
      await ada.customers.create(input),
      await ada.test.customers.create(input),
      await ada.transaction((tx) => tx.customers.create(input)),
    ]
    for (const { id } of made) {
      const [record] = (await billing.auditRecords.list({ objectId: id }).page()).data
      assert.deepInclude(record, { actorType: "operator", actorId: "ada", actorRole: "finance" })
    }
    const { id } = await billing.customers.create(input)
    const [record] = (await billing.auditRecords.list({ objectId: id, createdAfter: new Date(0) }).page())
      .data
    assert.deepInclude(record, { actorType: "host", actorId: "host" })
    assert.throws(() => billing.as({ id: "" }), /id must be 1 to 128 characters/)
    assert.throws(() => billing.as({ id: "ada", role: "r".repeat(65) }), /role must be 1 to 64 characters/)
  })
})
