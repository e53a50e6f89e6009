import { type SubmitEvent, useEffect, useState } from "react"
import { ApiError } from "../api/ApiError.ts"
import * as Client from "../api/Client.ts"
import { mount } from "../Mount.ts"
import { Command } from "../ui/Command.tsx"
import { ErrorNotice } from "../ui/ErrorNotice.tsx"
import { Icon } from "../ui/Icon.tsx"
import * as Key from "./Key.ts"

const NOT_A_KEY = new ApiError(
  0,
  "no_key",
  "This is not an API key: keys start with sk_test_ or sk_live_ and have 46 characters.",
  undefined,
)

/** Checks a key by a small request. A key without the permission for it is still valid. */
const check = async (key: string): Promise<void> => {
  const client = Client.make({ apiUrl: mount.apiUrl, key, onUnauthorized: () => {} })
  try {
    await client.call("get", "/v1/customers", { query: { limit: 1 } })
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 403)) throw error
  }
}

const useSignIn = (onSignIn: (key: string) => void) => {
  const [error, setError] = useState<unknown>()
  const [isChecking, setIsChecking] = useState(false)
  const signIn = async (key: string): Promise<void> => {
    if (Key.modeOf(key) === undefined) return setError(NOT_A_KEY)
    setIsChecking(true)
    setError(undefined)
    try {
      await check(key)
      onSignIn(key)
    } catch (problem) {
      setError(problem)
    } finally {
      setIsChecking(false)
    }
  }
  return { error, isChecking, signIn }
}

export const SignIn = ({
  notice,
  onSignIn,
}: {
  readonly notice: string | undefined
  readonly onSignIn: (key: string) => void
}) => {
  const [key, setKey] = useState("")
  const { error, isChecking, signIn } = useSignIn(onSignIn)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void signIn(key.trim())
  }
  useEffect(() => void (document.title = "Sign in · Billwright"), [])
  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={submit}>
        <p className="brand">
          <Icon name="brand" /> Billwright
        </p>
        <h1>Sign in</h1>
        {notice !== undefined && error === undefined && (
          <p className="notice" role="status">
            {notice}
          </p>
        )}
        <label className="field">
          <span className="field-label">API key</span>
          <input
            aria-describedby="key-hint"
            autoCapitalize="off"
            autoComplete="off"
            autoFocus
            className="mono"
            onChange={(event) => setKey(event.target.value)}
            placeholder="sk_test_…"
            required
            spellCheck={false}
            type="password"
            value={key}
          />
          <span className="field-hint" id="key-hint">
            Its mode decides whether you see test or live data. It stays in this tab and is gone when you
            close it.
          </span>
        </label>
        {error !== undefined && <ErrorNotice error={error} />}
        <button className="button primary wide" disabled={isChecking} type="submit">
          {isChecking ? "Checking…" : "Sign in"}
        </button>
        <details className="sign-in-help">
          <summary>Where do I get a key?</summary>
          <p>
            <code>npm start</code> printed one for each mode when it first ran. This issues another:
          </p>
          <Command text="npx @billwright/cli keys issue --mode test --name dashboard" />
        </details>
      </form>
    </main>
  )
}
