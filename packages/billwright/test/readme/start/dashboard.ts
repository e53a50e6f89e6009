import { createBilling } from "billwright"
import { memory } from "billwright/memory"
import express from "express"

const billing = await createBilling({ store: memory() })

const dashboard = billing.dashboard({
  basePath: "/admin/billing",
  // Your session: a cookie that is SameSite=Lax or Strict.
  authorize: (request) =>
    request.headers.get("cookie")?.includes("session=operator") === true ||
    new Response(null, { status: 303, headers: { location: "/login" } }),
})

export const app = express()
app.use(dashboard.express())
