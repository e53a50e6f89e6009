import type { TestClock } from "../api/Types.ts"
import { StateBadge } from "../ui/StateBadge.tsx"

export const ClockBadge = ({ status }: Pick<TestClock, "status">) =>
  status === "ready" ? <StateBadge tone="good" word="Ready" /> : <StateBadge tone="wait" word="Advancing" />

/** How people call a clock. */
export const clockName = ({ name }: Pick<TestClock, "name">): string => name ?? "Test clock"
