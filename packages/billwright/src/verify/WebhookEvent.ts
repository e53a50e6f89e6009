/** What Billwright sends: the payload of every webhook. */
export interface EventEnvelope<Type extends string = string, Data = unknown> {
  /** Of the event; the header `webhook-id` says the same. */
  readonly id: string
  /** `invoice.paid` and the like. */
  readonly type: Type
  /** When it happened, in ISO 8601 (UTC): not when it was sent. */
  readonly timestamp: string
  /** Whether it is of live mode; `false` is test mode. */
  readonly livemode: boolean
  readonly data: Data
}

/** The events of a catalogue, which maps each type to its `data`: a union by `type`. */
export type WebhookEvent<Events extends object = Record<string, unknown>> = {
  [Type in keyof Events & string]: EventEnvelope<Type, Events[Type]>
}[keyof Events & string]
