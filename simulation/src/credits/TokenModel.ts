/**
 * Credits as single tokens, and time as single instants: written differently from the engine, to compare with it.
 */
import type { GrantStatus, HoldStatus } from "@billwright/engine"

interface Token {
  readonly grant: string
  /** The hold that keeps it. */
  hold: string | undefined
}

interface Grant {
  readonly amount: number
  /** The order of use, as text that sorts. */
  readonly rank: string
  readonly from: number
  readonly until: number
  /** What its tokens pay for. `null`: anything. */
  readonly scope: ReadonlyArray<string> | null
  status: GrantStatus
}

interface Hold {
  readonly purpose: string | null
  until: number
  status: HoldStatus
  committed: number | null
}

/** What is granted. */
interface Given {
  readonly amount: number
  readonly priority: number
  readonly from: number
  readonly until: number | null
  /** Default: anything. */
  readonly scope?: ReadonlyArray<string> | null
}

/** After every instant of a run. */
const NEVER = 9_999_999_999_999

const digits = (value: number): string => String(value).padStart(13, "0")

const byId = <A>(all: ReadonlyMap<string, A>): ReadonlyArray<readonly [id: string, value: A]> =>
  [...all].sort(([a], [b]) => (a < b ? -1 : 1))

export class TokenModel {
  readonly grants = new Map<string, Grant>()
  readonly holds = new Map<string, Hold>()
  tokens: Array<Token> = []
  debt = 0
  now: number

  constructor(now: number) {
    this.now = now
  }

  /** What is due by an instant happens, instant by instant. A clock that was set back undoes nothing. */
  tickTo(end: number): void {
    for (let due = this.#nextDue(end); due !== undefined; due = this.#nextDue(end)) {
      this.now = due
      for (const [id, hold] of byId(this.holds)) {
        if (hold.status === "open" && hold.until === due) {
          hold.status = "lapsed"
          this.#free(id)
        }
      }
      this.#beginAndEnd()
    }
    this.now = end
  }

  /** A copy that shares nothing, to try what may be refused. */
  copy(): TokenModel {
    const copy = new TokenModel(this.now)
    for (const [id, grant] of this.grants) copy.grants.set(id, { ...grant })
    for (const [id, hold] of this.holds) copy.holds.set(id, { ...hold })
    copy.tokens = this.tokens.map((token) => ({ ...token }))
    copy.debt = this.debt
    return copy
  }

  grant(id: string, given: Given): void {
    const until = given.until ?? NEVER
    const rank = [given.priority, until, this.now].map(digits).join() + id
    const { amount, from, scope = null } = given
    this.grants.set(id, { amount, rank, from, until, scope, status: "pending" })
    this.#beginAndEnd()
  }

  void(id: string): boolean {
    const grant = this.grants.get(id)!
    if (grant.status !== "active" && grant.status !== "pending") return false
    grant.status = "voided"
    this.#clean()
    return true
  }

  consume(amount: number, purpose: string | null = null): boolean {
    if (this.#usable(purpose).length < amount) return false
    this.#burn(amount, purpose)
    return true
  }

  reserve(id: string, amount: number, until: number, purpose: string | null = null): boolean {
    const free = this.#usable(purpose)
    if (free.length < amount) return false
    for (const token of free.slice(0, amount)) token.hold = id
    this.holds.set(id, { purpose, until, status: "open", committed: null })
    return true
  }

  extend(id: string, until: number): boolean {
    const hold = this.holds.get(id)
    if (hold === undefined) return false
    if (hold.status !== "open") return false
    hold.until = until
    return true
  }

  commit(id: string, amount: number, isRefused: boolean): boolean {
    const hold = this.holds.get(id)
    if (hold === undefined) return false
    if (hold.status === "committed") return hold.committed === amount
    if (hold.status === "released") return false
    const held = this.tokens.filter((token) => token.hold === id)
    const beyond = Math.max(0, amount - held.length)
    if (isRefused && beyond > this.#usable(hold.purpose).length) return false
    const used = new Set(this.#sorted(held).slice(0, amount))
    this.tokens = this.tokens.filter((token) => !used.has(token))
    this.#free(id)
    this.#burn(beyond, hold.purpose)
    hold.status = "committed"
    hold.committed = amount
    return true
  }

  release(id: string): boolean {
    const hold = this.holds.get(id)
    if (hold === undefined) return false
    if (hold.status === "committed") return false
    if (hold.status === "open") {
      hold.status = "released"
      this.#free(id)
    }
    return true
  }

  get balance() {
    const held = this.tokens.filter(({ hold }) => hold !== undefined).length
    return { available: this.availableFor(null), held, debt: this.debt }
  }

  availableFor(purpose: string | null): number {
    return this.#usable(purpose).length
  }

  ofGrant(id: string) {
    const own = this.tokens.filter(({ grant }) => grant === id)
    const held = own.filter(({ hold }) => hold !== undefined).length
    return { available: own.length - held, held, status: this.grants.get(id)!.status }
  }

  /** The first instant up to an end at which a hold lapses, or a grant begins or ends. */
  #nextDue(end: number): number | undefined {
    const instants = [
      ...Array.from(this.holds.values(), ({ status, until }) => (status === "open" ? until : Infinity)),
      ...Array.from(this.grants.values(), ({ from, status, until }) => {
        if (status === "pending") return from
        return status === "active" ? until : Infinity
      }),
    ]
    const first = Math.min(...instants)
    return first <= end ? first : undefined
  }

  #sorted(tokens: ReadonlyArray<Token>): ReadonlyArray<Token> {
    const rank = ({ grant }: Token) => this.grants.get(grant)!.rank
    return [...tokens].sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0))
  }

  /** Free tokens that pay for something. */
  #usable(purpose: string | null): ReadonlyArray<Token> {
    const pays = ({ grant }: Token) => {
      const scope = this.grants.get(grant)!.scope
      return scope === null || scope.some((key) => key === purpose)
    }
    return this.#sorted(this.tokens.filter((token) => token.hold === undefined && pays(token)))
  }

  #burn(amount: number, purpose: string | null): void {
    const used = new Set(this.#usable(purpose).slice(0, amount))
    this.tokens = this.tokens.filter((token) => !used.has(token))
    this.debt += amount - used.size
  }

  #free(hold: string): void {
    for (const token of this.tokens) if (token.hold === hold) token.hold = undefined
    this.#clean()
    this.#repay()
  }

  #beginAndEnd(): void {
    for (const [id, grant] of byId(this.grants)) {
      if (grant.status === "pending" && grant.from <= this.now) {
        grant.status = "active"
        for (let i = 0; i < grant.amount; i++) this.tokens.push({ grant: id, hold: undefined })
        this.#repay()
      }
      if (grant.status === "active" && grant.until <= this.now) grant.status = "expired"
    }
    this.#clean()
  }

  /** Tokens of grants that have ended are gone, unless they are held. */
  #clean(): void {
    this.tokens = this.tokens.filter(
      ({ grant, hold }) => hold !== undefined || this.grants.get(grant)!.status === "active",
    )
  }

  #repay(): void {
    const before = this.debt
    this.debt = 0
    this.#burn(before, null)
  }
}
