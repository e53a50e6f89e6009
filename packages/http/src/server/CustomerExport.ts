/**
 * `GET /v1/customers/{id}/export`: everything about a customer, an object at a time.
 *
 * It calls the operations of the API that list objects of a customer. So each object is shown as ever, and a new list that can be
 * filtered by customer is part of the export without a change here.
 */
import {
  ApiKey,
  CurrentTenant,
  type Customer,
  ExactJson,
  Page,
  type Tenant,
  type VerifiedApiKey,
} from "@billwright/core"
import { Effect, Stream } from "effect"
import { LINES_TYPE } from "../api/AuditExportApi.ts"
import type { DomainError, TooManyStreams } from "./ErrorResponse.ts"
import type { HttpResponse } from "./HttpExchange.ts"
import type { Operation, OperationInput } from "./Operation.ts"
import * as Operations from "./Operations.ts"
import * as Routes from "./Routes.ts"
import * as StreamSlots from "./StreamSlots.ts"

/** Most exports of this process at once. */
const MAX_EXPORTS = 20
/** Most exports of one API key, or of one operator, at once in this process. */
const MAX_EXPORTS_PER_KEY = 2

const HEADERS = { "content-type": LINES_TYPE, "cache-control": "no-store" }

const GET_CUSTOMER = "getCustomer"
const LIST_AUDIT_RECORDS = "listAuditRecords"
/** The objects whose changes the audit log doesn't have: they are ledgers. */
const WITHOUT_AUDIT = new Set(["credit_entry", "event", "usage_record"])

type AnyOperation = Operation<OperationInput<unknown>>
type Reads<A> = Effect.Effect<A, DomainError, CurrentTenant>

/** An object of the API. */
interface Exported {
  readonly object: string
  readonly id: string
}

interface Step {
  readonly values: ReadonlyArray<Exported>
  /** What has to be read before what is left. */
  readonly next: ReadonlyArray<Reading>
}
type Reading = Reads<Step>

type Value = Exported & { readonly actor_id?: string }

interface ListBody {
  readonly data: ReadonlyArray<Value>
  readonly has_more: boolean
}

/** What is listed, and what is done with the values. */
interface Listed {
  readonly route: Routes.Route
  readonly filter: Readonly<Record<string, string>>
  /** Which values are part of the export. Default: all. */
  readonly keep?: (value: Value) => boolean
  /** What is read after a page. Default: nothing. */
  readonly nextOf?: (values: ReadonlyArray<Value>) => ReadonlyArray<Reading>
}

/** Whether a page could not be read because the value before it was deleted meanwhile. */
const isCursorGone = (error: DomainError): boolean =>
  error._tag === "InvalidInput" && error.field === "startingAfter"

/** The permissions that an export needs: to read the customer, each of its lists, and the audit log. */
const permissionsOf = (routes: ReadonlyArray<Routes.Route>): ReadonlyArray<ApiKey.Permission> => [
  ...new Set<ApiKey.Permission>([
    "customers:read",
    ...routes.flatMap(({ permission }) => permission ?? []),
    "audit:read",
  ]),
]

const lists = Routes.listsOf("customer_id")
const auditLog = Routes.byId(LIST_AUDIT_RECORDS)
const NEEDED = permissionsOf(lists)

/** Reads an export a page at a time. `undefined` after the last one. */
export interface Exporter {
  readonly next: Reads<ReadonlyArray<object> | undefined>
}

type Services = Effect.Services<typeof Operations.make>

/** Begins to read. Fails with `CustomerNotFound` for an unknown or erased customer. */
export type Begin = (customerId: string) => Reads<Exporter>

