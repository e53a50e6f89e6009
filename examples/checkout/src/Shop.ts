/** The shop: an Express app over billing. */
import { fileURLToPath } from "node:url"
import type { Billing, Subscription } from "billwright"
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from "express"
import * as Pages from "./Pages.ts"
import { type Offer, OFFERS } from "./Plans.ts"
import * as Purchase from "./Purchase.ts"
import type { User, Users } from "./Users.ts"

export interface ShopOptions {
  readonly billing: Billing
  readonly users: Users
  readonly script: Pages.StripeScript
}

const COOKIE = "session"

const sessionOf = ({ headers: { cookie = "" } }: Request): string =>
  new RegExp(`(?:^|; )${COOKIE}=([\\w-]+)`).exec(cookie)?.[1] ?? ""

/** A path of the shop, and never the address of another site. */
const pathOf = (value: unknown): string =>
  typeof value === "string" && /^\/(?![/\\])/.test(value) ? value : "/account"

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "")

const offerOf = (key: unknown): Offer | undefined => OFFERS.find((offer) => offer.key === key)

const notFound = (response: Response): void =>
  void response.status(404).send(Pages.problemPage("Not found", "There is nothing here."))

/** Stripe calls this. The route gets the bytes as they came, because they are signed. */
const webhooks = (app: Express, billing: Billing): void => {
  app.post("/webhooks/stripe", express.raw({ type: () => true, limit: "1mb" }), async (request, response) => {
    const body = request.body as Buffer
    const headers = { "stripe-signature": request.get("stripe-signature") ?? "" }
    response.sendStatus((await billing.payments.receive({ body, headers })).httpStatus)
  })
}

export const makeShop = ({ billing, script, users }: ShopOptions): Express => {
  const app = express()
  app.disable("x-powered-by")
  webhooks(app, billing)
  app.use(express.static(fileURLToPath(new URL("../public", import.meta.url))))
  app.use(express.urlencoded({ extended: false }))

  /** A handler for users. Others sign up first. */
  const forUsers =
    (work: (request: Request, response: Response, user: User) => Promise<void>) =>
    async (request: Request, response: Response): Promise<void> => {
      const user = await users.find(sessionOf(request))
      if (user !== undefined) return work(request, response, user)
      const next = request.method === "GET" ? request.originalUrl : "/"
      response.redirect(303, `/sign-up?next=${encodeURIComponent(next)}`)
    }
  const originOf = (request: Request): string => `${request.protocol}://${request.get("host")}`

  app.get("/", async (request, response) => {
    response.send(Pages.cataloguePage(await users.find(sessionOf(request))))
  })

  app.get("/sign-up", (request, response) => {
    response.send(Pages.signUpPage(pathOf(request.query["next"])))
  })
  app.post("/sign-up", async (request, response) => {
    const { email, name, next } = request.body as Record<string, unknown>
    const given = { email: textOf(email).toLowerCase(), name: textOf(name) }
    const refuse = (problem: string) =>
      void response.status(400).send(Pages.signUpPage(pathOf(next), problem, given))
    if (given.name === "") return refuse("Please tell us your name.")
    if (!/^[^\s@]+@[^\s@]+$/.test(given.email)) return refuse("Please tell us your e-mail address.")
    const session = await users.signUp(given)
    if (session === undefined) return refuse("Somebody has signed up with this address.")
    response.cookie(COOKIE, session, { httpOnly: true, sameSite: "lax", secure: request.secure })
    response.redirect(303, pathOf(next))
  })
  app.post("/sign-out", async (request, response) => {
    await users.signOut(sessionOf(request))
    response.clearCookie(COOKIE)
    response.redirect(303, "/")
  })

  checkout(app, { billing, script, forUsers, originOf })
  orders(app, { billing, script, forUsers })
  account(app, { billing, script, forUsers, originOf })

  app.use((_, response) => notFound(response))
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    console.error(error)
    const text = "Nothing was charged that you don't see in your account. Please try again."
    response.status(500).send(Pages.problemPage("Something went wrong", text))
  }
  app.use(onError)
  return app
}

interface Parts {
  readonly billing: Billing
  readonly script: Pages.StripeScript
  readonly forUsers: (
    work: (request: Request, response: Response, user: User) => Promise<void>,
  ) => (request: Request, response: Response) => Promise<void>
  readonly originOf: (request: Request) => string
}

/** How long a link to the pages of billing is valid, in seconds. */
const HOUR = 3_600

