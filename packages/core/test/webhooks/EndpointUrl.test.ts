import { EndpointUrl, NetworkAddress } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { fc, holds } from "../property.ts"
import { block4, block6, inside, spellings6, urlSpellings4 } from "./addresses.ts"

const MODES = ["live", "test"] as const
/** Text of any code points, lone surrogates too. (fast-check's own "binary" strings take seconds to get ready.) */
const anything = fc
  .array(fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0x10_ffff })), { maxLength: 20 })
  .map((points) => String.fromCodePoint(...points))
const path = (length: number) => `https://example.com/${"a".repeat(length - 20)}`

const good: ReadonlyArray<string> = [
  "https://example.com",
  "https://example.com/hooks/7?a=b&c=%20",
  "HTTPS://EXAMPLE.COM/",
  "https://example.com:443/",
  "https://example.com:8443/",
  "https://under_score.a-b.example.com/",
  "https://bücher.example/",
  "https://xn--bcher-kva.example/",
  "https://1.1.1.1/",
  "https://[2606:4700::1111]:8443/x",
  "https://example.com/@user",
  "https://example.com/?mail=a@example.com",
  `https://${"a".repeat(63)}.example.com/`,
  path(2_048),
]

/** What is said of a scheme that there is none of. */
const beginning = {
  live: "must begin with https:// (http is for test mode)",
  test: "must begin with https:// or http://",
} as const

const noScheme: ReadonlyArray<string> = [
  "",
  "example.com",
  "ftp://example.com",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "https:example.com",
  "https:/example.com",
]

const always: ReadonlyArray<readonly [url: string, problem: string]> = [
  ["https://", "must have a valid host and port"],
  ["https://example.com:99999", "must have a valid host and port"],
  ["https://exa<mple.com", "must have a valid host and port"],
  ["https://[::1", "must have a valid host and port"],
  ["https://[fe80::1%25eth0]/", "must have a valid host and port"],
  ["https://[fe80::1%eth0]/", "must have a valid host and port"],
  ["https://[2606:4700::1111%251]/", "must have a valid host and port"],
  ["https://256.1.1.1/", "must have a valid host and port"],
  ["https://user@example.com", "must not have a user name or password"],
  ["https://user:pass@example.com", "must not have a user name or password"],
  ["https://:@example.com", "must not have a user name or password"],
  ["https://@example.com", "must not have a user name or password"],
  ["https://example.com@169.254.169.254/", "must not have a user name or password"],
  ["https://example.com#", "must not have a fragment"],
  ["https://example.com/a#b", "must not have a fragment"],
  [" https://example.com", "must not contain spaces, control characters or backslashes"],
  ["https://example.com ", "must not contain spaces, control characters or backslashes"],
  ["https://exam\tple.com", "must not contain spaces, control characters or backslashes"],
  ["https://exam\nple.com", "must not contain spaces, control characters or backslashes"],
  ["https://example.com/\u0000", "must not contain spaces, control characters or backslashes"],
  ["https://example.com/\u007f", "must not contain spaces, control characters or backslashes"],
  ["https:\\\\example.com", "must not contain spaces, control characters or backslashes"],
  ["https://example.com\\@10.0.0.1/", "must not contain spaces, control characters or backslashes"],
  ["https://example.com/\ud800", "must not contain a lone surrogate"],
  [path(2_049), "must be at most 2048 characters"],
  [`https://example.com/${"é".repeat(1_000)}`, "must be at most 2048 characters when it is percent-encoded"],
  ["https://example.com./", "must not have a host that ends in a dot"],
  ["https://localhost./", "must not have a host that ends in a dot"],
  ["https://a..example.com/", "must have a valid host"],
  ["https://.example.com/", "must have a valid host"],
  ["https://-a.example.com/", "must have a valid host"],
  ["https://a-.example.com/", "must have a valid host"],
  ["https://a!b.example.com/", "must have a valid host"],
  ["https://a,b.example.com/", "must have a valid host"],
  ["https://*.example.com/", "must have a valid host"],
  [`https://${"a".repeat(64)}.example.com/`, "must have a valid host"],
  [`https://${"a.".repeat(124)}example/`, "must have a host of at most 253 characters"],
  ["https://10.0.0.1/", "must not point to 10.0.0.1: it is not public"],
  ["https://169.254.169.254/latest/meta-data", "must not point to 169.254.169.254: it is not public"],
  ["https://[::ffff:169.254.169.254]/", "must not point to ::ffff:a9fe:a9fe: it is not public"],
  ["https://[fd00:ec2::254]/", "must not point to fd00:ec2::254: it is not public"],
  ["https://0/", "must not point to 0.0.0.0: it is not public"],
  ["https://[::]/", "must not point to ::: it is not public"],
]

