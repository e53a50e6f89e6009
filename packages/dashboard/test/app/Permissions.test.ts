/**
 * What the page knows of the operator's permissions, compared with what the real server refuses.
 */
import { readdir, readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { type ApiKey, ApiKeys, Billing, CurrentTenant, Tenant } from "@billwright/core"
import { Server } from "@billwright/http"
import { NodeHandler } from "@billwright/http/node"
import { Memory } from "@billwright/memory"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { ApiError } from "../../app/api/ApiError.ts"
import * as Client from "../../app/api/Client.ts"
import { PERMISSIONS } from "../../app/api/Permissions.ts"

const tenant: Tenant.Tenant = { accountId: Tenant.defaultAccountId, mode: "test" }
const runtime = ManagedRuntime.make(Layer.provideMerge(Billing.layer, Memory.layer))

/** The key that a host adds to requests without one. */
let hostKey = ""
/** Whether a proxy answers in place of the API. */
let isDown = false
let apiUrl = ""

const server = createServer()
beforeAll(async () => {
  const api = await runtime.runPromise(
    Effect.gen(function* () {
      return NodeHandler.make(yield* Server.make(), yield* Effect.context<never>())
    }),
  )
  server.on("request", (request, response) => {
    if (isDown) return response.writeHead(502).end("<html>")
    if (hostKey !== "") request.headers.authorization ??= `Bearer ${hostKey}`
    return api(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(async () => {
  server.close()
  await runtime.dispose()
})

const issue = (input: Omit<ApiKey.IssueApiKey, "name">): Promise<string> =>
  runtime.runPromise(
    Effect.flatMap(ApiKeys, (keys) => keys.issue({ name: "dashboard", ...input })).pipe(
      Effect.map(({ secret }) => Redacted.value(secret)),
      Effect.provideService(CurrentTenant, tenant),
    ),
  )

const clientWith = (key: string | undefined): Client.Client =>
  Client.make({ apiUrl, key, onUnauthorized: () => undefined })

/** Any answer says what is missing. */
const ask = (client: Client.Client) => client.call("get", "/v1/customers", { query: { limit: 1 } })

const operations = Object.keys(PERMISSIONS)

describe("the page", () => {
  it("knows of each operation whether the server refuses it", async () => {
    // A whole resource, a permission that includes a narrow one, a narrow one, and reading alone.
    const key = await issue({ scopes: ["payments:*", "webhooks:write", "credits:grant", "customers:read"] })
    const client = clientWith(key)
    await ask(client)
    const refused = []
    for (const operation of operations) {
      const [method = "", path = ""] = operation.split(" ")
      const address = Client.addressOf(apiUrl, path.replaceAll(/\{\w+\}/g, "1"), {})
      const { status } = await fetch(address, {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${key}` },
      })
      if (status === 403) refused.push(operation)
    }
    assert.isAbove(refused.length, 50)
    assert.isBelow(refused.length, operations.length - 20)
    const known = operations.filter((operation) => client.permissions.reasonOf(operation) !== undefined)
    // The export needs more than its route says. The page doesn't offer it.
    const asRouted = refused.filter((operation) => operation !== "get /v1/customers/{id}/export")
    assert.deepEqual(asRouted, known)
  })

  it("says in words of operators what is missing, before it asks and when it was refused", async () => {
    const client = clientWith(await issue({ role: "viewer" }))
    const body = { payment_id: "pay_1", reason: "other" } as const
    const refusal = client.call("post", "/v1/refunds", { body }).then(
      () => assert.fail("a viewer refunded"),
      (error: ApiError) => error,
    )
    const { code, message, status } = await refusal
    assert.deepEqual([status, code], [403, "forbidden"])
    assert.strictEqual(message, "You may not do this: you need the permission payments:write.")
    assert.strictEqual(client.permissions.reasonOf("post /v1/refunds"), message)
    assert.isUndefined(client.permissions.reasonOf("get /v1/refunds"))
  })

  it("says what may not be read", async () => {
    const client = clientWith(await issue({ scopes: ["usage:read"] }))
    const message = await ask(client).then(
      () => "",
      (error: ApiError) => error.message,
    )
    assert.strictEqual(message, "You may not see this: you need the permission customers:read.")
  })

  it("follows a role that the host changes, and not what a proxy answers", async () => {
    const [viewer, admin] = [await issue({ role: "viewer" }), await issue({})]
    const client = clientWith(undefined)
    let changes = 0
    client.permissions.subscribe(() => changes++)
    const isOffered = () => client.permissions.reasonOf("post /v1/refunds") === undefined
    const seen = []
    for (const key of [admin, viewer, viewer]) {
      hostKey = key
      await ask(client)
      seen.push(isOffered())
    }
    isDown = true
    await ask(client).catch(() => undefined)
    isDown = false
    seen.push(isOffered())
    hostKey = admin
    await ask(client)
    seen.push(isOffered())
    assert.deepEqual(seen, [true, false, false, false, true])
    assert.strictEqual(changes, 3)
    hostKey = ""
  })

  it("is alone in being told: other clients don't ask", async () => {
    const authorization = `Bearer ${await issue({ role: "viewer" })}`
    const told = async (headers: Readonly<Record<string, string>>) =>
      (await fetch(`${apiUrl}/customers`, { headers })).headers.get("billwright-missing-permissions")
    assert.isNull(await told({ authorization }))
    assert.isNull(await told({ authorization: "Bearer nobody", "billwright-dashboard": "1" }))
    assert.include((await told({ authorization, "billwright-dashboard": "1" })) ?? "", "payments:write")
  })
})

const APP = join(import.meta.dirname, "../../app")

const sources = async (): Promise<string> => {
  const files = (await readdir(APP, { recursive: true })).filter((name) => name.endsWith(".tsx"))
  return (await Promise.all(files.map((name) => readFile(join(APP, name), "utf8")))).join("\n")
}

/** A name may end with a part that the page fills in. */
const matches = (named: string, operation: string): boolean => {
  const [start = "", filledIn] = named.split("${")
  return filledIn === undefined ? operation === named : operation.startsWith(start)
}

describe("a button", () => {
  it("names each operation by which the page changes something", async () => {
    const text = await sources()
    const called = [...text.matchAll(/\.call\(\s*"(post|patch|delete)",\s*"([^"]+)"/g)].map(
      ([, method, path]) => `${method} ${path}` as keyof typeof PERMISSIONS,
    )
    const changing = called.filter((operation) => !PERMISSIONS[operation].endsWith(":read"))
    const named = [...text.matchAll(/["`]((?:post|patch|delete) \/v1[^"`]+)["`]/g)].map(([, name]) => name!)
    assert.isAbove(changing.length, 25)
    assert.deepEqual(
      changing.filter((operation) => !named.some((name) => matches(name, operation))),
      [],
    )
  })
})