const NOT_SAVED = "No card was saved. Please try again."

const checkout = (app: Express, { billing, forUsers, originOf, script }: Parts): void => {
  /** The page of an offer. Who has a plan goes to the account. */
  const forBuyers = (
    work: (request: Request, response: Response, user: User, offer: Offer) => Promise<void>,
  ) =>
    forUsers(async (request, response, user) => {
      const offer = offerOf(request.params["plan"])
      if (offer === undefined) return notFound(response)
      if ((await Purchase.planOf(billing, user.customerId)) !== undefined)
        return response.redirect(303, "/account")
      return work(request, response, user, offer)
    })
  const show = (response: Response, user: User, offer: Offer, problem?: string) =>
    void response
      .status(problem === undefined ? 200 : 400)
      .send(Pages.checkoutPage({ user, offer, saved: undefined, stripe: script, problem }))

  app.get(
    "/checkout/:plan",
    forBuyers(async (request, response, user, offer) =>
      show(response, user, offer, request.query["card"] === "none" ? NOT_SAVED : undefined),
    ),
  )
  // The form of Stripe is on the page.
  app.post(
    "/checkout/:plan/setup",
    forBuyers(async (_request, response, user) => {
      const { clientSecret, paymentMethodId } = await Purchase.beginCard(billing, user.customerId, null)
      response.json({ clientSecret, method: paymentMethodId })
    }),
  )
  // The form is on a page of Stripe, from which the customer returns.
  app.post(
    "/checkout/:plan/page",
    forBuyers(async (request, response, user, offer) => {
      const back = `${originOf(request)}/checkout/${offer.key}/return`
      const { url } = await Purchase.beginCard(billing, user.customerId, back)
      response.redirect(303, url ?? `/checkout/${offer.key}`)
    }),
  )
  app.get(
    "/checkout/:plan/return",
    forBuyers(async (request, response, user, offer) => {
      const saved = await Purchase.savedCard(billing, user.customerId, textOf(request.query["method"]))
      if (saved === undefined) return response.redirect(303, `/checkout/${offer.key}?card=none`)
      response.send(Pages.checkoutPage({ user, offer, saved, stripe: script, problem: undefined }))
    }),
  )
  /**
   * Customers who are buying at this moment: who clicks twice buys once. Several processes would lock the row of the user
   * in the database instead.
   */
  const buying = new Map<string, Promise<Subscription>>()
  const buy = async (customerId: string, plan: string): Promise<Subscription> => {
    const known = await Purchase.planOf(billing, customerId)
    if (known !== undefined) return known
    const subscription = await billing.subscriptions.create({ customerId, plan })
    await Purchase.settle(billing, subscription)
    return subscription
  }
  app.post(
    "/checkout/:plan",
    forBuyers(async (request, response, user, offer) => {
      const { method } = request.body as Record<string, unknown>
      const { customerId } = user
      const card = await Purchase.savedCard(billing, customerId, textOf(method))
      if (card === undefined) return show(response, user, offer, NOT_SAVED)
      const bought = buying.get(customerId) ?? buy(customerId, offer.key)
      buying.set(customerId, bought)
      try {
        response.redirect(303, `/orders/${(await bought).id}`)
      } finally {
        buying.delete(customerId)
      }
    }),
  )
}

const orders = (
  app: Express,
  { billing, forUsers, script }: Pick<Parts, "billing" | "forUsers" | "script">,
): void => {
  /** An order of the user. Those of others are not there. */
  const forOrder = (work: (response: Response, user: User, subscription: Subscription) => Promise<void>) =>
    forUsers(async (request, response, user) => {
      const id = textOf(request.params["subscription"])
      const subscription = await billing.subscriptions.get(id).catch(() => undefined)
      if (subscription?.customerId !== user.customerId) return notFound(response)
      return work(response, user, subscription)
    })

  app.get(
    "/orders/:subscription",
    forOrder(async (response, user, subscription) => {
      const invoice = await Purchase.invoiceOf(billing, subscription)
      const retryAt =
        invoice?.collection === "retrying" ? await Purchase.retryAt(billing, invoice) : undefined
      response.send(Pages.orderPage({ user, subscription, invoice, retryAt, stripe: script }))
    }),
  )
  app.get(
    "/orders/:subscription/state",
    forOrder(async (response, _user, subscription) => {
      response.json({ state: Pages.stateOf(await Purchase.invoiceOf(billing, subscription)) })
    }),
  )
  app.post(
    "/orders/:subscription/pay",
    forOrder(async (response, _user, subscription) => {
      const invoice = await Purchase.invoiceOf(billing, subscription)
      if (invoice?.status === "open") await Purchase.payNow(billing, invoice)
      response.redirect(303, `/orders/${subscription.id}`)
    }),
  )
  app.post(
    "/orders/:subscription/confirmation",
    forOrder(async (response, _user, subscription) => {
      const invoice = await Purchase.invoiceOf(billing, subscription)
      const secret = invoice && (await Purchase.confirmation(billing, invoice))
      if (secret === undefined) response.sendStatus(409)
      else response.set("cache-control", "no-store").json(secret)
    }),
  )
}

