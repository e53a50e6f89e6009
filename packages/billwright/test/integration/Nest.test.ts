/** NestJS: in `main.ts`, and as a middleware of a module behind Nest's own body parser. */
import "reflect-metadata"
import type { AddressInfo } from "node:net"
import type { INestApplication, MiddlewareConsumer } from "@nestjs/common"
import { NestFactory } from "@nestjs/core"
import { type Billing, createBilling } from "billwright"
import { memory } from "billwright/memory"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

let billing: Billing
let secret: string

beforeAll(async () => {
  billing = await createBilling({ store: memory(), mode: "test", log: false })
  ;({ secret } = await billing.keys.create({ name: "tests" }))
})
afterAll(() => billing.close())

// Nest reads metadata of decorators at run time. It is set here by hand, because Node only strips types.
const EmptyModule = class {
  readonly name = "nothing of its own"
}
Reflect.defineMetadata("imports", [], EmptyModule)

class BillingModule {
  configure(consumer: MiddlewareConsumer) {
    consumer.apply(billing.express({ basePath: "/billing" })).forRoutes("{*path}")
  }
}
Reflect.defineMetadata("imports", [], BillingModule)

const apps: Readonly<Record<string, () => Promise<INestApplication>>> = {
  "app.use": async () => {
    const app = await NestFactory.create(EmptyModule, { logger: false })
    app.use("/billing", billing.express())
    return app
  },
  "a module's middleware, behind the body parser": () => NestFactory.create(BillingModule, { logger: false }),
  "a module's middleware, with rawBody": () =>
    NestFactory.create(BillingModule, { logger: false, rawBody: true }),
}

for (const [name, make] of Object.entries(apps)) {
  describe(`NestJS by ${name}`, () => {
    let app: INestApplication
    let url: string

    beforeAll(async () => {
      app = await make()
      await app.listen(0, "127.0.0.1")
      url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`
    })
    afterAll(() => app.close())

    const headers = () => ({ authorization: `Bearer ${secret}`, "content-type": "application/json" })

    it("serves the API below its path, and leaves other paths to Nest", async () => {
      const body = '{"name":"Ada","email":"ada@example.com"}'
      const created = await fetch(`${url}/billing/v1/customers`, { method: "POST", headers: headers(), body })
      assert.strictEqual(created.status, 201)
      assert.strictEqual((await fetch(`${url}/billing/livez`)).status, 200)
      const elsewhere = await fetch(`${url}/elsewhere`)
      assert.strictEqual(elsewhere.status, 404)
      assert.notProperty(await elsewhere.json(), "request_id")
    })

    it("streams events", async () => {
      const controller = new AbortController()
      const { signal } = controller
      const response = await fetch(`${url}/billing/v1/events/stream`, { headers: headers(), signal })
      assert.strictEqual(response.status, 200)
      controller.abort()
    })
  })
}
