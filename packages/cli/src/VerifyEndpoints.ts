/**
 * Whether endpoints are asked if they want webhooks.
 */
import { type EndpointsOptions, EndpointVerification, type WebhookTransport } from "@billwright/core"
import { Config, Option } from "effect"
import { Flag } from "effect/cli"

const VARIABLE = "BILLWRIGHT_VERIFY_ENDPOINTS"

/** A name, or none for an empty text. */
const parse = (text: string): Option.Option<Option.Option<string>> => {
  if (text === "") return Option.some(Option.none())
  return EndpointVerification.problemOfOrigin(text) === undefined
    ? Option.some(Option.some(text))
    : Option.none()
}

export const flags = {
  verifyEndpoints: Flag.String("verify-endpoints").pipe(
    Flag.withDescription(
      `Ask endpoints whether they want webhooks before one is created or gets another URL. The value is a host name by which they know the sender, such as billing.example.com; each webhook has it as webhook-request-origin. Every server and worker needs the same. Default: ${VARIABLE}, or none.`,
    ),
    Flag.withFallbackConfig(Config.String(VARIABLE).pipe(Config.withDefault(""))),
    Flag.filterMap(
      parse,
      (text) => `must be a host name that stands for the sender, such as billing.example.com. It is ${text}`,
    ),
  ),
}

export interface VerifyEndpointsFlags {
  readonly verifyEndpoints: Option.Option<string>
}

/** The options of endpoints. */
export const endpointsOptions = (
  { verifyEndpoints }: VerifyEndpointsFlags,
  transport: WebhookTransport["Service"],
): Pick<EndpointsOptions, "verification"> =>
  Option.isSome(verifyEndpoints) ? { verification: { origin: verifyEndpoints.value, transport } } : {}