/** Loopback, which a host has to allow for test mode. */
const LOOPBACK: ReadonlyArray<string> = [
  "http://localhost:3000/hooks",
  "https://localhost/",
  "https://LOCALHOST/",
  "https://%6c%6f%63alhost/",
  "https://ｌｏｃａｌｈｏｓｔ/",
  "https://api.localhost/",
  "http://127.0.0.1:3000/",
  "http://2130706433/",
  "http://127.8.9.10/",
  "https://[::1]/",
  "https://[0:0:0:0:0:0:0:1]:8443/",
]

const withLoopback = Effect.runSync(NetworkAddress.makePolicy({ allowLoopback: true }))
const withEverything = Effect.runSync(
  NetworkAddress.makePolicy({ allow: ["0.0.0.0/0", "::/0"], allowLoopback: true }),
)

const liveOnly: ReadonlyArray<readonly [url: string, problem: string]> = [
  ["http://example.com", "must use https (http is for test mode)"],
  ["http://example.com:443", "must use https (http is for test mode)"],
  ["https://example.com:80", "must use port 443 or 8443"],
  ["https://example.com:0", "must use port 443 or 8443"],
  ["https://example.com:4430", "must use port 443 or 8443"],
  ["https://example.com:22", "must use port 443 or 8443"],
  ["https://localhost/", "must not point to localhost"],
  ["https://LOCALHOST/", "must not point to localhost"],
  ["https://%6c%6f%63alhost/", "must not point to localhost"],
  ["https://ｌｏｃａｌｈｏｓｔ/", "must not point to localhost"],
  ["https://api.localhost/", "must not point to localhost"],
  ["https://intranet/", "must have a full domain name as its host"],
  ["https://127.0.0.1/", "must not point to 127.0.0.1: it is not public"],
  ["https://[::1]/", "must not point to ::1: it is not public"],
  ["https://[0:0:0:0:0:0:0:1]:8443/", "must not point to ::1: it is not public"],
]

/** Written once more, so that none gets lost. */
const METADATA_HOSTS = [
  "instance-data",
  "instance-data.ec2.internal",
  "metadata",
  "metadata.azure.internal",
  "metadata.goog",
  "metadata.google.internal",
  "metadata.packet.net",
  "metadata.platformequinix.com",
  "metadata.tencentyun.com",
]

