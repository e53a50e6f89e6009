/**
 * XML whose text is escaped. The same values always make the same bytes.
 */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
}

/** Characters that XML 1.0 does not have, and halves of characters. */
const IMPOSSIBLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

const escape = (text: string): string =>
  text.replaceAll(IMPOSSIBLE, "\ufffd").replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!)

/** An element. Only `element` makes one, so no text becomes markup by accident. */
export class Element {
  readonly xml: string

  constructor(xml: string) {
    this.xml = xml
  }
}

/** What is in an element. `null` is nothing. */
export type Content = string | Element | null | ReadonlyArray<Content>

const write = (content: Content): string => {
  if (content === null) return ""
  if (typeof content === "string") return escape(content)
  return content instanceof Element ? content.xml : content.map(write).join("")
}

/** An element. One without content is not written: EN 16931 has no empty elements. */
export const element = (
  name: string,
  content: Content,
  attributes: Readonly<Record<string, string>> = {},
): Element => {
  const inside = write(content)
  const start = [name, ...Object.entries(attributes).map(([key, value]) => `${key}="${escape(value)}"`)]
  return new Element(inside === "" ? "" : `<${start.join(" ")}>${inside}</${name}>`)
}

/** A document in UTF-8. */
export const document = (root: Element): string => `<?xml version="1.0" encoding="UTF-8"?>\n${root.xml}\n`
