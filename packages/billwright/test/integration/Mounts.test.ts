/**
 * A guard of the host protects the dashboard and the API that are mounted behind it. The guard compares paths as its
 * framework does. If a spelling of a path gets past the guard, the dashboard and the API must not serve it either.
 */
import "reflect-metadata"
import { once } from "node:events"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type RequestListener, request as send } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getRequestListener } from "@hono/node-server"
import type { MiddlewareConsumer } from "@nestjs/common"
import { NestFactory } from "@nestjs/core"
import { type Billing, createBilling } from "billwright"
import { memory } from "billwright/memory"
import express from "express"
import Fastify from "fastify"
import { Hono, type MiddlewareHandler } from "hono"
import { createProxyMiddleware } from "http-proxy-middleware"
import Koa from "koa"
import mount from "koa-mount"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const DASHBOARD = "/admin/billing"
const API = "/admin/api"
const PAGE = `<!doctype html><meta name="billwright-dashboard" content="" />`
const OPERATOR = { cookie: "as=operator" }

let directory: string
let billing: Billing

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "billwright-mounts-"))
  await mkdir(join(directory, "assets"))
  await writeFile(join(directory, "index.html"), PAGE)
  await writeFile(join(directory, "assets/app-1a2b.js"), "export {}")
  billing = await createBilling({ store: memory(), mode: "test", log: false })
})
afterAll(async () => {
  await billing.close()
  await rm(directory, { recursive: true })
})

/** Lets everybody in, because only the guard of the host protects this dashboard. */
const dashboard = () => billing.dashboard({ basePath: DASHBOARD, directory, authorize: () => true })

/** The protected paths below the mounts. */
const targets = [
  `${DASHBOARD}`,
  `${DASHBOARD}/assets/app-1a2b.js`,
  `${DASHBOARD}/v1/customers`,
  `${API}/livez`,
]

/** Spellings of a target that a guard may not recognise. */
const disguises: ReadonlyArray<(target: string) => string> = [
  (target) => `/${target}`,
  (target) => `//${target}`,
  (target) => `/localhost/${target}`,
  (target) => `//localhost${target}`,
  (target) => target.replaceAll("/", "//"),
  (target) => target.replace("/admin/", "/admin//"),
  (target) => `/.${target}`,
  (target) => `/%2e${target}`,
  (target) => `/x/..${target}`,
  (target) => `/x/y/../..${target}`,
  (target) => `/..${target}`,
  (target) => `/x/%2e%2e${target}`,
  (target) => `/x/%2E%2E${target}`,
  (target) => `/x/.%2e${target}`,
  (target) => `/x/%2e.${target}`,
  (target) => `/x/%252e%252e${target}`,
  (target) => `/x/..%2f${target.slice(1)}`,
  (target) => `/x/..;${target}`,
  (target) => `/x;/..${target}`,
  (target) => `/x/..\\${target.slice(1)}`,
  (target) => `/x\\..${target}`,
  (target) => `/x\\..\\${target.slice(1)}`,
  (target) => `/\\${target.slice(1)}`,
  (target) => `/.\\${target.slice(1)}`,
  (target) => `/${target.slice(1).replaceAll("/", "\\")}`,
  (target) => target.replace("/admin/", "/admin\\"),
  (target) => target.replace("/admin/", "/admin%2f"),
  (target) => target.replace("/admin/", "/admin%2F"),
  (target) => target.replace("/admin/", "/admin%5c"),
  (target) => target.replace("/admin/", "/admin;/"),
  (target) => target.replace("/admin/", "/admin/./"),
  (target) => target.replace("/admin/", "/admin/x/../"),
  (target) => target.replace("/admin/", "/ADMIN/"),
  (target) => target.replace("/admin", "/%61dmin"),
  (target) => target.replace("/admin", "/adm%69n"),
  (target) => target.replace("/admin", "/%2561dmin"),
  (target) => target.replace("/admin", "/admin%00"),
  (target) => `/%2f${target.slice(1)}`,
  (target) => `/%5c${target.slice(1)}`,
  (target) => `/x#/..${target}`,
  (target) => `/x?/..${target}`,
  (target) => `#${target}`,
  (target) => `*${target}`,
  (target) => `http://localhost${target}`,
  (target) => `http://localhost/${target}`,
  (target) => `http://localhost/x/..${target}`,
  (target) => `http://localhost\\x\\..${target}`,
  (target) => `HTTP://LOCALHOST${target}`,
  (target) => `http:${target}`,
  (target) => `http://${target}`,
]

interface Answer {
  readonly status: number
  readonly text: string
}

/** Sends a request with the target unchanged. `fetch` would normalise it. */
const askAt = (port: number, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const all = { "billwright-dashboard": "1", ...headers }
    const asked = send({ port, path, headers: all, host: "127.0.0.1", agent: false }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => (text += chunk))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.on("error", reject).end()
  })

