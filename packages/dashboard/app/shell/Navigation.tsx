import { useEffect, useRef } from "react"
import { Link, useLocation } from "wouter"
import { useMode } from "../session/Mode.ts"
import { Icon, type IconName } from "../ui/Icon.tsx"

interface Entry {
  readonly href: string
  readonly label: string
  readonly icon: IconName
  /** The key after `g`. */
  readonly key: string
  /** Whether live mode doesn't have it. */
  readonly isOfTestMode?: boolean
}

export const ENTRIES: ReadonlyArray<Entry> = [
  { href: "/", label: "Overview", icon: "overview", key: "o" },
  { href: "/money", label: "Money", icon: "money", key: "m" },
  { href: "/customers", label: "Customers", icon: "customers", key: "c" },
  { href: "/subscriptions", label: "Subscriptions", icon: "subscriptions", key: "s" },
  { href: "/invoices", label: "Invoices", icon: "invoices", key: "i" },
  { href: "/payments", label: "Payments", icon: "payments", key: "p" },
  { href: "/plans", label: "Plans", icon: "plans", key: "l" },
  { href: "/usage", label: "Usage", icon: "usage", key: "u" },
  { href: "/events", label: "Events", icon: "events", key: "e" },
  { href: "/deliveries", label: "Deliveries", icon: "deliveries", key: "d" },
  { href: "/endpoints", label: "Endpoints", icon: "endpoints", key: "w" },
  { href: "/audit-log", label: "Audit log", icon: "audit", key: "a" },
  { href: "/test-clocks", label: "Test clocks", icon: "clocks", key: "t", isOfTestMode: true },
]

const isCurrent = (href: string, location: string): boolean =>
  href === "/" ? location === "/" : location === href || location.startsWith(`${href}/`)

export const Navigation = () => {
  const [location] = useLocation()
  const list = useRef<HTMLElement>(null)
  const mode = useMode()
  // On a narrow screen the entries scroll sideways.
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [location])
  return (
    <nav aria-label="Pages" className="navigation" ref={list}>
      {ENTRIES.filter(({ isOfTestMode = false }) => !isOfTestMode || mode === "test").map(
        ({ href, icon, label }) => (
          <Link aria-current={isCurrent(href, location) ? "page" : undefined} href={href} key={href}>
            <Icon name={icon} />
            <span>{label}</span>
          </Link>
        ),
      )}
    </nav>
  )
}