describe("the URL of an endpoint", () => {
  for (const url of good) {
    it(`may be ${url.slice(0, 80)}`, () => {
      for (const mode of MODES) assert.isUndefined(EndpointUrl.problemOf(url, mode))
    })
  }

  for (const url of noScheme) {
    it(`may never be ${JSON.stringify(url)}: it has no scheme that the mode allows`, () => {
      for (const mode of MODES) assert.strictEqual(EndpointUrl.problemOf(url, mode), beginning[mode])
    })
  }

  for (const [url, problem] of always) {
    it(`may never be ${JSON.stringify(url.slice(0, 80))}: ${problem}`, () => {
      for (const mode of MODES) assert.strictEqual(EndpointUrl.problemOf(url, mode), problem)
    })
  }

  for (const [url, problem] of liveOnly) {
    it(`may be ${JSON.stringify(url)} in test mode alone: ${problem}`, () => {
      assert.strictEqual(EndpointUrl.problemOf(url, "live"), problem)
      assert.strictEqual(
        EndpointUrl.problemOf(url, "test", withLoopback),
        url.endsWith(":0") ? "must not use port 0" : undefined,
      )
    })
  }

  for (const url of LOOPBACK) {
    it(`may be ${url} in test mode where loopback is allowed, and nowhere else`, () => {
      assert.match(EndpointUrl.problemOf(url, "test") ?? "", /needs allowLoopback, or --allow-loopback/)
      assert.isUndefined(EndpointUrl.problemOf(url, "test", withLoopback))
      assert.isDefined(EndpointUrl.problemOf(url, "live", withLoopback))
      // Who opens the networks themselves opens the name, too.
      const opened = Effect.runSync(NetworkAddress.makePolicy({ allow: ["127.0.0.0/8", "::1/128"] }))
      assert.isUndefined(EndpointUrl.problemOf(url, "test", opened))
    })
  }

  it("has a list of metadata services with those of these clouds", () => {
    assert.sameMembers([...EndpointUrl.METADATA_HOSTS], METADATA_HOSTS)
  })

  for (const host of [...METADATA_HOSTS, "METADATA.google.internal"]) {
    it(`may never point to ${host}, whatever is allowed`, () => {
      for (const mode of MODES) {
        const url = `${mode === "live" ? "https" : "http"}://${host}/computeMetadata/v1/`
        const problem = `must not point to ${host.toLowerCase()}: it is a metadata service of a cloud`
        assert.strictEqual(EndpointUrl.problemOf(url, mode, withEverything), problem)
      }
    })
  }

  it("may be plain http on any port in test mode", () => {
    for (const url of ["http://example.com:80", "https://example.com:1"]) {
      assert.isUndefined(EndpointUrl.problemOf(url, "test"))
    }
  })

  it("is judged by its address however that is written", () => {
    const forbidden = fc.constantFrom(
      block4([10, 0, 0, 0], 8),
      block4([127, 0, 0, 0], 8),
      block4([169, 254, 0, 0], 16),
    )
    holds([forbidden.chain(inside)], (bits) => {
      for (const host of urlSpellings4(bits)) {
        const problem = EndpointUrl.problemOf(`https://${host}/`, "live")
        assert.match(problem ?? "", /^must not point to [0-9.]+: it is not public$/, host)
      }
    })
    holds([inside(block4([8, 0, 0, 0], 8))], (bits) => {
      for (const host of urlSpellings4(bits)) {
        assert.isUndefined(EndpointUrl.problemOf(`https://${host}/`, "live"), host)
      }
    })
    const forbidden6 = fc.constantFrom(
      block6([0, 0, 0, 0, 0, 0xffff], 96),
      block6([0xfc00], 7),
      block6([0x2002], 16),
      block6([], 96),
    )
    holds([forbidden6.chain(inside)], (bits) => {
      for (const host of spellings6(bits)) {
        const problem = EndpointUrl.problemOf(`https://[${host}]/`, "live")
        assert.match(problem ?? "", /^must not point to [0-9a-f:]+: it is not public$/, host)
      }
    })
  })

  it("follows the policy where it is an address, and its other rules stay", () => {
    const policy = Effect.runSync(NetworkAddress.makePolicy({ allow: ["10.1.0.0/16", "127.0.0.0/8"] }))
    const problemOf = (url: string) => EndpointUrl.problemOf(url, "live", policy)
    assert.isUndefined(problemOf("https://10.1.2.3:8443/"))
    assert.isUndefined(problemOf("https://127.0.0.1/"))
    assert.strictEqual(problemOf("https://10.2.0.0/"), "must not point to 10.2.0.0: it is not public")
    assert.strictEqual(problemOf("http://10.1.2.3/"), "must use https (http is for test mode)")
    assert.strictEqual(problemOf("https://10.1.2.3:80/"), "must use port 443 or 8443")
    assert.strictEqual(problemOf("https://localhost/"), "must not point to localhost")
  })

  it("never makes the parser throw", () =>
    holds(
      [anything, fc.constantFrom("", "https://", "https://[", "http://a@")],
      (text, start) => {
        for (const mode of MODES) EndpointUrl.problemOf(start + text, mode)
      },
      300,
    ))

  it("is parsed to what is spoken to", () => {
    const parsed = EndpointUrl.parse("https://[2606:4700:0::1111]/a b".replace(" ", "%20"), "live")
    if (Result.isFailure(parsed)) return assert.fail(parsed.failure)
    assert.strictEqual(EndpointUrl.hostOf(parsed.success), "2606:4700::1111")
    assert.strictEqual(EndpointUrl.portOf(parsed.success), 443)
    assert.strictEqual(parsed.success.href, "https://[2606:4700::1111]/a%20b")
    const plain = EndpointUrl.parse("http://example.com", "test")
    const odd = EndpointUrl.parse("http://example.com:81", "test")
    if (Result.isFailure(plain) || Result.isFailure(odd)) return assert.fail("must be parsed")
    assert.deepStrictEqual(
      [plain, odd].map(({ success }) => EndpointUrl.portOf(success)),
      [80, 81],
    )
    assert.strictEqual(EndpointUrl.hostOf(plain.success), "example.com")
  })
})
