/**
 * Receives what a payment provider sends. It needs no API key: the provider signs the body.
 */
import { CurrentProvider, CurrentTenant, Payments, Tenant } from "@billwright/core"
import { Effect } from "effect"
import * as ErrorResponse from "./ErrorResponse.ts"
import { BodyTooLarge, type HttpRequest, type HttpResponse, MAX_BODY_BYTES } from "./HttpExchange.ts"

/** The operation of the route. */
export const NOTICE_OPERATION = "receiveProviderNotice"

/** The query of the route. */
export interface NoticeQuery {
  readonly accountId?: Tenant.AccountId
  readonly mode?: Tenant.Mode
}

const UNSIGNED = "the request is not signed by the payment provider, or its instant is too far from now"
const POSTPONED = "the payment provider could not be read: send the request again"

/** Makes the function that answers such a request. */
export const make = Effect.gen(function* () {
  const payments = yield* Payments
  const provider = yield* CurrentProvider
  return Effect.fnUntraced(function* (
    request: HttpRequest,
    name: string | undefined,
    { accountId = Tenant.defaultAccountId, mode = "live" }: NoticeQuery,
  ): Effect.fn.Return<HttpResponse, ErrorResponse.ServerError> {
    if (provider?.name !== name) return yield* new ErrorResponse.NoSuchPath({ path: request.path })
    if (Number(request.header("content-length") ?? 0) > MAX_BODY_BYTES) return yield* new BodyTooLarge()
    const body = yield* request.body
    const { httpStatus, outcome } = yield* payments
      .receive({ body, headers: request.headers() })
      .pipe(Effect.provideService(CurrentTenant, { accountId, mode }))
    if (httpStatus === 400) return ErrorResponse.answer("invalid_request", UNSIGNED)
    if (httpStatus === 503) return ErrorResponse.answer("unavailable", POSTPONED)
    return { status: httpStatus, headers: {}, body: JSON.stringify({ outcome }) }
  })
})
