/**
 * I11: no data crosses accounts or modes. I14: no secret is in a log, an error or an attempt.
 */
import { Tenant } from "@billwright/core"
import { type Answer, callsOf, entriesOf, type History } from "../History.ts"

/** I11. */
export const nothingCrosses = (history: History): ReadonlyArray<string> => {
  const { stored } = history
  const name = Tenant.tenantKey
  const events = new Map(stored.events.map(({ event, tenant }) => [event.id as string, name(tenant)]))
  const endpoints = new Map(entriesOf(history, "EndpointSeen").map(({ tenant, url }) => [url, tenant]))
  const owners = new Map(stored.endpoints.map(({ id, tenant }) => [id, name(tenant)]))
  const customers = new Map(stored.customers.map(({ id, tenant }) => [id, name(tenant)]))
  const wrongRequests = history.received.filter(({ body, headers, url }) => {
    const tenant = endpoints.get(url)
    const isLive = tenant?.startsWith("live:") ?? false
    return events.get(headers["webhook-id"] ?? "") !== tenant || !body.includes(`"livemode":${isLive},`)
  })
  const wrongDeliveries = stored.deliveries.filter(
    ({ delivery, tenant }) =>
      owners.get(delivery.endpointId) !== name(tenant) || events.get(delivery.eventId) !== name(tenant),
  )
  const wrongRecords = stored.records.filter(
    ({ record, tenant }) => customers.get(record.customerId) !== name(tenant),
  )
  const found = callsOf(history, "ReadForeign").filter(
    ({ answer }) => answer._tag === "Done" && answer.ids.length > 0,
  )
  return [
    ...wrongRequests.map(
      ({ headers, url }) => `${headers["webhook-id"]} was sent to ${url} of another tenant`,
    ),
    ...wrongDeliveries.map(
      ({ delivery }) => `${delivery.id} has an event and an endpoint of different tenants`,
    ),
    ...wrongRecords.map(({ record }) => `${record.id} belongs to another tenant's customer`),
    ...found.map(({ ask, tenant }) => `${tenant} was shown ${ask.id} of another tenant`),
  ]
}

/** The secrets that clients got, without their common prefix. */
const secretsOf = ({ calls }: History): ReadonlyArray<string> =>
  calls.flatMap(({ answer }: { readonly answer: Answer }) =>
    answer._tag === "Done" && answer.secret !== undefined
      ? [answer.secret.slice(answer.secret.indexOf("_") + 1)]
      : [],
  )

/** I14. */
export const secretsStayInside = (history: History): ReadonlyArray<string> => {
  const attempts = history.stored.deliveries.flatMap(({ attempts }) =>
    attempts.map((attempt) => JSON.stringify(attempt)),
  )
  const places = {
    "a log": history.logs.join("\n"),
    "an error": history.errors.join("\n"),
    "an attempt": attempts.join("\n"),
    "a payload": history.received.map(({ body }) => body).join("\n"),
  }
  return secretsOf(history).flatMap((secret) =>
    Object.entries(places)
      .filter(([, text]) => text.includes(secret))
      .map(([place]) => `a secret is in ${place}`),
  )
}
