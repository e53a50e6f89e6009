import { useEffect } from "react"
import { Icon } from "../ui/Icon.tsx"

/** Shown when the host no longer accepts the operator. Reloading the page leads to the host's login. */
export const SignedOut = ({ notice }: { readonly notice: string }) => {
  useEffect(() => void (document.title = "Signed out · Billwright"), [])
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <p className="brand">
          <Icon name="brand" /> Billwright
        </p>
        <h1>Signed out</h1>
        <p className="notice" role="status">
          {notice}
        </p>
        <button className="button primary wide" onClick={() => location.reload()} type="button">
          Sign in again
        </button>
      </div>
    </main>
  )
}
