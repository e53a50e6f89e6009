/**
 * XML of elements: text is escaped, and what is empty is left out. The same elements always give the same text.
 */

/** An element, as lines of text. */
export class Element {
  readonly lines: ReadonlyArray<string>

  constructor(lines: ReadonlyArray<string>) {
    this.lines = lines
  }
}

type Content = string | null | ReadonlyArray<Element | null>
type Attributes = Readonly<Record<string, string>>

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
}

const escape = (text: string): string => text.replaceAll(/[&<>"\t\n\r]/g, (character) => ENTITIES[character]!)

/** An element with a text or with elements. `null` if it would be empty. */
export const el = (name: string, content: Content, attributes: Attributes = {}): Element | null => {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escape(value)}"`)
  const open = `<${[name, ...given].join("")}>`
  if (typeof content === "string") return new Element([`${open}${escape(content)}</${name}>`])
  const lines = (content ?? []).flatMap((child) => child?.lines ?? [])
  if (lines.length === 0) return null
  return new Element([open, ...lines.map((line) => `  ${line}`), `</${name}>`])
}

/** An element that the schema wants also when it is empty. */
export const required = (name: string, children: ReadonlyArray<Element | null>): Element =>
  el(name, children) ?? new Element([`<${name}/>`])

/** A document in UTF-8. */
export const xml = (root: Element | null): string =>
  ['<?xml version="1.0" encoding="UTF-8"?>', ...(root?.lines ?? []), ""].join("\n")
