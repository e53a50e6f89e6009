/** The first segments of the app's own addresses: those are answered with the page. The overview is at none. */
export const SECTIONS = ["events", "deliveries", "endpoints", "usage", "customers"] as const
