/** The payload of every webhook that Billwright sends. */
export interface EventEnvelope<Type extends string = string, Data = unknown> {
  /** The event's id, the same as in the header `webhook-id`. */
  readonly id: string
  /** The event type, such as `invoice.paid`. */
  readonly type: Type
  /** When the event was published, in ISO 8601 (UTC). This is not when the webhook was sent. */
  readonly timestamp: string
  /** `true` in live mode, `false` in test mode. */
  readonly livemode: boolean
  readonly data: Data
}

/** An event of the types in `Events`, which maps each type to its `data`: a union by `type`. */
export type WebhookEvent<Events extends object = Record<string, unknown>> = {
  [Type in keyof Events & string]: EventEnvelope<Type, Events[Type]>
}[keyof Events & string]
