import { verify } from "billwright/verify"
import Fastify from "fastify"

export const app = Fastify()

// In a plugin, so that the other routes keep their JSON parser.
app.register(async (webhooks) => {
  webhooks.removeAllContentTypeParsers()
  webhooks.addContentTypeParser<Buffer>("*", { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body),
  )

  webhooks.post<{ Body: Buffer }>("/webhooks", async ({ headers, body }, reply) => {
    const { event } = await verify({ secret: process.env["WEBHOOK_SECRET"]!, headers, body })
    console.log(event.type)
    return reply.code(204).send()
  })
})
