import { Dashboard } from "@billwright/dashboard"
import Fastify from "fastify"

const dashboard = Dashboard.nodeHandler({ basePath: "/billing/dashboard", apiUrl: "/billing/v1" })

export const app = Fastify()
app.addHook("onRequest", (request, reply, done) => {
  dashboard(request.raw, reply.raw, (error) => done(error as Error | undefined))
})
