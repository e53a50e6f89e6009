import { Dashboard } from "@billwright/dashboard"
import { Hono } from "hono"

const dashboard = Dashboard.handler({ basePath: "/billing/dashboard", apiUrl: "/billing/v1" })

export const app = new Hono()
app.use(async (context, next) => (await dashboard(context.req.raw)) ?? next())