const account = (app: Express, { billing, forUsers, originOf, script }: Parts): void => {
  app.get(
    "/account",
    forUsers(async (_request, response, user) => {
      const { customerId } = user
      const subscription = await Purchase.planOf(billing, customerId)
      const invoices = (await billing.invoices.list({ customerId, limit: 20 }).page()).data
      const methods = await Purchase.cardsOf(billing, customerId)
      response.send(Pages.accountPage({ user, subscription, invoices, methods }))
    }),
  )
  // The pages of billing need no login: whoever has a link may do what it is for. So a link is made after the shop's own
  // login, is valid for an hour, and the browser is sent there.
  app.get(
    "/account/billing",
    forUsers(async (_request, response, user) => {
      const { url } = await billing.customers.portalLink(user.customerId, { expiresInSeconds: HOUR })
      response.redirect(303, url)
    }),
  )
  app.get(
    "/account/invoices/:invoice",
    forUsers(async (request, response, user) => {
      const invoice = await billing.invoices.get(textOf(request.params["invoice"])).catch(() => undefined)
      if (invoice?.customerId !== user.customerId || invoice.status === "draft") return notFound(response)
      const { url } = await billing.invoices.link(invoice.id, { expiresInSeconds: HOUR })
      response.redirect(303, url)
    }),
  )
  app.post(
    "/account/plan/:subscription/cancel",
    forUsers(async (request, response, user) => {
      const plan = await Purchase.planOf(billing, user.customerId)
      if (plan === undefined || plan.id !== request.params["subscription"]) return notFound(response)
      if (plan.endsAt === null) await billing.subscriptions.cancel(plan.id, { at: "period_end" })
      response.redirect(303, "/account")
    }),
  )

  app.get(
    "/account/card",
    forUsers(async (request, response, user) => {
      const problem = request.query["card"] === "none" ? NOT_SAVED : undefined
      response.send(Pages.cardPage(user, pathOf(request.query["next"]), script, problem))
    }),
  )
  app.post(
    "/account/card/setup",
    forUsers(async (_request, response, user) => {
      const { clientSecret, paymentMethodId } = await Purchase.beginCard(billing, user.customerId, null)
      response.json({ clientSecret, method: paymentMethodId })
    }),
  )
  app.post(
    "/account/card/page",
    forUsers(async (request, response, user) => {
      const { url } = await Purchase.beginCard(
        billing,
        user.customerId,
        `${originOf(request)}/account/card/return`,
      )
      response.redirect(303, url ?? "/account/card")
    }),
  )
  /** What waits for another card is paid with this one at once. */
  const useCard = async (response: Response, user: User, id: string): Promise<void> => {
    const card = await Purchase.savedCard(billing, user.customerId, id)
    if (card === undefined) return response.redirect(303, "/account/card?card=none")
    const subscription = await Purchase.planOf(billing, user.customerId)
    if (subscription === undefined) return response.redirect(303, "/account")
    const before = await Purchase.invoiceOf(billing, subscription)
    await Purchase.settle(billing, subscription)
    response.redirect(303, before?.status === "open" ? `/orders/${subscription.id}` : "/account")
  }
  app.post(
    "/account/card",
    forUsers((request, response, user) =>
      useCard(response, user, textOf((request.body as Record<string, unknown>)["method"])),
    ),
  )
  app.get(
    "/account/card/return",
    forUsers((request, response, user) => useCard(response, user, textOf(request.query["method"]))),
  )
  app.post(
    "/account/card/:method/remove",
    forUsers(async (request, response, user) => {
      const cards = await Purchase.cardsOf(billing, user.customerId)
      const card = cards.find(({ id }) => id === request.params["method"])
      if (card === undefined || card.isDefault) return notFound(response)
      await billing.paymentMethods.detach(card.id)
      response.redirect(303, "/account")
    }),
  )
}
