/** An API whose callers may send as many requests as their plan says. */
import { randomUUID } from "node:crypto"
import { type Billing, InvalidInputError } from "billwright"
import express, { type Express, type RequestHandler } from "express"

export interface AppOptions {
  readonly billing: Billing
  /** The customer of an API key, or `undefined` for an unknown key. Yours looks into a table. */
  readonly customerOf: (apiKey: string) => string | undefined
  /** Milliseconds since 1970. A test passes the clock of its billing. */
  readonly now?: () => number
}

/** Lets a request through if its customer may send one more, and counts it. */
const limited =
  (feature: string, { billing, customerOf, now = Date.now }: AppOptions): RequestHandler =>
  async (request, response, next) => {
    const customerId = customerOf(request.get("x-api-key") ?? "")
    if (customerId === undefined) {
      response.status(401).json({ error: "x-api-key must be a key of yours" })
      return
    }
    const { allowed, balance, limit, reason, resetsAt } = await billing.entitlements.consume({
      customerId,
      feature,
      // It counts once, also when the answer of the database is lost. A key of the caller would let all requests with it through.
      idempotencyKey: randomUUID(),
    })
    const seconds = resetsAt === null ? null : Math.max(0, Math.ceil((resetsAt.getTime() - now()) / 1_000))
    if (limit !== null) response.set("RateLimit-Limit", String(limit))
    if (balance !== null) response.set("RateLimit-Remaining", String(balance))
    if (seconds !== null) response.set("RateLimit-Reset", String(seconds))
    if (allowed) return next()
    if (reason !== "limit_reached") {
      response.status(403).json({ error: "your plan does not have this" })
      return
    }
    if (seconds !== null) response.set("Retry-After", String(seconds))
    response.status(429).json({ error: `you have used all ${limit} requests of your plan` })
  }

export const createApp = (options: AppOptions): Express => {
  const app = express()
  app.get("/time", limited("requests", options), (_, response) => {
    response.json({ time: new Date((options.now ?? Date.now)()).toISOString() })
  })
  app.use((error: unknown, _: express.Request, response: express.Response, next: express.NextFunction) => {
    if (!(error instanceof InvalidInputError)) return next(error)
    response.status(400).json({ error: error.message })
  })
  return app
}
