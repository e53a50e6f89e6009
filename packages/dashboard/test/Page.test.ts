import { assert, describe, it } from "vitest"
import { render } from "../src/Page.ts"
import { CONFIG_META, type PageConfig } from "../src/PageConfig.ts"

const TEMPLATE = `<!doctype html><meta name="${CONFIG_META}" content="" /><link href="./favicon.svg" /><script src="./assets/index.js"></script>`

const CHARACTERS: Readonly<Record<string, string>> = { "&quot;": '"', "&lt;": "<", "&gt;": ">", "&amp;": "&" }

/** Decodes the value of an attribute as a browser does: each reference once, from left to right. */
const decode = (attribute: string): string =>
  attribute.replace(/&(?:quot|lt|gt|amp);/g, (reference) => CHARACTERS[reference] ?? reference)

/** All attributes of the page, in order. None may have ended too early. */
const attributesOf = (page: string): ReadonlyArray<readonly [string, string]> =>
  [...page.matchAll(/ ([a-z-]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, decode(value)])

describe("the page's configuration", () => {
  it.each([
    "/a&b",
    "/a&amp;b",
    "/a&quot;b",
    "/a&amp;quot;b",
    '/a"><script>alert(1)</script>',
    "/a<b",
    "/$&$'$`$1",
    '/a="./b',
  ])("arrives in the browser unchanged: %s", (path) => {
    const config: PageConfig = { basePath: path, apiUrl: `${path}/v1`, signIn: "host" }
    const page = render(TEMPLATE, config)
    assert.deepEqual(attributesOf(page), [
      ["name", CONFIG_META],
      ["content", JSON.stringify(config)],
      ["href", `${path}/favicon.svg`],
      ["src", `${path}/assets/index.js`],
    ])
    assert.deepEqual(page.match(/<[a-z!]+/g), ["<!doctype", "<meta", "<link", "<script"])
  })
})
