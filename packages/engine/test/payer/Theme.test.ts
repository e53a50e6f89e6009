/** Colours of pages for payers. */
import { assert, describe, it } from "vitest"
import { problemsOfTheme } from "../../src/index.ts"
import { contrast, styleOf } from "../../src/payer/index.ts"

const problems = (theme: unknown) =>
  problemsOfTheme(theme, "theme").map(({ path, problem }) => `${path} ${problem}`)

/** The values of the style's variables, of light and of dark pages. */
const palettesOf = (style: string) =>
  [...style.matchAll(/:root \{ ([^}]*)\}/g)].map(([, text = ""]) =>
    Object.fromEntries(text.split(";").map((part) => part.trim().split(": ") as [string, string])),
  )

describe("a theme", () => {
  it("has readable colours by default, light and dark", () => {
    const palettes = palettesOf(styleOf({}))
    assert.deepStrictEqual(
      palettes.map((colors) => colors["color-scheme"]),
      ["light", "dark"],
    )
    for (const colors of palettes) {
      for (const [one, other] of [
        ["--text", "--background"],
        ["--accent", "--background"],
        ["--on-accent", "--accent"],
      ] as const)
        assert.isAtLeast(contrast(colors[one]!, colors[other]!), 4.5, `${one} on ${other}`)
    }
  })

  it("measures contrast as WCAG does", () => {
    assert.strictEqual(contrast("#000000", "#FFFFFF"), 21)
    assert.strictEqual(contrast("#777777", "#777777"), 1)
    // A known pair: #767676 on white is the lightest grey that passes.
    assert.isAtLeast(contrast("#767676", "#ffffff"), 4.5)
    assert.isBelow(contrast("#777777", "#ffffff"), 4.5)
  })

  it("has text on each accent that can be read", () => {
    for (let step = 0; step < 0x1000; step++) {
      const accent = `#${[...step.toString(16).padStart(3, "0")].map((digit) => digit + digit).join("")}`
      const [colors] = palettesOf(styleOf({ accent }))
      assert.isAtLeast(contrast(colors!["--on-accent"]!, accent), 4.5, accent)
    }
  })

  it("stays as it is where readers prefer dark pages, unless it says otherwise", () => {
    assert.strictEqual(palettesOf(styleOf({ accent: "#0b7285" })).length, 1)
    const both = palettesOf(styleOf({ accent: "#0b7285", dark: { background: "#000000" } }))
    assert.strictEqual(both[1]!["--background"], "#000000")
    const dark = palettesOf(styleOf({ background: "#101010", text: "#ffffff", accent: "#99ccff" }))
    assert.deepStrictEqual([dark.length, dark[0]!["color-scheme"]], [1, "dark"])
  })

  it("is refused by the name of what is wrong", () => {
    for (const theme of [{}, { accent: "#0b7285" }, { dark: {} }, { logo: "https://cdn.example/a.svg?x=1" }])
      assert.deepStrictEqual(problems(theme), [])
    assert.match(problems(null)[0]!, /^theme must be an object/)
    assert.match(problems({ accent: "#fff" })[0]!, /^theme.accent must be a colour/)
    assert.match(problems({ color: "#ffffff" })[0]!, /^theme.color/)
    assert.match(problems({ dark: 1 })[0]!, /^theme.dark must be an object/)
    assert.match(problems({ dark: { logo: "x" } })[0]!, /^theme.dark.logo/)
    assert.match(
      problems({ text: "#cccccc" })[0]!,
      /^theme.text must have a contrast of at least 4.5 to the background: #cccccc on #f3f5f8 has 1\.\d/,
    )
    for (const logo of [
      "http://a.example/x",
      "https://a.example/x y",
      `https://a.example/"x`,
      "javascript:x",
      7,
    ])
      assert.match(problems({ logo })[0]!, /^theme.logo must be an address/)
  })
})