const STOPPED = "stopped by the guard"
const isBelow = (path: string) => path === "/admin" || path.startsWith("/admin/")

/** A server with the mounts behind a guard, which refuses `/admin` without a cookie. */
type Host = () => Promise<{ readonly listener: RequestListener; readonly close?: () => Promise<unknown> }>

const guardExpress: express.RequestHandler = ({ headers }, response, next) => {
  if (headers.cookie === OPERATOR.cookie) next()
  else response.status(401).send(STOPPED)
}

const expressApp =
  (install: (app: express.Express) => unknown): Host =>
  async () => {
    const app = express()
    app.use("/admin", guardExpress)
    install(app)
    return { listener: app }
  }

const fastifyApp =
  (options: object): Host =>
  async () => {
    const app = Fastify({ routerOptions: options })
    app.addHook("onRequest", async (request, reply) => {
      const isGuarded = isBelow(request.url.split("?")[0]!)
      if (isGuarded && request.headers.cookie !== OPERATOR.cookie) return reply.code(401).send(STOPPED)
    })
    await app.register(dashboard().fastify(), { prefix: DASHBOARD })
    await app.register(billing.fastify(), { prefix: API })
    await app.ready()
    return { listener: (request, response) => app.routing(request, response), close: () => app.close() }
  }

const refuse: MiddlewareHandler = async (context, next) =>
  context.req.header("cookie") === OPERATOR.cookie ? next() : context.text(STOPPED, 401)

/** A guard that compares decoded paths, as Hono does. */
const byRoute = (app: Hono) => app.use("/admin/*", refuse)
/** A guard that compares the path of the URL without decoding it, as many do. */
const byPathname = (app: Hono) =>
  app.use("*", (context, next) =>
    isBelow(new URL(context.req.url).pathname) ? refuse(context, next) : next(),
  )

const honoApp =
  (...installs: ReadonlyArray<(app: Hono) => unknown>): Host =>
  async () => {
    const app = new Hono()
    for (const install of installs) install(app)
    return { listener: getRequestListener(app.fetch) as RequestListener }
  }

const honoRoutes = (app: Hono) =>
  app.all(`${DASHBOARD}/*`, dashboard().hono()).all(`${API}/*`, billing.hono())

const koaApp =
  (install: (app: Koa) => unknown): Host =>
  async () => {
    const app = new Koa()
    app.use((context, next) => {
      if (!isBelow(context.path) || context.headers.cookie === OPERATOR.cookie) return next()
      context.status = 401
      context.body = STOPPED
    })
    install(app)
    return { listener: app.callback() }
  }

const nestApp: Host = async () => {
  class BillingModule {
    configure(consumer: MiddlewareConsumer) {
      consumer.apply(guardExpress).forRoutes("/admin", "/admin/{*path}")
      consumer.apply(dashboard().express(), billing.express({ basePath: API })).forRoutes("{*path}")
    }
  }
  Reflect.defineMetadata("imports", [], BillingModule)
  const app = await NestFactory.create(BillingModule, { logger: false })
  await app.init()
  return { listener: app.getHttpAdapter().getInstance() as RequestListener, close: () => app.close() }
}

/** Like Next.js: a middleware that checks the path of the URL, and then a catch-all route. */
const fetchHost =
  (answer: (request: Request) => Promise<Response>): Host =>
  async () => ({
    listener: getRequestListener((request) => {
      const isGuarded = isBelow(new URL(request.url).pathname)
      return isGuarded && request.headers.get("cookie") !== OPERATOR.cookie
        ? new Response(STOPPED, { status: 401 })
        : answer(request)
    }) as RequestListener,
  })

const nodeServer =
  (pathOf: (target: string) => string): Host =>
  async () => {
    const page = dashboard().node()
    const api = billing.node({ basePath: API })
    return {
      listener: (request, response) => {
        const target = request.url ?? "/"
        const isGuarded = isBelow(pathOf(target)) && request.headers.cookie !== OPERATOR.cookie
        if (isGuarded) response.writeHead(401).end(STOPPED)
        else if (target.includes(API)) api(request, response)
        else page(request, response)
      },
    }
  }

const byUrl = (target: string): string =>
  URL.canParse(target, "http://localhost") ? new URL(target, "http://localhost").pathname : ""

