import { verify } from "billwright/verify"
import express from "express"

export const app = express()

// Before any app.use(express.json()).
app.post("/webhooks", express.raw({ type: "*/*", limit: "1mb" }), async (request, response) => {
  const { headers, body } = request
  const { event } = await verify({ secret: process.env["WEBHOOK_SECRET"]!, headers, body })
  console.log(event.type)
  response.sendStatus(204)
})
