import { createServer } from "node:http"
import { ApiKeys, Billing, CurrentTenant, Tenant } from "@billwright/core"
import { FetchHandler, Server } from "@billwright/http"
import { NodeHandler } from "@billwright/http/node"
import { Memory } from "@billwright/memory"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"

const runtime = ManagedRuntime.make(Billing.layer.pipe(Layer.provideMerge(Memory.layer)))

export const { context, server } = await runtime.runPromise(
  Effect.gen(function* () {
    const server = yield* Server.make({ rateLimit: { requestsPerSecond: 100 } })
    return { server, context: yield* Effect.context<never>() }
  }),
)

// Where there is Request and Response: Hono, Next.js, Workers, Deno, Bun.
export const fetchHandler = FetchHandler.make(server, context, { basePath: "/billing" })

// Where there is node:http. Express and Connect take it as middleware: app.use("/billing", nodeHandler).
export const nodeHandler = NodeHandler.make(server, context, { basePath: "/billing" })
export const httpServer = createServer(nodeHandler)

// A key for the first request.
export const { secret } = await runtime.runPromise(
  Effect.flatMap(ApiKeys, (keys) => keys.issue({ name: "first key", scopes: ["usage:*"] })).pipe(
    Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" }),
  ),
)
export const authorization = `Bearer ${Redacted.value(secret)}`
