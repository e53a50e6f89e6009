/**
 * Who is at work here, and the client that speaks for them.
 */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react"
import { ApiError } from "../api/ApiError.ts"
import * as Client from "../api/Client.ts"
import { mount } from "../Mount.ts"
import * as Key from "./Key.ts"
import { SignedOut } from "./SignedOut.tsx"
import { SignIn } from "./SignIn.tsx"

interface Session {
  readonly client: Client.Client
  /** `undefined` where the host authenticates: then the API's answers tell. */
  readonly mode: Key.Mode | undefined
  /** `undefined` where the host authenticates. */
  readonly signOut: (() => void) | undefined
}

const SessionContext = createContext<Session | undefined>(undefined)

/** The session. There is one everywhere but on the sign-in page. */
export const useSession = (): Session => {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error("no session")
  return session
}

const MAX_RETRIES = 2
/** Answers as fresh as this are not asked for again when another part of the page needs them, in milliseconds. */
const FRESH_MILLIS = 2_000

const isWorthRetrying = (failures: number, error: unknown): boolean =>
  failures < MAX_RETRIES && error instanceof ApiError && (error.status === 0 || error.status >= 500)

const newQueryClient = (): QueryClient =>
  new QueryClient({ defaultOptions: { queries: { retry: isWorthRetrying, staleTime: FRESH_MILLIS } } })

/** What is known ends with the session that it was learned in: each has a cache of its own. */
const SignedIn = (props: {
  readonly apiKey: string | undefined
  readonly onSignOut: (notice?: string) => void
  readonly children: ReactNode
}) => {
  const { apiKey, onSignOut } = props
  const [queries] = useState(newQueryClient)
  const session = useMemo<Session>(() => {
    const hasKey = apiKey !== undefined
    return {
      client: Client.make({
        apiUrl: mount.apiUrl,
        key: apiKey,
        onUnauthorized: () =>
          onSignOut(
            hasKey
              ? "The API no longer takes this key. It may have been revoked."
              : "You are signed out. What was shown here is gone from this tab.",
          ),
      }),
      mode: hasKey ? Key.modeOf(apiKey) : undefined,
      signOut: hasKey ? () => onSignOut() : undefined,
    }
  }, [apiKey, onSignOut])
  return (
    <SessionContext value={session}>
      <QueryClientProvider client={queries}>{props.children}</QueryClientProvider>
    </SessionContext>
  )
}

/** Where the host knows the operator: shows everything until it no longer does. */
const HostGate = ({ children }: { readonly children: ReactNode }) => {
  const [notice, setNotice] = useState<string>()
  const signOut = useCallback((reason?: string) => setNotice(reason ?? ""), [])
  if (notice !== undefined) return <SignedOut notice={notice} />
  return (
    <SignedIn apiKey={undefined} onSignOut={signOut}>
      {children}
    </SignedIn>
  )
}

/** Shows the sign-in until there is a key, then what it is for. */
const KeyGate = ({ children }: { readonly children: ReactNode }) => {
  const [key, setKey] = useState(Key.stored)
  const [notice, setNotice] = useState<string>()
  const signOut = useCallback((reason?: string) => {
    Key.forget()
    setKey(undefined)
    setNotice(reason)
  }, [])
  const signIn = useCallback((accepted: string) => {
    Key.store(accepted)
    setNotice(undefined)
    setKey(accepted)
  }, [])
  if (key === undefined) return <SignIn notice={notice} onSignIn={signIn} />
  return (
    <SignedIn apiKey={key} onSignOut={signOut}>
      {children}
    </SignedIn>
  )
}

export const SessionGate = mount.signIn === "key" ? KeyGate : HostGate
