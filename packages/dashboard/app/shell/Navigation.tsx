import { Link, useLocation } from "wouter"
import { Icon, type IconName } from "../ui/Icon.tsx"

interface Entry {
  readonly href: string
  readonly label: string
  readonly icon: IconName
  /** The key after `g`. */
  readonly key: string
}

export const ENTRIES: ReadonlyArray<Entry> = [
  { href: "/", label: "Overview", icon: "overview", key: "o" },
  { href: "/events", label: "Events", icon: "events", key: "e" },
  { href: "/deliveries", label: "Deliveries", icon: "deliveries", key: "d" },
  { href: "/endpoints", label: "Endpoints", icon: "endpoints", key: "w" },
  { href: "/usage", label: "Usage", icon: "usage", key: "u" },
  { href: "/customers", label: "Customers", icon: "customers", key: "c" },
]

const isCurrent = (href: string, location: string): boolean =>
  href === "/" ? location === "/" : location === href || location.startsWith(`${href}/`)

export const Navigation = () => {
  const [location] = useLocation()
  return (
    <nav aria-label="Pages" className="navigation">
      {ENTRIES.map(({ href, icon, label }) => (
        <Link aria-current={isCurrent(href, location) ? "page" : undefined} href={href} key={href}>
          <Icon name={icon} />
          <span>{label}</span>
        </Link>
      ))}
    </nav>
  )
}
