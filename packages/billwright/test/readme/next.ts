// app/webhooks/route.ts
import { verify, WebhookVerificationError } from "billwright/verify"

export const POST = async (request: Request): Promise<Response> => {
  try {
    const { headers } = request
    const body = await request.arrayBuffer()
    const { event } = await verify({ secret: process.env["WEBHOOK_SECRET"]!, headers, body })
    console.log(event.type)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return new Response(error.code, { status: error.status })
  }
}
