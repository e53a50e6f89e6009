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
      `${LOGO.slice(0, -2)}${"A".repeat(256 * 1024)}`,
      "data:image/png;base64,iVBORw0KGgo<b>",
    ]) {
      assert.deepStrictEqual(pathsOf({ name: "x", logo }), ["seller.logo"])
    }
  })

  it("has a logo that is of the kind that it says", () => {
    const of = (type: string, bytes: ReadonlyArray<number>) => {
      const text = Buffer.from([...bytes, ...new Uint8Array(40)]).toString("base64")
      return pathsOf({ name: "x", logo: `data:image/${type};base64,${text}` })
    }
    const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    const jpeg = [0xff, 0xd8, 0xff, 0xe0]
    const webp = [...Buffer.from("RIFF\0\0\0\0WEBPVP8 ")]
    assert.deepStrictEqual([of("png", png), of("jpeg", jpeg)], [[], []])
    for (const wrong of [of("png", webp), of("jpeg", webp), of("png", jpeg), of("jpeg", png), of("png", [])])
      assert.deepStrictEqual(wrong, ["seller.logo"])
  })
})
