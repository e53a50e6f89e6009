/**
 * Takes personal data out of an event, so that it can stay after its customer was erased. What is not known to be free of
 * personal data is taken out.
 */
import * as ExactJson from "../shared/ExactJson.ts"
import { BEFORE_DATA, dataText, type Event, isWithinPayload } from "./Event.ts"
import type { EventType } from "./EventType.ts"

/** What stands in place of a text. */
export const REDACTED = "[redacted]"

const MARK = ',"redacted":true'

/** An id that Billwright made. It names nobody. */
const OWN_ID = /^[a-z]{2,6}_[0-9a-hjkmnp-tv-z]{26}$/
/** A name that a program gave to a field. Other keys of objects may be texts of people, such as e-mail addresses. */
const FIELD = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

type Kept = (field: string) => boolean

const redactedText = (text: string, isKept: boolean): string =>
  isKept || text === "" || OWN_ID.test(text) ? text : REDACTED

/** Fields whose value is taken out as a whole, and what stands there then: keys of the host, and when a card expires. */
const EMPTIED: Readonly<Record<string, unknown>> = { metadata: {}, expiry: null }

/** `field` is the name of the nearest field around the value. */
const redactedValue = (value: unknown, field: string, isKept: Kept): unknown => {
  if (typeof value === "string") return redactedText(value, isKept(field))
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((item) => redactedValue(item, field, isKept))
  if (Object.hasOwn(EMPTIED, field)) return EMPTIED[field]
  const isMap = isKept(field)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isMap || FIELD.test(name))
      // All texts of an object that is kept stay.
      .map(([name, each]) => [name, redactedValue(each, isMap ? field : name, isKept)]),
  )
}

/** Whether the payload of an event was redacted. */
export const isRedacted = ({ payload }: Pick<Event, "payload">): boolean =>
  payload.slice(0, payload.indexOf(BEFORE_DATA)).endsWith(MARK)

/**
 * The payload of an event without personal data. It is the same JSON with `"redacted": true` before `data`, and with
 * `[redacted]` in place of each text in `data`. Texts stay that are ids of Billwright, and those of fields that the type
 * names as `kept`. `metadata` is empty, `expiry` is null, and keys of objects that are no names of fields are gone. Other numbers
 * and booleans stay. Where that would be larger than a payload may be, because of many short texts, `data` is empty. `type` is `undefined` for an event whose type the catalogue does not have any more.
 */
export const redacted = (event: Pick<Event, "payload">, type: EventType | undefined): string => {
  if (isRedacted(event)) return event.payload
  const { payload } = event
  const kept = new Set(type?.kept)
  const data = redactedValue(ExactJson.parse(dataText(payload)), "", (field) => kept.has(field))
  const head = `${payload.slice(0, payload.indexOf(BEFORE_DATA))}${MARK}${BEFORE_DATA}`
  const whole = `${head}${ExactJson.stringify(data)}}`
  return isWithinPayload(whole) ? whole : `${head}{}}`
}
