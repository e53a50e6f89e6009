/**
 * Parameters of Stripe's API: forms whose names nest, such as `card[number]=4242` and `expand[0]=latest_charge`.
 */
import { StripeProblem } from "./StripeProblem.ts"

/** Parameters by name. A list is a group whose names are its indexes. */
export interface ParamGroup {
  readonly [name: string]: string | ParamGroup
}

type MutableGroup = { [name: string]: string | MutableGroup }

/** A group that inherits no names. */
const emptyGroup = (): MutableGroup => Object.create(null) as MutableGroup

/** `a[b][]` is `["a", "b", ""]`. */
const pathOf = (name: string): ReadonlyArray<string> => {
  const [first = "", ...rest] = name.split("[")
  return [first, ...rest.map((part) => part.replace(/\]$/, ""))]
}

/** Reads a body or the query of a URL. */
export const parseParams = (text: string): ParamGroup => {
  const root = emptyGroup()
  for (const [name, value] of new URLSearchParams(text)) {
    const path = pathOf(name)
    let group = root
    for (const part of path.slice(0, -1)) {
      const inner = group[part]
      group = typeof inner === "object" ? inner : (group[part] = emptyGroup())
    }
    const last = path.at(-1) ?? ""
    group[last === "" ? String(Object.keys(group).length) : last] = value
  }
  return root
}

/** The parameters of one call. Reading one that is missing or wrong throws what Stripe answers. */
export class Params {
  readonly #group: ParamGroup

  /** Refuses a parameter that the call does not know. */
  constructor(group: ParamGroup, known: ReadonlyArray<string>) {
    this.#group = group
    for (const name of Object.keys(group)) {
      if (name !== "expand" && !known.includes(name)) {
        throw StripeProblem.invalid("parameter_unknown", `Received unknown parameter: ${name}`, name)
      }
    }
  }

  /** The objects to answer in full rather than by their id. */
  get expand(): ReadonlyArray<string> {
    return Object.values(this.group("expand")).filter((one) => typeof one === "string")
  }

  text(name: string): string | undefined {
    const value = this.#group[name]
    return typeof value === "string" && value !== "" ? value : undefined
  }

  required(name: string): string {
    const value = this.text(name)
    if (value === undefined) {
      throw StripeProblem.invalid("parameter_missing", `Missing required param: ${name}.`, name)
    }
    return value
  }

  integer(name: string): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    if (!/^-?\d{1,15}$/.test(value)) {
      throw StripeProblem.invalid("parameter_invalid_integer", `Invalid integer: ${value}`, name)
    }
    return Number(value)
  }

  flag(name: string): boolean {
    return this.text(name) === "true"
  }

  /** Those in brackets behind a name. */
  group(name: string): ParamGroup {
    const value = this.#group[name]
    return typeof value === "object" ? value : emptyGroup()
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#group, name)
  }

  /** What metadata becomes: names are added, and one with an empty value is removed. */
  metadata(before: Readonly<Record<string, string>> = {}): Record<string, string> {
    return this.#metadata(this.group("metadata"), before)
  }

  /** The metadata in a group of parameters. */
  metadataOf(name: string): Record<string, string> {
    const { metadata } = this.group(name)
    return typeof metadata === "object" ? this.#metadata(metadata, {}) : {}
  }

  #metadata(group: ParamGroup, before: Readonly<Record<string, string>>): Record<string, string> {
    const given = Object.entries(group).filter((one) => typeof one[1] === "string")
    const merged = Object.entries({ ...before, ...Object.fromEntries(given) })
    return Object.fromEntries(merged.filter(([, value]) => value !== "")) as Record<string, string>
  }
}
