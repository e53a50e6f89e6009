import type { AccountState } from "./AccountState.ts"
import * as Sessions from "./CheckoutSessions.ts"
/**
 * The calls of Stripe's API that the fake answers.
 */
import { Params, type ParamGroup } from "./Params.ts"
import * as Intents from "./PaymentIntents.ts"
import * as Methods from "./PaymentMethods.ts"
import * as Refunds from "./Refunds.ts"
import { StripeProblem } from "./StripeProblem.ts"

type Work = (state: AccountState, params: Params, id: string) => object

interface Route {
  readonly method: string
  readonly path: RegExp
  readonly params: ReadonlyArray<string>
  readonly work: Work
  /** Whether a browser may call it, with the publishable key and the client secret of the object, if it is about one. */
  readonly isPublic: boolean
}

const PAGE = ["limit", "starting_after", "ending_before"]
const CUSTOMER = ["name", "email", "description", "metadata", "invoice_settings"]
const CONFIRM = ["payment_method", "off_session", "return_url"]
const INTENT = ["payment_method", "metadata", "description"]
/** A browser sends these beside what it calls with. */
const FROM_BROWSER = ["client_secret", "key"]

/** Most objects of a page, and how many without a `limit`. */
const MAX_PAGE = 100
const DEFAULT_PAGE = 10

const route = (call: string, params: ReadonlyArray<string>, work: Work, isPublic = false): Route => {
  const [method = "", path = ""] = call.split(" ")
  const pattern = new RegExp(`^/v1${path.replace("{id}", "([^/]+)")}$`)
  return { method, path: pattern, params: isPublic ? [...params, ...FROM_BROWSER] : params, work, isPublic }
}

/** A page of a list that is newest first. */
const listing =
  (
    work: (state: AccountState, params: Params, id: string) => ReadonlyArray<{ readonly id: string }>,
    url: string,
  ) =>
  (state: AccountState, params: Params, id: string) => {
    const all = work(state, params, id)
    const after = params.text("starting_after")
    const start = after === undefined ? 0 : all.findIndex((one) => one.id === after) + 1
    const limit = Math.min(Math.max(params.integer("limit") ?? DEFAULT_PAGE, 1), MAX_PAGE)
    const data = all.slice(start, start + limit)
    return { object: "list", url: url.replace("{id}", id), has_more: start + limit < all.length, data }
  }

const ROUTES: ReadonlyArray<Route> = [
  route("POST /customers", [...CUSTOMER, "payment_method"], Methods.createCustomer),
  route("GET /customers/search", ["query", "limit"], Methods.searchCustomers),
  route("GET /customers/{id}", [], Methods.getCustomer),
  route("POST /customers/{id}", CUSTOMER, Methods.updateCustomer),
  route(
    "GET /customers/{id}/payment_methods",
    [...PAGE, "type"],
    listing(Methods.methodsOfCustomer, "/v1/customers/{id}/payment_methods"),
  ),
  route("POST /payment_methods", ["type", "card", "metadata"], Methods.createMethod, true),
  route("GET /payment_methods/{id}", [], Methods.getMethod),
  route("POST /payment_methods/{id}/attach", ["customer"], Methods.attachMethod),
  route("POST /payment_methods/{id}/detach", [], Methods.detachMethod),
  route(
    "POST /setup_intents",
    ["customer", "usage", "metadata", "automatic_payment_methods", "payment_method_types"],
    Methods.createSetup,
  ),
  route("GET /setup_intents/{id}", [], Methods.getSetup, true),
  route(
    "POST /setup_intents/{id}/confirm",
    ["payment_method", "return_url"],
    (state, params, id) => Methods.confirmSetup(state, params.required("payment_method"), id),
    true,
  ),
  route("POST /setup_intents/{id}/cancel", ["cancellation_reason"], (state, params, id) =>
    Methods.cancelSetup(state, id, params.text("cancellation_reason") ?? null),
  ),
  route(
    "POST /checkout/sessions",
    [
      "mode",
      "customer",
      "success_url",
      "cancel_url",
      "allowed_payment_method_types",
      "setup_intent_data",
      "metadata",
    ],
    Sessions.createSession,
  ),
  route("GET /checkout/sessions/{id}", [], Sessions.getSession),
  route("POST /checkout/sessions/{id}/expire", [], Sessions.expireSession),
  route(
    "POST /payment_intents",
    [
      ...INTENT,
      ...CONFIRM,
      "amount",
      "currency",
      "customer",
      "confirm",
      "automatic_payment_methods",
      "payment_method_types",
    ],
    Intents.createIntent,
  ),
  route("GET /payment_intents", [...PAGE, "customer"], listing(Intents.listIntents, "/v1/payment_intents")),
  route("GET /payment_intents/{id}", [], Intents.getIntent, true),
  route("POST /payment_intents/{id}", INTENT, Intents.updateIntent),
  route("POST /payment_intents/{id}/confirm", CONFIRM, Intents.confirmIntent, true),
  route("POST /payment_intents/{id}/cancel", ["cancellation_reason"], Intents.cancelIntent),
  route("GET /charges/{id}", [], (state, _, id) => state.get("charge", id, "charge")),
  route("POST /refunds", ["payment_intent", "charge", "amount", "reason", "metadata"], Refunds.createRefund),
  route("GET /refunds", [...PAGE, "payment_intent", "charge"], listing(Refunds.listRefunds, "/v1/refunds")),
  route("GET /refunds/{id}", [], Refunds.getRefund),
  route("GET /disputes/{id}", [], Refunds.getDispute),
  route("GET /events/{id}", [], (state, _, id) => state.get("event", id)),
  route(
    "GET /events",
    [...PAGE, "type"],
    listing((state, params) => {
      const type = params.text("type")
      return [...state.all("event")].reverse().filter((one) => type === undefined || one.type === type)
    }, "/v1/events"),
  ),
]

