/**
 * Stored rate cards: what the tokens of language models cost, in versions.
 *
 * Each version is a value of its own, and its terms never change. Other terms are the next version. Their rules are those
 * of `@billwright/engine`.
 */
import {
  canonicalJson,
  changesOf,
  type FieldChange,
  RATE_CARD_LIMITS,
  type RateCard as RateCardDefinition,
  type TokenKind,
} from "@billwright/engine"
import { Schema } from "effect"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as Sha256 from "../shared/Sha256.ts"
import * as Text from "../shared/Text.ts"
import * as TextMap from "../shared/TextMap.ts"
import { VersionNumber } from "./Plan.ts"

/** The prefix of ids of versions of rate cards. */
export const RATE_CARD_ID_PREFIX = "rtc"
/** Most rate cards of one push. */
export const MAX_CARDS_PER_PUSH = 50
/** What is wrong with a push of none or of too many rate cards. */
export const CARDS_PROBLEM = `must be a list of 1 to ${MAX_CARDS_PER_PUSH} rate cards`
/** Longest canonical JSON of a rate card, in characters: 256 Ki. */
export const MAX_CARD_LENGTH = 262_144
/** The longest key of a rate card, and the longest unit, in characters. */
const MAX_KEY_LENGTH = 64
/** A key, `@` and the number of a version. */
const MAX_REFERENCE_LENGTH = 100
/** The longest decimal: 18 digits before the point, 12 after it. */
const MAX_DECIMAL_LENGTH = 31

export const RateCardId = Id.schema(RATE_CARD_ID_PREFIX).pipe(Schema.brand("RateCardId"))
export type RateCardId = typeof RateCardId.Type

export const RateCardStatus = Schema.Literals(["current", "superseded"])
export type RateCardStatus = typeof RateCardStatus.Type

const Price = Schema.optionalKey(
  Schema.String.check(Schema.isMaxCodePoints(MAX_DECIMAL_LENGTH)).annotate({
    description: "The price of 1,000,000 tokens, a decimal in the unit of the card.",
  }),
)
const Prices = Schema.Struct({
  input: Price,
  cache_read: Price,
  cache_write: Price,
  output: Price,
  reasoning: Price,
} satisfies Record<TokenKind, unknown>)

const decimalsBounds = { minimum: 0, maximum: RATE_CARD_LIMITS.decimals }
const key = Field.text(Text.bounded(1, MAX_KEY_LENGTH), "The name of the card in code. It never changes.")
const status = Field.text(
  RateCardStatus,
  "`current`: calls are rated by this version. `superseded`: there is a later one.",
)

