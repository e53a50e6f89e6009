import { verify, WebhookVerificationError } from "billwright/verify"
import { Hono } from "hono"

export const app = new Hono()

app.post("/webhooks", async (context) => {
  const { headers } = context.req.raw
  const body = await context.req.arrayBuffer()
  const { event } = await verify({ secret: process.env["WEBHOOK_SECRET"]!, headers, body })
  console.log(event.type)
  return context.body(null, 204)
})

app.onError((error, context) => {
  if (!(error instanceof WebhookVerificationError)) throw error
  return context.text(error.code, error.status)
})