/** Which kind of object a field that can be expanded names. */
const EXPANDABLE = {
  customer: "customer",
  latest_charge: "charge",
  payment_intent: "payment_intent",
  payment_method: "payment_method",
  setup_intent: "setup_intent",
  charge: "charge",
} as const

const expanded = (state: AccountState, object: object, paths: ReadonlyArray<string>): object => {
  const answer: Record<string, unknown> = structuredClone({ ...object })
  for (const path of paths) {
    const [field = "", ...rest] = path.split(".")
    const value = answer[field]
    const kind = EXPANDABLE[field as keyof typeof EXPANDABLE]
    if (Array.isArray(value))
      answer[field] = value.map((one: object) => expanded(state, one, [rest.join(".")]))
    else if (kind === undefined) {
      throw StripeProblem.invalid(
        "parameter_invalid",
        `This property cannot be expanded (${path}).`,
        "expand",
      )
    } else if (typeof value === "string") {
      answer[field] = expanded(state, state.get(kind, value), rest.length === 0 ? [] : [rest.join(".")])
    }
  }
  return answer
}

const refusePublic = (found: Route, about: object | undefined, params: Params): void => {
  const secret = about && "client_secret" in about ? about.client_secret : undefined
  const isAllowed = about === undefined || (secret !== undefined && params.text("client_secret") === secret)
  if (found.isPublic && isAllowed) return
  throw new StripeProblem(
    401,
    {
      type: "invalid_request_error",
      code: "secret_key_required",
      message: "This API call cannot be made with a publishable API key. Please use a secret API key.",
    },
    false,
  )
}

/** Does what a call asks for, and gives the object of the answer. */
export const perform = (
  state: AccountState,
  call: { readonly method: string; readonly path: string; readonly isPublic: boolean },
  group: ParamGroup,
): object => {
  const { isPublic, method, path } = call
  const found = ROUTES.find((one) => one.method === method && one.path.test(path))
  if (found === undefined) {
    const message = `Unrecognized request URL (${method}: ${path}).`
    throw new StripeProblem(404, { type: "invalid_request_error", message }, false)
  }
  const params = new Params(group, found.params)
  const id = decodeURIComponent(found.path.exec(path)?.[1] ?? "")
  if (isPublic) refusePublic(found, ownerOf(state, path, id), params)
  return expanded(state, found.work(state, params, id), params.expand)
}

/** The object that a call is about. `undefined`: about none. */
const ownerOf = (state: AccountState, path: string, id: string): object | undefined => {
  if (path.startsWith("/v1/setup_intents/")) return state.get("setup_intent", id)
  if (path.startsWith("/v1/payment_intents/")) return state.get("payment_intent", id)
  return id === "" ? undefined : {}
}
