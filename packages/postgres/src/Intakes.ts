/**
 * The dispatchers of this process that take deliveries while they are published.
 */
import type { Intake, Places, Tenant } from "@billwright/core"
import { Context, Effect, Layer, type Scope } from "effect"

export class Intakes extends Context.Service<
  Intakes,
  {
    /** Offers publications to an intake until the scope closes. */
    readonly add: (intake: Intake) => Effect.Effect<void, never, Scope.Scope>
    /** Places of the first intake that offers some. */
    readonly offer: (tenant: Tenant.Tenant, events: number) => Effect.Effect<Places | undefined>
  }
>()("@billwright/postgres/Intakes") {
  static readonly layer = Layer.sync(Intakes, () => {
    const intakes = new Set<Intake>()
    return Intakes.of({
      add: (intake) =>
        Effect.asVoid(
          Effect.acquireRelease(
            Effect.sync(() => intakes.add(intake)),
            () => Effect.sync(() => intakes.delete(intake)),
          ),
        ),
      offer: Effect.fnUntraced(function* (tenant, events) {
        for (const intake of intakes) {
          const places = yield* intake.offer(tenant, events)
          if (places !== undefined) return places
        }
        return undefined
      }),
    })
  })
}
