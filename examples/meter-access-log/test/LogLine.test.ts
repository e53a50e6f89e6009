import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type LogLine, parseLogLine } from "../src/LogLine.ts"

const SEED = 20_261_121

const line = (parts: { host?: string; user?: string; time?: string; rest?: string } = {}): string =>
  `${parts.host ?? "203.0.113.7"} - ${parts.user ?? "-"} [${parts.time ?? "10/Oct/2025:13:55:36 -0700"}] ` +
  (parts.rest ?? '"GET /api/search?q=1 HTTP/1.1" 200 2326 "https://www.example/" "curl/8.14.1"')

const request = (text: string): string => line({ rest: `"${text}" 400 - "-" "-"` })

const read = (text: string): LogLine => {
  const { line: found, problem } = parseLogLine(text)
  if (found === undefined) throw new Error(`${problem}: ${text}`)
  return found
}

describe("a line in combined format", () => {
  it("has all fields", () => {
    expect(read(line({ user: "frank" }))).toEqual({
      client: "203.0.113.7",
      user: "frank",
      time: "2025-10-10T13:55:36-07:00",
      request: "GET /api/search?q=1 HTTP/1.1",
      method: "GET",
      path: "/api/search",
      status: 200,
      bytes: 2326,
      referer: "https://www.example/",
      userAgent: "curl/8.14.1",
    })
  })

  it.each([
    ["Apache's escapes", String.raw`say \"hi\" \\ C:\\t\tx`, 'say "hi" \\ C:\\t\tx'],
    ["nginx's escapes", String.raw`say \x22hi\x22 \x5C`, 'say "hi" \\'],
    ["what looks like the end of a field", String.raw`\" 200 5 \"-\" \"x`, '" 200 5 "-" "x'],
    ["a backslash at the end", String.raw`C:\\`, "C:\\"],
    ["bytes beyond ASCII", "Caf\u00e9 \u00f0\u009f", "Caf\u00e9 \u00f0\u009f"],
  ])("reads an agent with %s", (_, written, meant) => {
    expect(read(line({ rest: `"GET / HTTP/1.1" 200 5 "-" "${written}"` })).userAgent).toBe(meant)
  })

  it.each([
    ["::1", "::1"],
    ["2001:DB8::1F", "2001:db8::1f"],
    ["fe80::1%eth0", "fe80::1%eth0"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["crawl-1.Example.COM", "crawl-1.example.com"],
  ])("accepts %s as a client", (host, client) => {
    expect(read(line({ host })).client).toBe(client)
  })

  it.each(["grace hopper", "[x]", String.raw`a\" [10/Oct/2025:13:55:36 -0700] \"b`])(
    "accepts %s as a user",
    (user) => {
      const { time, path, ...found } = read(line({ user }))
      expect(found.user).toBe(user.replaceAll("\\", ""))
      expect({ time, path }).toEqual({ time: "2025-10-10T13:55:36-07:00", path: "/api/search" })
    },
  )

  it.each([
    ["01/Jan/2026:00:00:00 +0000", "2026-01-01T00:00:00+00:00"],
    ["29/Feb/2028:23:59:59 +0545", "2028-02-29T23:59:59+05:45"],
    ["31/Dec/2025:23:00:00 -1130", "2025-12-31T23:00:00-11:30"],
  ])("reads the time %s", (time, instant) => {
    expect(read(line({ time })).time).toBe(instant)
  })

  it.each([
    ["GET /a?b=/c HTTP/1.1", "GET", "/a"],
    ["PROPFIND /dav HTTP/1.1", "PROPFIND", "/dav"],
    ["GET /a b HTTP/1.1", "GET", "/a b"],
    ["GET /old", "GET", "/old"],
    ["GET http://www.example/a/b?c HTTP/1.1", "GET", "/a/b"],
    ["OPTIONS * HTTP/1.1", "OPTIONS", undefined],
    ["CONNECT www.example:443 HTTP/1.1", "CONNECT", undefined],
    ["-", undefined, undefined],
    ["", undefined, undefined],
    [String.raw`\x16\x03\x01\x02`, undefined, undefined],
  ])("reads the request %s", (text, method, path) => {
    expect(read(request(text))).toMatchObject({ method, path, bytes: 0, referer: undefined })
  })
})

describe("a malformed line", () => {
  it.each([
    ["", "not in combined format"],
    ["-- MARK --", "not in combined format"],
    [line().slice(0, -1), "not in combined format"],
    [`${line()} 0.013`, "not in combined format"],
    [line({ rest: '"GET / HTTP/1.1" 200 2326' }), "not in combined format"],
    [line({ rest: '"GET / HTTP/1.1" 200 -1 "-" "-"' }), "not in combined format"],
    [line({ rest: '"GET / HTTP/1.1" OK 1 "-" "-"' }), "not in combined format"],
    [line({ rest: '"GET / HTTP/1.1" 200 1 "-" "a"b"' }), "not in combined format"],
    [
      line({ rest: '"GET / HTTP/1.1" 200 9007199254740993 "-" "-"' }),
      "9007199254740993 is not a number of bytes",
    ],
    [line({ host: "unix:" }), '"unix:" is not a client address'],
    [line({ host: "a@b" }), '"a@b" is not a client address'],
    [line({ host: "h".repeat(201) }), `"${"h".repeat(60)}" is not a client address`],
    [line({ time: "30/Feb/2026:00:00:00 +0000" }), '"30/Feb/2026:00:00:00 +0000" is not a time'],
    [line({ time: "01/Foo/2026:00:00:00 +0000" }), '"01/Foo/2026:00:00:00 +0000" is not a time'],
    [line({ time: "01/Jan/2026:24:00:00 +0000" }), '"01/Jan/2026:24:00:00 +0000" is not a time'],
    [line({ time: "01/Jan/2026:00:00:60 +0000" }), '"01/Jan/2026:00:00:60 +0000" is not a time'],
    [line({ time: "01/Jan/2026:00:00:00 +2400" }), '"01/Jan/2026:00:00:00 +2400" is not a time'],
    [line({ time: "2026-01-01T00:00:00Z" }), '"2026-01-01T00:00:00Z" is not a time'],
  ])("%s: %s", (text, problem) => {
    expect(parseLogLine(text)).toEqual({ problem })
  })
})

describe("any line", () => {
  // Characters that are bytes, because the file is read as bytes.
  const text = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    maxLength: 40,
  })
  const nasty = fc.oneof(text, fc.string({ unit: fc.constantFrom('"', "\\", " ", "[", "]", "-", "x", "2") }))
  const hex = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`
  const apache = (value: string) =>
    value.replace(/["\\]/g, "\\$&").replace(/[^\x20-\x7e]/g, (character) => hex(character))
  const nginx = (value: string) => value.replace(/["\\]|[^\x20-\x7e]/g, (character) => hex(character))
  const written = fc.record({
    request: nasty,
    status: fc.integer({ min: 100, max: 599 }),
    bytes: fc.nat(),
    referer: nasty,
    userAgent: nasty,
    escape: fc.constantFrom(apache, nginx),
  })
  const write = ({
    request,
    status,
    bytes,
    referer,
    userAgent,
    escape,
  }: typeof written extends fc.Arbitrary<infer A> ? A : never) =>
    line({ rest: `"${escape(request)}" ${status} ${bytes} "${escape(referer)}" "${escape(userAgent)}"` })
  const sent = (value: string) => (value === "" || value === "-" ? undefined : value)

  it("has the original values in any escaping", () => {
    const property = fc.property(written, (fields) => {
      const { request, status, bytes, referer, userAgent } = fields
      expect(read(write(fields))).toMatchObject({
        request,
        status,
        bytes,
        referer: sent(referer),
        userAgent: sent(userAgent),
      })
    })
    fc.assert(property, { seed: SEED, numRuns: 500 })
  })

  it("is malformed if it is not complete", () => {
    const property = fc.property(written, fc.double({ min: 0, max: 1, noNaN: true }), (fields, part) => {
      const whole = write(fields)
      expect(parseLogLine(whole.slice(0, Math.floor(part * (whole.length - 1)))).line).toBeUndefined()
    })
    fc.assert(property, { seed: SEED, numRuns: 500 })
  })

  it("is a line or a problem for any text", () => {
    const property = fc.property(fc.oneof(text, fc.string({ unit: "binary" })), (garbage) => {
      const { line: found, problem } = parseLogLine(garbage)
      expect((found === undefined) !== (problem === undefined)).toBe(true)
    })
    fc.assert(property, { seed: SEED, numRuns: 500 })
  })

  it("needs time in proportion to its length", () => {
    // A regular expression with backtracking would not finish here.
    const start = `1.2.3.4 - ${"a [".repeat(20_000)}`
    expect(parseLogLine(start).problem).toBe("not in combined format")
    expect(parseLogLine(`1.2.3.4 - ${"a [] ".repeat(12_000)}`).problem).toBe("not in combined format")
    expect(parseLogLine(line({ rest: `"${'\\"'.repeat(30_000)}` })).problem).toBe("not in combined format")
  })
})
