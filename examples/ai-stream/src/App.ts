/** An endpoint that streams the answer of a language model, and takes credits for exactly what was used. */
import {
  type Billing,
  InsufficientCreditsError,
  type RateCard,
  type TokenCounts,
  tokenRater,
  tokens,
} from "billwright"
import express, { type Express } from "express"
import { countTokens, type Model } from "./Model.ts"

/** Prices in credits of 1,000,000 tokens. Amounts have 6 decimals: 1 credit is 1,000,000. */
export const card: RateCard = {
  key: "chat",
  unit: "credit",
  decimals: 6,
  markup: "20",
  models: { parrot: { input: "200", cache_read: "20", output: "800" } },
}
const rates = tokenRater(card)
const MODEL = "parrot"
const MAX_TOKENS = 500
const MAX_PROMPT = 10_000

/** The most that an answer may cost. */
const mostOf = (input: number): bigint => {
  const rated = rates.rate({ model: MODEL, tokens: { input, output: MAX_TOKENS } })
  if (rated.status === "rated") return rated.amount
  throw new Error(`${rated.model} has no price for ${rated.unpriced?.join(", ") ?? "anything"}`)
}

export const createApp = (billing: Billing, model: Model): Express => {
  const app = express()
  app.use(express.json({ limit: "100kb" }))

  app.post("/customers/:id/chat", async (request, response) => {
    const { prompt } = (request.body ?? {}) as { prompt?: unknown }
    if (typeof prompt !== "string" || prompt.trim() === "" || prompt.length > MAX_PROMPT) {
      response.status(400).json({ error: `prompt must be a text of 1 to ${MAX_PROMPT} characters` })
      return
    }
    // Before anything else that takes time: the client may go away at any moment.
    const away = new AbortController()
    response.on("close", () => away.abort())

    // A customer who doesn't have the most that it may cost gets no answer.
    const input = countTokens(prompt)
    const hold = await billing.holds.reserve({
      customerId: request.params.id,
      unit: "credit",
      amount: mostOf(input),
      ttlSeconds: 300,
    })

    response.type("text/plain")
    let output = 0
    let used: TokenCounts | undefined
    try {
      for await (const piece of model({ prompt, maxTokens: MAX_TOKENS, signal: away.signal })) {
        if ("usage" in piece) {
          used = tokens(piece.usage)
        } else {
          output += countTokens(piece.text)
          response.write(piece.text)
        }
      }
    } catch (error) {
      // The client went away, or the model failed. What was written so far is paid, and nothing else.
      if (!away.signal.aborted) console.error(error)
    }
    // Exactly one of the two, whatever happened. The rest of the hold goes back at once.
    if (used === undefined && output === 0) await hold.release()
    else {
      const counts = used ?? { input, output }
      const { tokenUsage } = await hold.commit({ rateCard: card.key, model: MODEL, tokens: counts })
      // Nothing is charged then. When the card has the price, `tokenUsages.rate` charges it.
      if (tokenUsage?.status === "unrated")
        console.error(`${MODEL} has no price: ${tokenUsage.id} waits for it`)
    }
    if (used !== undefined || response.headersSent) response.end()
    else response.status(502).json({ error: "the model gave no answer" })
  })

  app.use((error: unknown, _: express.Request, response: express.Response, next: express.NextFunction) => {
    if (!(error instanceof InsufficientCreditsError)) return next(error)
    response.status(402).json({ error: "not enough credits", available: String(error.available) })
  })
  return app
}