/** Makes the function that begins to read. */
export const make: Effect.Effect<Begin, never, Services> = Effect.map(Operations.make, (made) => {
  const operations = made as unknown as Readonly<Record<string, AnyOperation>>

  /** Calls an operation as a request would, with a query as it is sent. No list asks which key reads it. */
  const call = (id: string, params: object, query: unknown): Reads<object> =>
    Effect.flatMap(CurrentTenant, (tenant) =>
      Effect.map(
        operations[id]!({ params, query, payload: undefined } as never, tenant, undefined as never),
        ({ body }) => body,
      ),
    )

  const page = ({ filter, route }: Listed, after: string | undefined) =>
    Effect.flatMap(
      route.decodeQuery({
        ...filter,
        limit: String(Page.MAX_PAGE_LIMIT),
        ...(after === undefined ? {} : { starting_after: after }),
      }),
      (query) => Effect.map(call(route.id, {}, query), (body) => body as ListBody),
    )

  /** The page after the values of another one. Where the last of these was deleted meanwhile, it begins after the one before. */
  const pageAfter = (listed: Listed, before: ReadonlyArray<Value>): Reads<ListBody> =>
    page(listed, before.at(-1)?.id).pipe(
      Effect.catchIf(
        (error) => before.length > 1 && isCursorGone(error),
        () => pageAfter(listed, before.slice(0, -1)),
      ),
    )

  /** All pages of a list. */
  const listing = (listed: Listed, before: ReadonlyArray<Value> = []): Reading =>
    Effect.map(pageAfter(listed, before), ({ data, has_more: hasMore }) => {
      const { keep = () => true, nextOf = () => [] } = listed
      const rest = hasMore ? [listing(listed, data)] : []
      const known = new Set(before.map(({ id }) => id))
      const values = data.filter((value) => !known.has(value.id) && keep(value))
      return { values, next: [...nextOf(values), ...rest] }
    }).pipe(
      // The storage has nothing of the kind.
      Effect.catchTag("InvoicingUnsupported", () => Effect.succeed({ values: [], next: [] })),
    )

  /** The changes of objects. Those by the customer itself come at the end. */
  const changesOf = (values: ReadonlyArray<Exported>, customerId: string): ReadonlyArray<Reading> =>
    values
      .filter(({ object }) => !WITHOUT_AUDIT.has(object))
      .map(({ id }) =>
        listing({
          route: auditLog,
          filter: { object_id: id },
          keep: ({ actor_id: actorId }) => actorId !== customerId,
        }),
      )

  return (customerId) =>
    Effect.map(call(GET_CUSTOMER, { id: customerId }, {}), (body) => {
      const customer = body as Exported
      let left: ReadonlyArray<Reading> = [
        Effect.succeed({ values: [customer], next: changesOf([customer], customer.id) }),
        ...lists.map((route) =>
          listing({
            route,
            filter: { customer_id: customer.id },
            nextOf: (values) => changesOf(values, customer.id),
          }),
        ),
        listing({ route: auditLog, filter: { actor_id: customer.id } }),
      ]
      const next = Effect.suspend((): Reads<ReadonlyArray<object> | undefined> => {
        const [first, ...others] = left
        if (first === undefined) return Effect.undefined
        return Effect.map(first, (step) => {
          left = [...step.next, ...others]
          return step.values
        })
      })
      return { next }
    })
})

export interface ExportRequest {
  readonly verified: VerifiedApiKey
  readonly customerId: string | undefined
  /** Whether the answer has no body (HEAD). */
  readonly isBodiless: boolean
}

export type OpenExport = (
  request: ExportRequest,
) => Effect.Effect<HttpResponse, DomainError | ApiKey.Forbidden | TooManyStreams>

const checkPermissions = ({ scopes }: ApiKey.ApiKey): Effect.Effect<void, ApiKey.Forbidden> => {
  const permission = NEEDED.find((needed) => !ApiKey.permits(scopes, needed))
  return permission === undefined ? Effect.void : Effect.fail(new ApiKey.Forbidden({ permission }))
}

const lineOf = (value: object): string => `${ExactJson.stringify(value)}\n`

/** The lines of an export, and a last one that says how many they were. */
const linesOf = (exporter: Exporter, customerId: Customer.CustomerId | string, tenant: Tenant.Tenant) => {
  let count = 0
  const read = Effect.orDie(Effect.provideService(exporter.next, CurrentTenant, tenant))
  return Stream.unfold(false, (isOver) => {
    if (isOver) return Effect.undefined
    return Effect.map(read, (values) => {
      if (values === undefined) {
        const end = { object: "customer_export", customer_id: customerId, lines: count }
        return [lineOf({ ...end, livemode: tenant.mode === "live" }), true] as const
      }
      count += values.length
      return [values.map(lineOf).join(""), false] as const
    })
  })
}

/** Makes the function that begins exports for requests. */
export const makeOpen: Effect.Effect<OpenExport, never, Services> = Effect.map(make, (begin): OpenExport => {
  const slots = StreamSlots.make({ maxStreams: MAX_EXPORTS, maxStreamsPerKey: MAX_EXPORTS_PER_KEY })
  return Effect.fnUntraced(function* ({ customerId = "", isBodiless, verified }: ExportRequest) {
    const { key, tenant } = verified
    const holder = StreamSlots.holderOf(verified)
    yield* checkPermissions(key)
    yield* slots.check(holder)
    // Read before the answer begins, so that an unknown customer is an error, and no connection that breaks off.
    const exporter = yield* Effect.provideService(begin(customerId), CurrentTenant, tenant)
    const answer = { status: 200, headers: HEADERS, body: "" }
    if (isBodiless) return answer
    const slot = yield* slots.reserve(holder)
    const lines = linesOf(exporter, customerId, tenant).pipe(Stream.filter((text) => text !== ""))
    return { ...answer, stream: Stream.unwrap(Effect.as(Effect.orDie(slot), lines)) }
  })
})
