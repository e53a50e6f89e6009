import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { Dashboard } from "@billwright/dashboard"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const PAGE = `<!doctype html><meta name="billwright-dashboard" content="" /><script src="./assets/index-1a2b3c4d.js"></script>`
const SCRIPT = "export const one = 1\n".repeat(200)

let parent: string
let directory: string
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "billwright-dashboard-"))
  directory = join(parent, "app")
  await mkdir(join(directory, "assets"), { recursive: true })
  await writeFile(join(parent, "secret.txt"), "secret")
  await writeFile(join(directory, "index.html"), PAGE)
  await writeFile(join(directory, "favicon.svg"), "<svg/>")
  await writeFile(join(directory, "assets/index-1a2b3c4d.js"), SCRIPT)
  await symlink(join(parent, "secret.txt"), join(directory, "assets/link.txt"))
})
afterAll(() => rm(parent, { recursive: true }))

const make = (options: Dashboard.DashboardOptions = {}) => {
  const handler = Dashboard.handler({ directory, ...options })
  return (path: string, init: RequestInit = {}) => handler(new Request(`http://localhost${path}`, init))
}

const answered = async (answer: Promise<Response | undefined>): Promise<Response> => {
  const response = await answer
  if (response === undefined) throw new Error("no answer")
  return response
}

describe("the page", () => {
  it("is served at the root and at the addresses of the app's pages", async () => {
    const ask = make()
    for (const path of [
      "/",
      "/events",
      "/events/evt_1",
      "/usage?customer=cus_1",
      "/customers/",
      "/endpoints/a/b",
    ]) {
      const response = await answered(ask(path))
      assert.strictEqual(response.status, 200, path)
      assert.include(await response.text(), `src="/assets/index-1a2b3c4d.js"`)
    }
  })

  it("leaves every other path to the host", async () => {
    const ask = make()
    for (const path of [
      "/v1/events",
      "/openapi.json",
      "/docs",
      "/livez",
      "/eventsx",
      "/assets",
      "/index.html/x",
      "//",
    ])
      assert.isUndefined(await ask(path), path)
  })

  it("knows where it is mounted, and loads its files from there", async () => {
    const ask = make({ basePath: "/billing/dash/", apiUrl: "/billing/v1", signIn: "host" })
    const page = await (await answered(ask("/billing/dash/events/evt_1"))).text()
    assert.include(page, `src="/billing/dash/assets/index-1a2b3c4d.js"`)
    const config = `{"basePath":"/billing/dash","apiUrl":"/billing/v1","signIn":"host"}`
    assert.include(page, `content="${config.replaceAll('"', "&quot;")}"`)
    assert.strictEqual((await answered(ask("/billing/dash"))).status, 200)
    assert.strictEqual((await answered(ask("/billing/dash/assets/index-1a2b3c4d.js"))).status, 200)
    for (const path of ["/", "/events", "/billing", "/billing/dashes", "/billing/v1/events"])
      assert.isUndefined(await ask(path), path)
  })

  it("can only be mounted at valid paths", () => {
    for (const path of [
      "billing",
      "https://example.com/v1",
      "//example.com/v1",
      `/"><script>`,
      "/a b",
      "/a?b",
      "/a/../b c",
    ])
      for (const name of ["basePath", "apiUrl"]) assert.throws(() => make({ [name]: path }), TypeError, path)
  })
})

describe("every answer", () => {
  it("has the security headers", async () => {
    const ask = make({ authorize: (request) => !request.url.endsWith("/deliveries") })
    const answers = await Promise.all([
      answered(ask("/")),
      answered(ask("/assets/index-1a2b3c4d.js")),
      answered(ask("/deliveries")),
      answered(ask("/", { method: "POST" })),
    ])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 403, 405],
    )
    for (const { headers } of answers) {
      const policy = (headers.get("content-security-policy") ?? "").split("; ")
      assert.includeMembers(policy, [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ])
      assert.notMatch(policy.join(), /unsafe|\*/)
      assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
      assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
    }
  })

  it("is only the page or a file of the built folder, for any path", async () => {
    const ask = make({ basePath: "/d" })
    const paths = [
      "/d/../secret.txt",
      "/d/assets/../../secret.txt",
      "/d/%2e%2e/secret.txt",
      "/d/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
      "/d/assets/..%5c..%5csecret.txt",
      "/d/assets/link.txt",
      "/d//etc/passwd",
      "/d/assets/index-1a2b3c4d.js%00",
      "/d/events/../../secret.txt",
      "/d/__proto__",
      "/d/constructor",
    ]
    for (const path of paths) {
      const response = await ask(path)
      if (response !== undefined) assert.include(await response.text(), "billwright-dashboard", path)
    }
  })
})

