/**
 * Repeats what the storage did with single tokens, and compares each answer.
 */
import type { Credit, Hold } from "@billwright/core"
import type { Ask, CreditBooks, Turn } from "./CreditBooks.ts"
import { TokenModel } from "./TokenModel.ts"

/** What single tokens say of a turn: what must be true of its answer, or why it is refused. */
type Expected = { readonly refusal: string; readonly available?: number } | { readonly value: object }

const done = (value: object): Expected => ({ value })
const unavailable: Expected = { refusal: "ActionUnavailable" }

const millisOf = (instant: { readonly epochMilliseconds: number } | null): number | null =>
  instant === null ? null : instant.epochMilliseconds

/** One account of the run, as tokens, and what was answered to commands that have a key. */
export class Replay {
  readonly model = new TokenModel(0)
  readonly #first = new Map<number, string>()

  /** Repeats one turn. Gives what contradicts it. */
  repeat(turn: Turn): ReadonlyArray<string> {
    const { command, isWritten, now, outcome } = turn
    if (outcome === undefined) return []
    const name = `${command.ask.type} ${command.number}`
    const known = this.#first.get(command.number)
    if (known !== undefined) {
      const isSame = outcome.type === "done" && (outcome.value as { readonly id: string }).id === known
      return isSame && !isWritten ? [] : [`${name} was done twice`]
    }
    // What is not written leaves everything as it was.
    const model = isWritten ? this.model : this.model.copy()
    model.tickTo(now)
    const value = outcome.type === "done" ? (outcome.value as { readonly id: string }) : undefined
    const expected = expectedOf(model, command.ask, value, now)
    if ("refusal" in expected) {
      if (outcome.type === "done") return [`${name} was done, and is ${expected.refusal}`]
      const { _tag, available } = outcome.error
      const isSame =
        _tag === expected.refusal &&
        (expected.available === undefined || available === BigInt(expected.available))
      return isSame ? [] : [`${name} was ${_tag} of ${available}, and not ${JSON.stringify(expected)}`]
    }
    if (value === undefined) return [`${name} was refused, and could be done`]
    if (command.ask.type === "grant" || command.ask.type === "consume" || command.ask.type === "reserve") {
      this.#first.set(command.number, value.id)
    }
    const [given, right] = [textOf(value, expected.value), textOf(expected.value, expected.value)]
    return given === right ? [] : [`${name} gave ${given}, and not ${right}`]
  }
}

/** The named fields of a value. */
const textOf = (value: object, names: object): string =>
  Object.keys(names)
    .map((name) => {
      const field: unknown = Reflect.get(value, name)
      return `${name} ${typeof field === "object" && field !== null ? JSON.stringify(fieldsOf(field)) : String(field)}`
    })
    .join(", ")

const fieldsOf = (field: object): object =>
  Object.fromEntries(
    Object.entries(field).map(([key, each]: readonly [string, unknown]) => [key, String(each)]),
  )

const expectedOf = (
  model: TokenModel,
  ask: Ask,
  value: { readonly id: string } | undefined,
  now: number,
): Expected => {
  switch (ask.type) {
    case "balance":
      return done(model.balance)
    case "grant":
      return expectedGrant(model, ask, value as Credit.CreditGrant | undefined, now)
    case "consume":
      return expectedConsumption(model, ask, value as Credit.Consumption | undefined)
    case "reserve":
      return expectedHold(model, ask, value as Hold.Hold | undefined, now)
    case "void":
      return expectedVoid(model, ask.id, value !== undefined, now)
    case "extend": {
      const until = now + ask.ttlSeconds * 1_000
      return model.extend(ask.id, until) ? done({ status: "open" }) : unavailable
    }
    case "release":
      return model.release(ask.id) ? done({ status: model.holds.get(ask.id)!.status }) : unavailable
    case "commit":
      return expectedCommit(model, ask)
  }
}

const expectedVoid = (model: TokenModel, id: string, isDone: boolean, now: number): Expected => {
  const grant = model.grants.get(id)!
  const { available, held } = model.ofGrant(id)
  // That a grant of which nothing is left has ended may be written nowhere, and a clock may be set back to before that.
  const isUnknown = grant.status === "expired" && grant.until > now && available + held === 0
  if (isUnknown && isDone) grant.status = "active"
  if (grant.status === "voided") return done({ status: "voided" })
  return model.void(id) ? done(model.ofGrant(id)) : unavailable
}

const expectedGrant = (
  model: TokenModel,
  { amount, expiresAt, priority, ...ask }: Extract<Ask, { readonly type: "grant" }>,
  value: Credit.CreditGrant | undefined,
  now: number,
): Expected => {
  const from = ask.effectiveAt ?? now
  if (expiresAt !== null && expiresAt <= Math.max(now, from)) return { refusal: "InvalidInput" }
  if (value === undefined) return done({})
  model.grant(value.id, { amount: Number(amount), priority, from, until: expiresAt })
  if (millisOf(value.effectiveAt) !== from || millisOf(value.expiresAt) !== expiresAt) {
    return done({ effectiveAt: from, expiresAt })
  }
  return done(model.ofGrant(value.id))
}

const expectedConsumption = (
  model: TokenModel,
  { amount }: Extract<Ask, { readonly type: "consume" }>,
  value: Credit.Consumption | undefined,
): Expected => {
  const { available } = model.balance
  if (!model.consume(Number(amount))) return { refusal: "InsufficientCredits", available }
  return value === undefined ? done({}) : done({ amount, balance: model.balance })
}

const expectedHold = (
  model: TokenModel,
  { amount, ttlSeconds }: Extract<Ask, { readonly type: "reserve" }>,
  value: Hold.Hold | undefined,
  now: number,
): Expected => {
  const { available } = model.balance
  const until = now + ttlSeconds * 1_000
  const isEnough = model.reserve(value?.id ?? "none", Number(amount), until)
  return isEnough ? done({ amount, status: "open" }) : { refusal: "InsufficientCredits", available }
}

const expectedCommit = (
  model: TokenModel,
  { amount, id, overdraft }: Extract<Ask, { readonly type: "commit" }>,
): Expected => {
  const hold = model.holds.get(id)
  // It was answered, and never stored.
  if (hold === undefined) return unavailable
  const { status } = hold
  const { available } = model.balance
  const held = status === "open" ? model.tokens.filter((token) => token.hold === id).length : 0
  const isOpen = status === "open" || status === "lapsed"
  if (model.commit(id, Number(amount), overdraft === "refuse")) {
    return done({
      status: "committed",
      committed: amount,
      ...(isOpen ? { isLate: status === "lapsed" } : {}),
    })
  }
  return isOpen ? { refusal: "InsufficientCredits", available: available + held } : unavailable
}

/** Repeats all turns. Gives the accounts as tokens, and what contradicts their answers. */
export const replay = ({ turns }: CreditBooks) => {
  const accounts = new Map<string, Replay>()
  const problems = turns.flatMap((turn) => {
    const { account } = turn.command
    const known = accounts.get(account) ?? new Replay()
    accounts.set(account, known)
    return known.repeat(turn)
  })
  return { accounts, problems }
}
