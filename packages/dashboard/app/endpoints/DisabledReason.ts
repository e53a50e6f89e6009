import type { Endpoint } from "../api/Types.ts"

const REASONS: Readonly<Record<NonNullable<Endpoint["disabled_reason"]>, string>> = {
  manual: "Somebody disabled it.",
  gone: "It was disabled because it answered 410 Gone.",
  failing: "It was disabled because every attempt failed for 5 days.",
}

/** Why an endpoint is disabled, in a sentence. */
export const whyDisabled = ({ disabled_reason: reason }: Endpoint): string =>
  reason === null ? "It is disabled." : REASONS[reason]