const hosts: Readonly<Record<string, Host>> = {
  Express: expressApp((app) => app.use(dashboard().express()).use(billing.express({ basePath: API }))),
  "Express below the paths": expressApp((app) =>
    app.use(DASHBOARD, dashboard().express()).use(API, billing.express()),
  ),
  Fastify: fastifyApp({}),
  "Fastify that merges slashes": fastifyApp({ ignoreDuplicateSlashes: true, caseSensitive: false }),
  Hono: honoApp(byRoute, honoRoutes),
  "Hono that compares the URL": honoApp(byPathname, honoRoutes),
  "Hono, for all paths": honoApp(byPathname, (app) =>
    app.all("*", (context) =>
      context.req.url.includes(DASHBOARD)
        ? dashboard().hono()(context)
        : billing.hono({ basePath: API })(context),
    ),
  ),
  "Hono, mounted": honoApp(byRoute, (app) => app.mount(API, billing.fetch)),
  Koa: koaApp((app) => app.use(dashboard().koa()).use(billing.koa({ basePath: API }))),
  "Koa with koa-mount": koaApp((app) =>
    app.use(mount(DASHBOARD, dashboard().koa())).use(mount(API, billing.koa())),
  ),
  "NestJS on Express": nestApp,
  "a Next-style route of the dashboard": fetchHost((request) => dashboard().fetch(request)),
  "a Next-style route of the API": fetchHost((request) => billing.fetch(request, { basePath: API })),
  "node:http that compares text": nodeServer((target) => target.split("?")[0]!),
  "node:http that parses the URL": nodeServer(byUrl),
}

/** The only mount of hosts that don't have both. */
const of: Readonly<Record<string, string>> = {
  "Hono, mounted": API,
  "a Next-style route of the dashboard": DASHBOARD,
  "a Next-style route of the API": API,
}

const listen = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Whether a mount answered, and not the guard or the host. */
const isServed = ({ status, text }: Answer): boolean => status === 200 && !text.includes(STOPPED)

const served = async (port: number, paths: ReadonlyArray<string>, headers?: Record<string, string>) => {
  const answers = await Promise.all(
    paths.map(async (path) => ({ path, answer: await askAt(port, path, headers) })),
  )
  return answers.filter(({ answer }) => isServed(answer)).map(({ path }) => path)
}

const disguised = targets.flatMap((target) => disguises.map((disguise) => disguise(target)))

for (const [name, host] of Object.entries(hosts)) {
  describe(`behind a guard of ${name}`, () => {
    let port: number
    let close: () => Promise<void>

    beforeAll(async () => {
      const { close: closeApp, listener } = await host()
      const server = await listen(listener)
      port = server.port
      close = async () => {
        await server.close()
        await closeApp?.()
      }
    })
    afterAll(() => close())

    it("requests that the guard accepts are served", async () => {
      const own = targets.filter((target) => target.startsWith(of[name] ?? ""))
      assert.deepStrictEqual(await served(port, own, OPERATOR), own)
    })

    it("no other request is served, in any spelling of the path", async () => {
      assert.deepStrictEqual(await served(port, [...targets, ...disguised]), [])
    })
  })
}

describe("behind a reverse proxy", () => {
  const closes: Array<() => Promise<void>> = []
  let open: number
  let kept: number
  let rewritten: number

  const behind = async (listener: RequestListener): Promise<number> => {
    const { close, port } = await listen(listener)
    closes.push(close)
    return port
  }

  const proxyTo = (port: number, pathRewrite: Record<string, string> = {}) =>
    createProxyMiddleware({ target: `http://127.0.0.1:${port}`, pathRewrite })

  beforeAll(async () => {
    // The server behind the proxy has no guard. It answers all other paths with its name.
    const page = dashboard().express()
    const api = billing.express({ basePath: API })
    open = await behind(
      express()
        .use(page)
        .use(api)
        .use((_request, response) => void response.status(404).send("a host's")),
    )
    // One proxy guards the path and passes it on unchanged. The other one passes on only `/public`.
    kept = await behind(express().use("/admin", guardExpress).use(proxyTo(open)))
    rewritten = await behind(express().use("/public", proxyTo(open, { "^/": "/site/" })))
  })
  afterAll(() => Promise.all(closes.map((close) => close())))

  it("that keeps the path, only requests that it accepts are served", async () => {
    assert.deepStrictEqual(await served(kept, targets, OPERATOR), targets)
    assert.deepStrictEqual(await served(kept, [...targets, ...disguised]), [])
  })

  it("that rewrites the path, only its public paths can be reached", async () => {
    const ups = ["/..", "/../..", "/%2e%2e", "/..\\..", "/x/../..", "/%2e%2e/%2e%2e", "/..;", "\\.."]
    const climbing = ups.flatMap((up) => targets.map((target) => `/public${up}${target}`))
    const paths = [...climbing, ...disguised.map((path) => `/public${path}`)]
    assert.deepStrictEqual(await served(rewritten, paths), [])
    assert.strictEqual((await askAt(rewritten, "/public/x")).text, "a host's")
  })
})