/** The definition of the resource; see `Resource`. */
export const rateCards = Resource.make({
  type: "RateCard",
  noun: "rate card",
  title: "Rate cards",
  description: "A version of a rate card: what the tokens of language models cost. Its terms never change.",
  about:
    "Rate cards say what the tokens of language models cost. You push them with your plans; each has versions, whose terms never change.",
  path: "/rate_cards",
  scope: "catalog",
  id: RateCardId,
  prefix: RATE_CARD_ID_PREFIX,
  fields: {
    name: Field.textOrNull(Text.bounded(1, RATE_CARD_LIMITS.name), "The name of the card for people."),
    key,
    version: Field.json(VersionNumber, "The number of the version, from 1."),
    reference: Field.text(Text.bounded(1, MAX_REFERENCE_LENGTH), "The key and the number: `llm@3`."),
    hash: Field.text(
      Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/), Schema.isMaxLength(64)),
      "The SHA-256 hash of the terms in canonical JSON (RFC 8785). Equal terms have equal hashes.",
    ),
    unit: Field.text(
      Text.bounded(1, MAX_KEY_LENGTH),
      "What prices are in: an ISO 4217 currency code, or a unit of yours such as `credit`.",
    ),
    decimals: Field.jsonOrNull(
      Schema.Int.check(Schema.isBetween(decimalsBounds)),
      "The decimals of amounts in a unit of yours. `null`: 0, or those of the currency.",
    ),
    markup: Field.textOrNull(
      Text.bounded(1, MAX_DECIMAL_LENGTH),
      "Percent that are added to the price. `null`: none.",
    ),
    models: Field.json(
      TextMap.make(Prices, { keys: RATE_CARD_LIMITS.models, keyLength: RATE_CARD_LIMITS.model }),
      "Prices of 1,000,000 tokens by the name of the model and the kind of the tokens.",
    ),
    status,
  },
  times: { createdAt: Field.instant("When the version was published.") },
  create: {},
  filters: {
    key: Field.optional(Field.saying(key, "Only versions of the card with this key.")),
    status: Field.optional(Field.saying(status, "Only versions with this status.")),
  },
  indexed: ["key", "status"],
  unique: ["reference"],
  operations: {},
  example: {
    id: "rtc_01kb2r9d3vffx9qd6k4v2n1h7c",
    name: "Language models",
    key: "llm",
    version: 3,
    reference: "llm@3",
    hash: "5d2f4a8c1e7b9036a4d8f0c2b6e1937508acdf42719be65308d4c1fa2b7e6093",
    unit: "credit",
    decimals: 4,
    markup: "20",
    models: { large: { input: "2.00", cache_read: "0.20", output: "8.00" } },
    status: "current",
    created_at: "2026-11-21T09:32:00.000Z",
  },
})

/** A version of a rate card. */
export const RateCard = rateCards.Value
export interface RateCard extends Schema.Schema.Type<typeof RateCard> {}

/** Which versions to list. */
export const ListRateCards = rateCards.List
export interface ListRateCards extends Schema.Schema.Type<typeof ListRateCards> {}

/** The tenant has no version of a rate card with this id. */
export const RateCardNotFound = rateCards.NotFound
export type RateCardNotFound = InstanceType<typeof RateCardNotFound>

/** What a push does, or would do, to one rate card. */
export interface RateCardChange {
  readonly key: string
  /** `changed`: the name or the terms are new. Only new terms make a version. */
  readonly status: "created" | "changed" | "unchanged"
  /** The number of the newest version afterwards. */
  readonly version: number
  /** The number of the newest version before. `null` for a card that is created. */
  readonly previousVersion: number | null
  /** The fields that differ. Empty for a card that is created or unchanged. */
  readonly changes: ReadonlyArray<FieldChange>
}

/** The rate cards to push. Cards that are left out stay as they are. */
export interface PushRateCards {
  /** 1 to 50 cards with different keys. */
  readonly rateCards: ReadonlyArray<RateCardDefinition>
}

/** The card as it can be pushed. */
export const definitionOf = ({
  decimals,
  key: own,
  markup,
  models,
  name,
  unit,
}: RateCard): RateCardDefinition => ({
  key: own,
  ...(name === null ? {} : { name }),
  unit,
  ...(decimals === null ? {} : { decimals }),
  ...(markup === null ? {} : { markup }),
  models,
})

/** The SHA-256 hash of what a card costs, without its name: 64 hexadecimal digits. */
export const hashOf = (card: RateCardDefinition): string =>
  Sha256.hex(canonicalJson({ ...card, name: undefined }))

/** What pushing a card does. `before` is the newest stored version, if there is one. */
export const changeOf = (before: RateCard | undefined, pushed: RateCardDefinition): RateCardChange => {
  if (before === undefined)
    return { key: pushed.key, status: "created", version: 1, previousVersion: null, changes: [] }
  const previousVersion = before.version
  const changes = changesOf(definitionOf(before), pushed)
  const change = { key: pushed.key, previousVersion, changes }
  if (changes.length === 0) return { ...change, status: "unchanged", version: previousVersion }
  const version = hashOf(pushed) === before.hash ? previousVersion : previousVersion + 1
  return { ...change, status: "changed", version }
}
