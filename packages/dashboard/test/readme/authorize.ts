import { Dashboard } from "@billwright/dashboard"

const isOperator = async (cookie: string | null): Promise<boolean> => cookie === "session=operator"

export const dashboard = Dashboard.handler({
  basePath: "/billing/dashboard",
  apiUrl: "/billing/v1",
  signIn: "host",
  authorize: async (request) =>
    (await isOperator(request.headers.get("cookie"))) ||
    new Response(null, { status: 303, headers: { location: "/login" } }),
})
