import { assert, describe, it } from "vitest"
import { problemsOfSeller } from "../../src/index.ts"
import { LOGO, settings } from "./Samples.ts"

const pathsOf = (seller: unknown) => problemsOfSeller(seller).map(({ path }) => path)

describe("the seller", () => {
  it("may say everything about itself", () => {
    assert.deepStrictEqual(problemsOfSeller({ ...settings.seller, logo: LOGO }), [])
  })

  it("needs a name, and each wrong field is named", () => {
    assert.deepStrictEqual(pathsOf(null), ["seller"])
    assert.deepStrictEqual(pathsOf({}), ["seller.name"])
    assert.deepStrictEqual(
      pathsOf({
        name: "x",
        address: { street: "x", city: 1 },
        country: "Germany",
        taxId: "",
        logo: "https://example.com/logo.png",
        color: "teal",
        footer: "a\u0000b",
        motto: "x",
      }),
      [
        "seller.motto",
        "seller.taxId",
        "seller.footer",
        "seller.address.street",
        "seller.address.city",
        "seller.logo",
        "seller.country",
        "seller.color",
      ],
    )
  })

  it("has a logo of PNG or JPEG in itself, of a limited size", () => {
    for (const logo of [
      "data:image/svg+xml;base64,PHN2Zy8+",
      `data:image/png;base64,${"A".repeat(256 * 1024)}`,
      "data:image/png;base64,<b>",
    ]) {
      assert.deepStrictEqual(pathsOf({ name: "x", logo }), ["seller.logo"])
    }
  })
})
