/**
 * HTML whose text is escaped. Only `html` makes markup, so no value becomes markup by accident.
 */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

/** Control characters, which HTML does not have. Lines were split before. */
const CONTROLS = /\p{Cc}/gu

const escape = (text: string): string =>
  text.replaceAll(CONTROLS, "\ufffd").replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!)

/** A piece of markup. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A value in markup: text is escaped, markup stays as it is, and `null` is nothing. */
type Value = string | Markup | ReadonlyArray<Markup> | null

const write = (value: Value): string => {
  if (value === null) return ""
  if (typeof value === "string") return escape(value)
  return value instanceof Markup ? value.text : value.map(({ text }) => text).join("")
}

/** Templates without the indentation that they have in the sources. */
const evened = new WeakMap<TemplateStringsArray, ReadonlyArray<string>>()

const partsOf = (template: TemplateStringsArray): ReadonlyArray<string> => {
  const known = evened.get(template)
  if (known !== undefined) return known
  const parts = template.map((part) => part.replaceAll(/\s*\n\s*/g, "\n"))
  evened.set(template, parts)
  return parts
}

/** Markup with values. */
export const html = (template: TemplateStringsArray, ...values: ReadonlyArray<Value>): Markup => {
  const written = partsOf(template).map((part, index) =>
    index === 0 ? part : `${write(values[index - 1]!)}${part}`,
  )
  return new Markup(written.join(""))
}
