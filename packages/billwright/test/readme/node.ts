import { createServer } from "node:http"
import { buffer } from "node:stream/consumers"
import { verify, WebhookVerificationError } from "billwright/verify"

export const server = createServer(async (request, response) => {
  try {
    const body = await buffer(request) // limit its size in production: see examples/webhook-receiver
    const { event } = await verify({ secret: process.env["WEBHOOK_SECRET"]!, headers: request.headers, body })
    console.log(event.type)
    response.writeHead(204).end()
  } catch (error) {
    if (error instanceof WebhookVerificationError) response.writeHead(error.status).end(error.code)
    else response.writeHead(500).end()
  }
})