describe("caching", () => {
  it("lets browsers cache files with a hash in their name forever, and the page not without asking", async () => {
    const ask = make()
    const file = await answered(ask("/assets/index-1a2b3c4d.js"))
    assert.strictEqual(file.headers.get("cache-control"), "public, max-age=31536000, immutable")
    assert.strictEqual((await answered(ask("/favicon.svg"))).headers.get("cache-control"), "public, no-cache")
    const page = await answered(ask("/events"))
    assert.strictEqual(page.headers.get("cache-control"), "no-cache")
    const etag = page.headers.get("etag") ?? ""
    for (const known of [etag, `"other", ${etag}`, `W/${etag}`]) {
      const again = await answered(ask("/events", { headers: { "if-none-match": known } }))
      assert.strictEqual(again.status, 304)
      assert.strictEqual(await again.text(), "")
    }
    assert.strictEqual((await answered(ask("/", { headers: { "if-none-match": `"other"` } }))).status, 200)
  })

  it("compresses for clients that accept it, with a separate ETag", async () => {
    const ask = make()
    const path = "/assets/index-1a2b3c4d.js"
    const plain = await answered(ask(path))
    const zipped = await answered(ask(path, { headers: { "accept-encoding": "br, gzip;q=0.5" } }))
    assert.strictEqual(zipped.headers.get("content-encoding"), "gzip")
    assert.strictEqual(gunzipSync(Buffer.from(await zipped.arrayBuffer())).toString(), SCRIPT)
    assert.notStrictEqual(zipped.headers.get("etag"), plain.headers.get("etag"))
    assert.isNull(plain.headers.get("content-encoding"))
    for (const header of ["gzip;q=0", "gzip; q=0.0", "br", "xgzip"])
      assert.isNull(
        (await answered(ask(path, { headers: { "accept-encoding": header } }))).headers.get(
          "content-encoding",
        ),
        header,
      )
  })

  it("sends no body to HEAD", async () => {
    const response = await answered(make()("/", { method: "HEAD" }))
    assert.strictEqual(response.status, 200)
    assert.strictEqual(await response.text(), "")
  })
})

describe("authorize", () => {
  it("decides about pages and files, and its response is sent unchanged", async () => {
    const ask = make({
      authorize: (request) =>
        request.headers.get("cookie") === "operator" || Response.redirect("http://localhost/login"),
    })
    for (const path of ["/", "/events", "/assets/index-1a2b3c4d.js"]) {
      assert.strictEqual((await answered(ask(path))).status, 302)
      assert.strictEqual((await answered(ask(path, { headers: { cookie: "operator" } }))).status, 200)
    }
  })

  it("is not called for paths of the host", async () => {
    const ask = make({
      authorize: () => {
        throw new Error("asked")
      },
    })
    assert.isUndefined(await ask("/v1/events"))
  })
})

describe("without a build", () => {
  it("answers 503 at its pages, and looks for a build again at the next request", async () => {
    const later = join(parent, "later")
    const ask = make({ directory: later })
    assert.strictEqual((await answered(ask("/"))).status, 503)
    assert.isUndefined(await ask("/v1/events"))
    await mkdir(later)
    await writeFile(join(later, "index.html"), PAGE)
    assert.strictEqual((await answered(ask("/"))).status, 200)
  })
})

describe("in node:http", () => {
  const serve = async (use: (port: number) => Promise<void>, hasNext: boolean) => {
    const dashboard = Dashboard.nodeHandler({ directory, basePath: "/d" })
    const server = createServer((request, response) =>
      dashboard(request, response, hasNext ? () => response.writeHead(418).end() : undefined),
    )
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    await use((server.address() as AddressInfo).port)
    await new Promise((resolve) => server.close(resolve))
  }

  it("answers its own paths, and passes on the rest", async () => {
    await serve(async (port) => {
      const page = await fetch(`http://127.0.0.1:${port}/d/events`)
      assert.strictEqual(page.status, 200)
      assert.include(await page.text(), "/d/assets/")
      assert.strictEqual((await fetch(`http://127.0.0.1:${port}/v1`)).status, 418)
    }, true)
    await serve(async (port) => {
      assert.strictEqual((await fetch(`http://127.0.0.1:${port}/v1`)).status, 404)
    }, false)
  })

  /** The answer to a target that is sent unchanged. */
  const askFor = (port: number, target: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1")
      let text = ""
      socket.on("data", (chunk) => (text += String(chunk)))
      socket.on("end", () => resolve(text))
      socket.on("error", reject)
      socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    })

  it("accepts request targets that are not paths", async () => {
    await serve(async (port) => {
      for (const target of [
        "*",
        "//evil.example/d",
        "http://evil.example/d/../../secret.txt",
        "/d/\\..\\secret.txt",
      ]) {
        const answer = await askFor(port, target)
        assert.match(answer, /^HTTP\/1\.1 (404|200|400) /, target)
        assert.notInclude(answer, "\r\nsecret", target)
      }
    }, false)
  })

  it("refuses paths that a guard of the host might not recognise", async () => {
    await serve(async (port) => {
      for (const target of [
        "//d/events",
        "///d/events",
        "/x/../d/events",
        "/x/%2e%2e/d/events",
        "/x\\../d/events",
        "/x\\..\\d\\events",
        "/d\\events",
        "/./d/events",
        "/%64/events",
        "/d/%65vents",
        "/d//events",
        "/d/./events",
        "/d/x/../events",
        "/d/events/%2e%2e/deliveries",
        "/d%2fevents",
        "http:///d/events",
        "http://localhost/d/events",
        "*/d/events",
      ])
        assert.match(await askFor(port, target), /^HTTP\/1\.1 (404|400) /, target)
      assert.match(await askFor(port, "/d/events?x=/../%2e%2e"), /^HTTP\/1\.1 200 /)
    }, false)
  })
})
