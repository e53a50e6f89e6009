/**
 * A storage of Billwright on SQLite, in one file. It is a guide to writing your own adapter.
 *
 * An adapter is a layer of ten services, the ports of `@billwright/core`. The doc comments of each
 * port state its guarantees, and the contract suite of `@billwright/testing` tests every sentence of them (`test/`). An
 * adapter has no rules of billing. It stores what it is given, and calls `core` for rules.
 *
 * The parts, in the order in which you would write them:
 *
 * 1. the tables, and how a value becomes a row;
 * 2. what commits together: `Transactor`;
 * 3. lists and cursors, which all ports share;
 * 4. the ports: resources, events, deliveries, endpoints, usage, API keys, plans, answers to repeated requests;
 * 5. the layer.
 *
 * It is simple rather than fast: it has one connection and one transaction at a time, and totals read all their records.
 * Comments say what that costs. Only one process at a time may open the database.
 */
import { randomUUID } from "node:crypto"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import {
  type ApiKey,
  ApiKeyStore,
  type AppendOutcome,
  type Billing,
  type Collection,
  type CollectionOf,
  Collections,
  CurrentTenant,
  Customer,
  Delivery,
  DeliveryStore,
  Endpoint,
  EndpointStore,
  Event,
  EventStore,
  Id,
  IdempotencyStore,
  keyIdOf,
  MAX_CANCEL,
  MAX_REDACTED,
  Meter,
  type OnceOutcome,
  Page,
  type Plan,
  PlanStore,
  type PublishOutcome,
  Redaction,
  Resource,
  Resources,
  RetentionStore,
  Rollup,
  RollupValues,
  type Settlement,
  Signal,
  StorageError,
  StoredDelivery,
  Tenant,
  Threshold,
  ThresholdEvent,
  type TotalsQuery,
  Transactor,
  UsagePeriod,
  UsageRecord,
  UsageStore,
  WebhookStatistics,
} from "@billwright/core"
import { defineStore, type Store } from "billwright/adapter"
import { Context, DateTime, Effect, Exit, type Fiber, Layer, Option, Semaphore } from "effect"

// ─── 1. The tables ───────────────────────────────────────────────────────────────────────────────────────────────
//
// A value is stored as one JSON document. SQLite itself derives the columns for searching from it, so they always agree
// with the document. `tenant` comes first in every key, so that no row is found without it.

/** A table of documents. Its columns are paths in the documents. A row without a document keeps an id known. */
const documentTable = (name: string, columns: Readonly<Record<string, string>>, more = ""): string => {
  const derived = Object.entries(columns).map(([column, path]) => `"${column}" AS (body ->> '$.${path}'), `)
  return `CREATE TABLE IF NOT EXISTS "${name}" (
    tenant TEXT NOT NULL, id TEXT NOT NULL, body TEXT, ${derived.join("")} ${more} PRIMARY KEY (tenant, id));`
}

/** All resources, also those of later releases of `core`: their tables follow from their definitions. */
const DEFINITIONS: ReadonlyArray<Resource.Definition> = Object.values(Resources.all).map(
  ({ definition }) => definition,
)

const resourceTable = ({ indexed, type, unique = [] }: Resource.Definition): string => `
  ${documentTable(type, Object.fromEntries([...indexed, ...unique].map((field) => [field, field])))}
  CREATE INDEX IF NOT EXISTS "${type}_by_fields" ON "${type}" (${["tenant", ...indexed, "id"].map((name) => `"${name}"`).join(", ")});
`

const TABLES = `
  ${DEFINITIONS.map(resourceTable).join("")}
  ${documentTable("usage_records", {
    customerId: "customerId",
    productId: "productId",
    unit: "unit",
    quantity: "quantity",
    at: "timestamp[1]",
    voidedAt: "voidedAt[1]",
    idempotencyKey: "idempotencyKey",
  })}
  CREATE UNIQUE INDEX IF NOT EXISTS usage_by_key ON usage_records (tenant, customerId, idempotencyKey);
  CREATE INDEX IF NOT EXISTS usage_by_time ON usage_records (tenant, customerId, at);

  CREATE TABLE IF NOT EXISTS firings (
    tenant TEXT NOT NULL,
    threshold_id TEXT NOT NULL,
    period_key TEXT NOT NULL,
    PRIMARY KEY (tenant, threshold_id, period_key),
    FOREIGN KEY (tenant, threshold_id) REFERENCES "${Threshold.thresholds.type}" ON DELETE CASCADE
  ) STRICT;

  ${documentTable(
    "events",
    { type: "type", customerId: "customerId", at: "timestamp[1]", idempotencyKey: "idempotencyKey" },
    "position INTEGER NOT NULL UNIQUE, /* the order of commits */",
  )}
  CREATE UNIQUE INDEX IF NOT EXISTS events_by_key ON events (tenant, idempotencyKey);
  CREATE INDEX IF NOT EXISTS events_by_position ON events (tenant, position);

  ${documentTable("endpoints", { status: "endpoint.status" })}

  ${documentTable(
    "deliveries",
    {
      eventId: "delivery.eventId",
      endpointId: "delivery.endpointId",
      status: "delivery.status",
      dueAt: "delivery.nextAttemptAt[1]", // while it is pending
      finishedAt: "delivery.finishedAt[1]",
    },
    `FOREIGN KEY (tenant, eventId) REFERENCES events ON DELETE CASCADE,
     FOREIGN KEY (tenant, endpointId) REFERENCES endpoints,`,
  )}
  CREATE INDEX IF NOT EXISTS deliveries_by_event ON deliveries (tenant, eventId, id);
  CREATE INDEX IF NOT EXISTS deliveries_by_endpoint ON deliveries (tenant, endpointId, id);
  CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (dueAt) WHERE dueAt IS NOT NULL;

  CREATE TABLE IF NOT EXISTS delivery_counts (
    tenant TEXT NOT NULL,
    endpointId TEXT NOT NULL,
    hour INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    failedAttempts INTEGER NOT NULL,
    PRIMARY KEY (tenant, endpointId, hour)
  ) STRICT;

  ${documentTable("plans", { key: "key" })}
  CREATE UNIQUE INDEX IF NOT EXISTS plans_by_key ON plans (tenant, key);

  ${documentTable("plan_versions", { key: "planKey", version: "version" })}
  CREATE UNIQUE INDEX IF NOT EXISTS plan_versions_by_number ON plan_versions (tenant, key, version);
  CREATE TRIGGER IF NOT EXISTS plan_versions_stay BEFORE UPDATE ON plan_versions
    BEGIN SELECT RAISE(ABORT, 'a version of a plan never changes'); END;
  CREATE TRIGGER IF NOT EXISTS plan_versions_are_kept BEFORE DELETE ON plan_versions
    BEGIN SELECT RAISE(ABORT, 'a version of a plan is never removed'); END;

  ${documentTable("api_keys", {}, "digest TEXT NOT NULL UNIQUE, isRolled INTEGER NOT NULL DEFAULT 0, UNIQUE (id),")}

  CREATE TABLE IF NOT EXISTS answers (
    tenant TEXT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    subject TEXT,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, method, path, key)
  ) STRICT;
`

/** JSON has no instants and no large integers. They become `["@instant", millis]` and `["@bigint", digits]`. */
const toText = (value: object): string =>
  // A `function`, because `text` is already a string for a date. `this` still has the date.
  JSON.stringify(value, function (this: Record<string, unknown>, key, text: unknown) {
    const field = this[key]
    if (DateTime.isDateTime(field)) return ["@instant", field.epochMilliseconds]
    return typeof field === "bigint" ? ["@bigint", String(field)] : text
  })

const fromText = <A>(text: string): A =>
  JSON.parse(text, (_key, value: unknown) => {
    if (!Array.isArray(value)) return value
    if (value[0] === "@instant") return DateTime.makeUnsafe(value[1] as number)
    return value[0] === "@bigint" ? BigInt(value[1] as string) : value
  }) as A

/** Parses a key that `Tenant.tenantKey` made. */
const tenantOf = (key: string): Tenant.Tenant => {
  const [mode, accountId] = key.split(":") as [Tenant.Mode, Tenant.AccountId]
  return { mode, accountId }
}

// ─── 2. What commits together ────────────────────────────────────────────────────────────────────────────────────
//
// A connection has one transaction at a time, so transactions run one after the other. This also isolates them. The fiber
// of a transaction has it in its context, and forked fibers inherit it. A transaction inside another one is a savepoint,
// and savepoints also run one after the other.

/** A transaction, a savepoint in one, or (at depth 0) the time outside of all transactions. */
class Level {
  readonly depth: number
  /** This transaction, or the transaction of this savepoint. */
  readonly transaction: Level | undefined
  /** Taken by the open savepoint or transaction inside this one. Others wait for it. */
  readonly turn = Semaphore.makeUnsafe(1)
  nested: Level | undefined = undefined
  hasEnded = false

  constructor(outer?: Level) {
    this.depth = outer === undefined ? 0 : outer.depth + 1
    this.transaction = outer && (outer.transaction ?? this)
  }

  get begin(): string {
    return this.depth === 1 ? "BEGIN IMMEDIATE" : `SAVEPOINT level_${this.depth}`
  }

  get commit(): string {
    return this.depth === 1 ? "COMMIT" : `RELEASE level_${this.depth}`
  }

  get rollback(): string {
    return this.depth === 1 ? "ROLLBACK" : `ROLLBACK TO level_${this.depth}; RELEASE level_${this.depth}`
  }
}

const SQLITE_BUSY = 5

/** The only error of a storage. It names the operation, and says whether a retry may help. */
const failed = (operation: string) => (cause: unknown) =>
  new StorageError({
    operation,
    retryable: (cause as { readonly errcode?: number }).errcode === SQLITE_BUSY,
    cause,
  })

type Values = Readonly<Record<string, SQLInputValue | undefined>>

/** A connection, its statements and its transactions. */
class Connection {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  readonly #outside = new Level()
  /** Each connection has its own key, because a transaction of one database is not one of another. */
  readonly #level = Context.Reference<Level>(`sqlite/${randomUUID()}`, { defaultValue: () => this.#outside })
  readonly #endings = new Set<() => void>()

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { timeout: 1_000 })
    this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    this.#database.exec(TABLES)
    // The domain defines the searched text, so SQLite calls a function of it.
    this.#database.function("search_text", (type, body) => {
      const definition = DEFINITIONS.find((each) => each.type === type)
      return (definition && Resource.searchText(definition, fromText<object>(String(body)))) ?? null
    })
  }

  close(): void {
    this.#database.close()
  }

  /** The rows of a query. `:name` stands for the value of that name; `undefined` is NULL. */
  all<Row>(sql: string, values: Values = {}): Array<Row> {
    return this.#prepare(sql).all(withNulls(values)) as Array<Row>
  }

  /** The first row of a query. */
  first<Row>(sql: string, values: Values = {}): Row | undefined {
    return this.#prepare(sql).get(withNulls(values)) as Row | undefined
  }

  /** Runs a statement. Returns the number of changed rows. */
  run(sql: string, values: Values = {}): number {
    return Number(this.#prepare(sql).run(withNulls(values)).changes)
  }

  /**
   * A verb of a port: statements that run together. Unless it is part of the open transaction, it waits for the end of
   * that transaction, so that it doesn't read data that may be rolled back.
   */
  verb<A>(operation: string, run: () => A): Effect.Effect<A, StorageError> {
    return this.atomically(Effect.try({ try: run, catch: failed(operation) }))
  }

  /** A verb that acts for the current tenant. */
  tenantVerb<A>(
    operation: string,
    run: (tenant: string) => A,
  ): Effect.Effect<A, StorageError, CurrentTenant> {
    return Effect.flatMap(CurrentTenant, (tenant) =>
      this.verb(operation, () => run(Tenant.tenantKey(tenant))),
    )
  }

  /** Runs an effect as a transaction, or as a savepoint of the one that the fiber is in. */
  atomically<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StorageError, R> {
    return Effect.withFiber((fiber) => {
      const outer = fiber.getRef(this.#level)
      return outer.turn.withPermit(Effect.suspend(() => this.#nest(outer, effect)))
    })
  }

  /** The transaction that a fiber is in. */
  transactionOf(fiber: Fiber.Fiber<unknown, unknown>): Level | undefined {
    return fiber.getRef(this.#level).transaction
  }

  /** Calls a function when the open transaction has ended, by a commit or a rollback. */
  whenEnded(call: () => void): void {
    this.#endings.add(call)
  }

  #nest<A, E, R>(outer: Level, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StorageError, R> {
    const level = new Level(outer)
    const isOver = Effect.die(
      new Error("this transaction has ended: join the fibers that you fork in one inside of it"),
    )
    // Only the effect itself can be interrupted, so that a begun transaction is always ended.
    return Effect.uninterruptibleMask((restore) =>
      Effect.gen({ self: this }, function* () {
        if (outer.hasEnded) return yield* isOver
        yield* this.#execute(level.begin)
        outer.nested = level
        const exit = yield* Effect.exit(restore(Effect.provideService(effect, this.#level, level)))
        // The outer transaction ended without waiting for this one, and rolled it back.
        if (level.hasEnded) return yield* isOver
        yield* this.#end(outer, level, Exit.isSuccess(exit))
        return yield* exit
      }),
    )
  }

  #end(outer: Level, level: Level, isGood: boolean): Effect.Effect<void, StorageError> {
    // An open savepoint of a fiber that was not awaited has not succeeded, so it is rolled back.
    const unfinished = level.nested === undefined ? "" : `${level.nested.rollback};`
    for (let open: Level | undefined = level; open !== undefined; open = open.nested) open.hasEnded = true
    outer.nested = undefined
    const rollback = this.#execute(level.rollback)
    const end = isGood
      ? Effect.tapError(this.#execute(`${unfinished}${level.commit}`), () => Effect.ignore(rollback))
      : rollback
    return Effect.ensuring(
      end,
      Effect.sync(() => {
        if (level.depth > 1) return
        const endings = [...this.#endings]
        this.#endings.clear()
        for (const call of endings) call()
      }),
    )
  }

  #execute(sql: string): Effect.Effect<void, StorageError> {
    return Effect.try({ try: () => this.#database.exec(sql), catch: failed("Transactor.atomically") })
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

const withNulls = (values: Values): Record<string, SQLInputValue> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? null]))

const transactor = (db: Connection): Transactor["Service"] =>
  Transactor.of({
    atomically: (effect) => db.atomically(effect),
    inTransaction: Effect.withFiber((fiber) => Effect.succeed(db.transactionOf(fiber) !== undefined)),
  })

// ─── 3. Documents and their lists ────────────────────────────────────────────────────────────────────────────────
//
// Ids sort by time, so lists are ordered by id. A cursor is an id. Its row may have lost its body since, so paging also
// works after an erasure.

/** The documents of one table. Verbs call these methods, so the statements already run in a transaction. */
class Documents<A extends object> {
  readonly #db: Connection
  readonly #table: string

  constructor(db: Connection, table: string) {
    this.#db = db
    this.#table = `"${table}"`
  }

  find(tenant: string, id: string): A | undefined {
    const sql = `SELECT body FROM ${this.#table} WHERE tenant = :tenant AND id = :id`
    const row = this.#db.first<{ body: string | null }>(sql, { tenant, id })
    return row === undefined || row.body === null ? undefined : fromText(row.body)
  }

  /** Whether the id exists, even without its body. */
  has(tenant: string, id: string): boolean {
    const sql = `SELECT 1 FROM ${this.#table} WHERE tenant = :tenant AND id = :id`
    return this.#db.first(sql, { tenant, id }) !== undefined
  }

  /** Stores a new document. Fails if the id exists. */
  insert(tenant: string, id: string, document: A): void {
    const sql = `INSERT INTO ${this.#table} (tenant, id, body) VALUES (:tenant, :id, :body)`
    this.#db.run(sql, { tenant, id, body: toText(document) })
  }

  /** Replaces a document. `undefined` removes its body for good. Returns whether the id exists. */
  replace(tenant: string, id: string, document: A | undefined): boolean {
    const sql = `UPDATE ${this.#table} SET body = :body WHERE tenant = :tenant AND id = :id`
    return this.#db.run(sql, { tenant, id, body: document && toText(document) }) > 0
  }

  /** Removes a document with its id. */
  delete(tenant: string, id: string): boolean {
    return this.#db.run(`DELETE FROM ${this.#table} WHERE tenant = :tenant AND id = :id`, { tenant, id }) > 0
  }

  /** The documents that meet a condition, oldest first. */
  where(tenant: string, condition: string, values: Values = {}): Array<A> {
    const sql = `SELECT body FROM ${this.#table} WHERE tenant = :tenant AND body IS NOT NULL AND ${condition} ORDER BY id`
    return this.#db.all<{ body: string }>(sql, { tenant, ...values }).map(({ body }) => fromText(body))
  }

  /** The number of documents that meet a condition. */
  count(tenant: string, condition: string, values: Values = {}): number {
    const sql = `SELECT count(*) AS count FROM ${this.#table} WHERE tenant = :tenant AND body IS NOT NULL AND ${condition}`
    return this.#db.first<{ count: number }>(sql, { tenant, ...values })?.count ?? 0
  }

  /** The verb that finds a document. */
  get(operation: string, id: string): Effect.Effect<Option.Option<A>, StorageError, CurrentTenant> {
    return this.#db.tenantVerb(operation, (tenant) => Option.fromUndefinedOr(this.find(tenant, id)))
  }

  /** The verb that lists a page of documents with these column values, newest first. `undefined` allows any value, `null` is the lack of one. */
  list(
    operation: string,
    { cursor, limit }: Page.PageQuery,
    columns: Values,
    condition = "TRUE",
    values: Values = {},
    /** How many of these documents fit into a page. */
    fit: (documents: ReadonlyArray<A>) => number = (documents) => documents.length,
  ): Effect.Effect<Page.Page<A>, Page.CursorNotFound | StorageError, CurrentTenant> {
    const isUpwards = cursor?.direction === "newer"
    const asked = Object.keys(columns).filter((name) => columns[name] !== undefined)
    const sql = `
      SELECT body FROM ${this.#table}
      WHERE tenant = :tenant AND body IS NOT NULL AND ${condition}
        ${asked.map((name) => `AND "${name}" IS :${name}`).join(" ")}
        AND (:cursor IS NULL OR id ${isUpwards ? ">" : "<"} :cursor)
      ORDER BY id ${isUpwards ? "ASC" : "DESC"} LIMIT :limit`
    const equal = Object.fromEntries(asked.map((name) => [name, columns[name]]))
    const verb = this.#db.tenantVerb(operation, (tenant) => {
      if (cursor !== undefined && !this.has(tenant, cursor.id))
        return new Page.CursorNotFound({ id: cursor.id })
      // Reads one more than the limit, to know whether there are more.
      const all = { tenant, cursor: cursor?.id, limit: limit + 1, ...equal, ...values }
      const rows = this.#db.all<{ body: string }>(sql, all)
      const wanted = rows.slice(0, limit).map(({ body }) => fromText<A>(body))
      const data = wanted.slice(0, fit(wanted))
      return { data: isUpwards ? data.reverse() : data, hasMore: rows.length > data.length }
    })
    return Effect.flatMap(verb, (page) =>
      page instanceof Page.CursorNotFound ? Effect.fail(page) : Effect.succeed(page),
    )
  }

  /**
   * Replaces a document by the result of `change`, in a transaction. Nothing else changes between the read and the write,
   * because transactions are serial.
   */
  modify<E, R>(
    operation: string,
    id: string,
    change: (document: A) => Effect.Effect<A, E, R>,
  ): Effect.Effect<Option.Option<A>, E | StorageError, CurrentTenant | R> {
    const find = this.#db.tenantVerb(operation, (tenant) => this.find(tenant, id))
    const changed = Effect.gen({ self: this }, function* () {
      const document = yield* find
      if (document === undefined) return Option.none<A>()
      const next = yield* change(document)
      yield* this.#db.tenantVerb(operation, (tenant) => this.replace(tenant, id, next))
      return Option.some(next)
    })
    return this.#db.atomically(changed)
  }
}

/** Converts the documents of a page. */
const mapPage =
  <A, B>(each: (document: A) => B) =>
  ({ data, hasMore }: Page.Page<A>): Page.Page<B> => ({ data: data.map(each), hasMore })

/** A plan or a version. Its terms are stored as JSON text, so that texts in them are not read as instants. */
type Stored<A extends { readonly terms: object }> = Omit<A, "terms"> & { readonly terms: string }

/** All tables of documents, for ports that also read tables of other ports. */
const documentsOf = (db: Connection) => ({
  customers: new Documents<Customer.Customer>(db, Customer.customers.type),
  records: new Documents<UsageRecord.UsageRecord>(db, "usage_records"),
  meters: new Documents<Meter.Meter>(db, Meter.meters.type),
  thresholds: new Documents<Threshold.Threshold>(db, Threshold.thresholds.type),
  events: new Documents<Event.Event>(db, "events"),
  endpoints: new Documents<Endpoint.StoredEndpoint>(db, "endpoints"),
  deliveries: new Documents<StoredDelivery.StoredDelivery>(db, "deliveries"),
  keys: new Documents<ApiKey.ApiKey>(db, "api_keys"),
  plans: new Documents<Stored<Plan.Plan>>(db, "plans"),
  planVersions: new Documents<Stored<Plan.PlanVersion>>(db, "plan_versions"),
})
type Tables = ReturnType<typeof documentsOf>

// ─── 4. The ports ────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The outbox stores an event and its deliveries in one step. Usage also uses it, because a record that fires a threshold
 * publishes an event.
 */
class Outbox {
  readonly #db: Connection
  readonly #tables: Tables
  readonly #signal = Signal.make()
  /** Counted here, because SQLite would use a number again after a failed transaction. */
  #lastPosition: number

  constructor(db: Connection, tables: Tables) {
    this.#db = db
    this.#tables = tables
    this.#lastPosition =
      db.first<{ last: number }>("SELECT coalesce(max(position), 0) AS last FROM events")?.last ?? 0
  }

  get committed() {
    return this.#signal.subscribe
  }

  /**
   * Stores an event that can't be refused, and a pending delivery for each endpoint that subscribes to its type, or only
   * for its own endpoint.
   */
  announce(tenant: string, event: Event.Event): void {
    this.#db.run("INSERT INTO events (tenant, id, body, position) VALUES (:tenant, :id, :body, :position)", {
      tenant,
      id: event.id,
      body: toText(event),
      position: ++this.#lastPosition,
    })
    const receivers =
      event.endpointId === null
        ? this.#tables.endpoints
            .where(tenant, "status = 'enabled'")
            .filter(({ endpoint }) => Endpoint.matchesFilter(endpoint.eventTypes, event.type))
            .map(({ endpoint }) => endpoint.id)
        : [event.endpointId]
    this.deliver(tenant, event, receivers, Delivery.firstDeliveryId(event.id), event.timestamp)
  }

  /** Creates deliveries of an event that are due now. */
  deliver(
    tenant: string,
    event: Pick<Event.Event, "id" | "type">,
    receivers: ReadonlyArray<Endpoint.EndpointId>,
    first: Delivery.DeliveryId,
    now: DateTime.Utc,
  ): ReadonlyArray<Delivery.Delivery> {
    // Called after the end of the transaction, when the deliveries are visible.
    this.#db.whenEnded(this.#signal.notify)
    return receivers.map((endpointId, index) => {
      const stored = StoredDelivery.pending(Delivery.deliveryId(first, index), event, endpointId, now)
      this.#tables.deliveries.insert(tenant, stored.delivery.id, stored)
      return stored.delivery
    })
  }
}

const eventStore = (db: Connection, tables: Tables, outbox: Outbox): EventStore["Service"] => {
  const { customers, deliveries, endpoints, events } = tables

  /** A duplicate and a refusal are values, not errors. */
  const publish = (tenant: string, event: Event.Event): PublishOutcome => {
    const { customerId, endpointId, idempotencyKey: key } = event
    if (customerId !== null && customers.find(tenant, customerId) === undefined)
      return { _tag: "CustomerNotFound" }
    const [first] = key === null ? [] : events.where(tenant, "idempotencyKey = :key", { key })
    if (first !== undefined) {
      return Event.isSameContent(first, event)
        ? { _tag: "Duplicate", event: first }
        : { _tag: "KeyConflict", eventId: first.id }
    }
    if (endpointId !== null && endpoints.find(tenant, endpointId)?.endpoint.status !== "enabled")
      return { _tag: "EndpointNotFound" }
    outbox.announce(tenant, event)
    return { _tag: "Published", event }
  }

  return EventStore.of({
    publish: (event) => db.tenantVerb("EventStore.publish", (tenant) => publish(tenant, event)),
    find: (id) => events.get("EventStore.find", id),
    list: ({ createdAfter, createdBefore, customerId, deliveryStatus, type }, page) =>
      events.list(
        "EventStore.list",
        page,
        { type, customerId },
        `(:from IS NULL OR at >= :from) AND (:before IS NULL OR at < :before)
         AND (:status IS NULL OR EXISTS (
           SELECT 1 FROM deliveries WHERE tenant = :tenant AND eventId = events.id AND status = :status))`,
        {
          from: createdAfter?.epochMilliseconds,
          before: createdBefore?.epochMilliseconds,
          status: deliveryStatus,
        },
        Event.countWithinPage,
      ),
    tailPosition: (after) =>
      db.tenantVerb("EventStore.tailPosition", (tenant) => {
        const sql =
          "SELECT max(position) AS position FROM events WHERE tenant = :tenant AND (:after IS NULL OR id = :after)"
        const position = db.first<{ position: number | null }>(sql, { tenant, after })?.position ?? null
        if (after !== undefined && position === null) return Option.none()
        return Option.some(String(position ?? 0))
      }),
    // Transactions are serial, so positions increase in the order of commits, and no event has to be held back.
    tail: (position, types, limit) =>
      db.tenantVerb("EventStore.tail", (tenant) => {
        const rows = db.all<{ body: string; position: number }>(
          `SELECT body, position FROM events
           WHERE tenant = :tenant AND position > :position
             AND (:types = '[]' OR type IN (SELECT value FROM json_each(:types)))
           ORDER BY position LIMIT :limit`,
          { tenant, position: Number(position), types: JSON.stringify(types), limit },
        )
        const found = rows.map(({ body }) => fromText<Event.Event>(body))
        const count = Event.countWithinPage(found)
        return { events: found.slice(0, count), position: String(rows[count - 1]?.position ?? position) }
      }),
    redact: ({ after, at, customerId }, redacted) =>
      db.tenantVerb("EventStore.redact", (tenant) => {
        const sql = "SELECT 1 FROM Customer WHERE tenant = :tenant AND id = :customerId AND body IS NULL"
        if (db.first(sql, { tenant, customerId }) === undefined) return undefined
        const left = events
          .where(tenant, "customerId = :customerId AND (:after IS NULL OR id > :after)", {
            customerId,
            after,
          })
          .filter((event) => !Redaction.isRedacted(event))
        const found = left.slice(0, MAX_REDACTED)
        for (const event of found) {
          events.replace(tenant, event.id, { ...event, idempotencyKey: null, payload: redacted(event) })
          for (const stored of deliveries.where(tenant, "eventId = :eventId", { eventId: event.id })) {
            const next = StoredDelivery.redacted(stored, at, randomUUID())
            deliveries.replace(tenant, stored.delivery.id, next)
          }
        }
        return left.length > found.length ? found.at(-1)?.id : undefined
      }),
    committed: outbox.committed,
  })
}

/** The queue of due deliveries. A lease keeps two workers from the same delivery. Its token rejects a late worker. */
const deliveryStore = (db: Connection, tables: Tables, outbox: Outbox): DeliveryStore["Service"] => {
  const { deliveries, endpoints, events } = tables

  const put = (tenant: string, stored: StoredDelivery.StoredDelivery) =>
    deliveries.replace(tenant, stored.delivery.id, stored)

  const count = (
    tenant: string,
    endpointId: string,
    at: DateTime.Utc,
    { delivered = 0, failed = 0, failedAttempts = 0 }: Partial<WebhookStatistics.Counts>,
  ) =>
    db.run(
      `INSERT INTO delivery_counts VALUES (:tenant, :endpointId, :hour, :delivered, :failed, :failedAttempts)
       ON CONFLICT DO UPDATE SET
         delivered = delivered + excluded.delivered,
         failed = failed + excluded.failed,
         failedAttempts = failedAttempts + excluded.failedAttempts`,
      {
        tenant,
        endpointId,
        hour: WebhookStatistics.hourOf(at.epochMilliseconds),
        delivered,
        failed,
        failedAttempts,
      },
    )

  const settle = (settlement: Settlement): boolean => {
    const tenant = Tenant.tenantKey(settlement.tenant)
    const stored = deliveries.find(tenant, settlement.id)
    if (stored?.lease?.token !== settlement.token) return false
    put(tenant, StoredDelivery.settled(stored, settlement))
    const { endpointId } = stored.delivery
    count(tenant, endpointId, settlement.at, StoredDelivery.countsOf(settlement))
    const receiver = endpoints.find(tenant, endpointId)
    if (receiver === undefined) return true
    const failingSince = StoredDelivery.failingSince(receiver.endpoint.failingSince, settlement)
    endpoints.replace(tenant, endpointId, { ...receiver, endpoint: { ...receiver.endpoint, failingSince } })
    return true
  }

  return DeliveryStore.of({
    find: (id) =>
      Effect.map(deliveries.get("DeliveryStore.find", id), Option.map(StoredDelivery.withAttempts)),
    list: ({ endpointId, eventId, status }, page) =>
      deliveries
        .list("DeliveryStore.list", page, { endpointId, eventId, status })
        .pipe(Effect.map(mapPage(({ delivery }) => delivery))),
    countByStatus: (eventIds) =>
      db.tenantVerb("DeliveryStore.countByStatus", (tenant) =>
        eventIds.map((eventId) => {
          const rows = db.all<{ status: Delivery.DeliveryStatus; count: number }>(
            `SELECT status, min(count(*), :most) AS count FROM deliveries
             WHERE tenant = :tenant AND eventId = :eventId GROUP BY status`,
            { tenant, eventId, most: Delivery.MAX_COUNTED },
          )
          const of = (status: Delivery.DeliveryStatus) =>
            rows.find((row) => row.status === status)?.count ?? 0
          return { pending: of("Pending"), delivered: of("Delivered"), failed: of("Failed") }
        }),
      ),
    insert: ({ endpointIds, eventId, firstDeliveryId, now }) =>
      db.tenantVerb("DeliveryStore.insert", (tenant) => {
        const event = events.find(tenant, eventId)
        if (event === undefined) return [] // It was removed meanwhile.
        return outbox.deliver(tenant, event, endpointIds, firstDeliveryId, now)
      }),
    replayRange: (range) =>
      db.tenantVerb("DeliveryStore.replayRange", (tenant) => {
        const { endpointId, firstDeliveryId, isDryRun, limit, now, since, until } = range
        const filter = endpoints.find(tenant, endpointId)?.endpoint.eventTypes ?? []
        const statuses = (eventId: string) =>
          deliveries
            .where(tenant, "eventId = :eventId AND endpointId = :endpointId", { eventId, endpointId })
            .map(({ delivery }) => delivery.status)
        const found = events
          .where(tenant, "at >= :since AND at < :until", {
            since: since.epochMilliseconds,
            until: until.epochMilliseconds,
          })
          .filter((event) => StoredDelivery.isReplayed(event, range, filter, () => statuses(event.id)))
        if (found.length > limit) return limit + 1
        if (isDryRun) return found.length
        for (const [index, event] of found.entries())
          outbox.deliver(tenant, event, [endpointId], Delivery.deliveryId(firstDeliveryId, index), now)
        return found.length
      }),
    cancel: (endpointId, reason, at) =>
      db.tenantVerb("DeliveryStore.cancel", (tenant) => {
        const pending = deliveries
          .where(tenant, "endpointId = :endpointId AND status = 'Pending'", { endpointId })
          .slice(0, MAX_CANCEL)
        for (const stored of pending) {
          put(tenant, StoredDelivery.cancelled(stored, reason, at))
          count(tenant, endpointId, at, { failed: 1, failedAttempts: Number(stored.lease !== null) })
        }
        return pending.length
      }),
    // Deliveries are ordered by their position in the backlog of their endpoint and tenant, so that a long backlog doesn't
    // delay others.
    claimDue: ({ leaseUntil, limit, limitPerEndpoint, limits, now, tenantLimits }) =>
      db.verb("DeliveryStore.claimDue", () => {
        const due = db.all<{ tenant: string; body: string }>(
          `WITH due AS (
             SELECT *, row_number() OVER (PARTITION BY tenant, endpointId ORDER BY dueAt, id) AS place
             FROM deliveries WHERE dueAt <= :now),
           turns AS (
             SELECT due.*, row_number() OVER (PARTITION BY tenant ORDER BY dueAt, due.id) AS turn
             FROM due LEFT JOIN json_each(:limits) AS own ON own.key = endpointId
             WHERE place <= coalesce(own.value, :limitPerEndpoint)),
           picked AS (
             SELECT turns.* FROM turns LEFT JOIN json_each(:tenantLimits) AS own ON own.key = tenant
             WHERE turn <= coalesce(own.value, :limit) ORDER BY turn, dueAt, turns.id LIMIT :limit)
           SELECT tenant, body FROM picked ORDER BY dueAt, id`,
          {
            now: now.epochMilliseconds,
            limits: JSON.stringify(Object.fromEntries(limits)),
            tenantLimits: JSON.stringify(
              Object.fromEntries(tenantLimits.map((own) => [Tenant.tenantKey(own.tenant), own.limit])),
            ),
            limitPerEndpoint,
            limit,
          },
        )
        const leased = due.map(({ body, tenant }) => {
          const before = fromText<StoredDelivery.StoredDelivery>(body)
          const wasLost = before.lease !== null
          const lease = { token: randomUUID(), since: now }
          const stored = { ...StoredDelivery.leased(before, lease, leaseUntil), lease }
          put(tenant, stored)
          const { endpointId, eventId } = stored.delivery
          if (wasLost) count(tenant, endpointId, now, { failedAttempts: 1 })
          const event = events.find(tenant, eventId)!
          return StoredDelivery.claimed(
            tenantOf(tenant),
            stored,
            event,
            endpoints.find(tenant, endpointId),
            wasLost,
          )
        })
        return { deliveries: leased, unreadable: [] }
      }),
    settle: (settlements) => db.verb("DeliveryStore.settle", () => settlements.map(settle)),
    counts: (sinceHour) =>
      db.tenantVerb("DeliveryStore.counts", (tenant) => {
        const hours = db.all<WebhookStatistics.HourCounts>(
          `SELECT endpointId, hour, delivered, failed, failedAttempts
           FROM delivery_counts WHERE tenant = :tenant AND hour >= :since AND delivered + failed + failedAttempts > 0`,
          { tenant, since: sinceHour.epochMilliseconds },
        )
        const pending = db.all<{ endpointId: Endpoint.EndpointId; pending: number }>(
          `SELECT endpointId, min(count(*), :most) AS pending
           FROM deliveries WHERE tenant = :tenant AND status = 'Pending' GROUP BY endpointId`,
          { tenant, most: WebhookStatistics.MAX_PENDING_COUNT },
        )
        return { hours, pending: new Map(pending.map((row) => [row.endpointId, row.pending])) }
      }),
    nextDueAt: db.verb("DeliveryStore.nextDueAt", () => {
      const row = db.first<{ at: number | null }>("SELECT min(dueAt) AS at FROM deliveries")
      return Option.map(Option.fromNullishOr(row?.at), DateTime.makeUnsafe)
    }),
    // Claims cost little in one process, so publications hand nothing over.
    handTo: () => Effect.void,
    due: outbox.committed,
  })
}

/**
 * Removes old data in short steps. An event is removed when it and all of its deliveries are old. The next step continues
 * after its position.
 */
const retentionStore = (db: Connection): RetentionStore["Service"] => {
  /** The position after which the next step continues. `undefined` after the last rows. */
  const placeAfter = (rows: ReadonlyArray<{ readonly place: number }>, limit: number) =>
    rows.length < limit ? undefined : String(rows.at(-1)?.place)

  return RetentionStore.of({
    pruneEvents: ({ after, before, isDryRun, limit }) =>
      db.verb("RetentionStore.pruneEvents", () => {
        const rows = db.all<{ place: number; deliveries: number; attempts: number; isOver: 0 | 1 }>(
          `SELECT position AS place, count(deliveries.id) AS deliveries,
             coalesce(sum(json_array_length(deliveries.body, '$.attempts')), 0) AS attempts,
             count(deliveries.id) = count(CASE WHEN finishedAt < :before THEN 1 END) AS isOver
           FROM (SELECT * FROM events WHERE at < :before AND position > :after ORDER BY position LIMIT :limit) AS old
           LEFT JOIN deliveries ON deliveries.tenant = old.tenant AND eventId = old.id
           GROUP BY position ORDER BY position`,
          { before: before.epochMilliseconds, after: Number(after ?? 0), limit },
        )
        const old = rows.filter(({ isOver }) => isOver === 1)
        const positions = JSON.stringify(old.map(({ place }) => place))
        if (!isDryRun)
          db.run("DELETE FROM events WHERE position IN (SELECT value FROM json_each(:positions))", {
            positions,
          })
        return {
          events: old.length,
          deliveries: old.reduce((sum, { deliveries }) => sum + deliveries, 0),
          attempts: old.reduce((sum, { attempts }) => sum + attempts, 0),
          next: placeAfter(rows, limit),
        }
      }),
    pruneCounts: ({ after, before, isDryRun, limit }) =>
      db.verb("RetentionStore.pruneCounts", () => {
        const rows = db.all<{ place: number }>(
          "SELECT rowid AS place FROM delivery_counts WHERE hour < :before AND rowid > :after ORDER BY rowid LIMIT :limit",
          { before: before.epochMilliseconds, after: Number(after ?? 0), limit },
        )
        const places = JSON.stringify(rows.map(({ place }) => place))
        if (!isDryRun)
          db.run("DELETE FROM delivery_counts WHERE rowid IN (SELECT value FROM json_each(:places))", {
            places,
          })
        return { counts: rows.length, next: placeAfter(rows, limit) }
      }),
  })
}

/** Deleting an endpoint removes the body of its row, with its secrets. The id stays for its deliveries and for cursors. */
const endpointStore = (db: Connection, { endpoints }: Tables): EndpointStore["Service"] =>
  EndpointStore.of({
    insert: (stored) =>
      db.tenantVerb("EndpointStore.insert", (tenant) => {
        if (endpoints.count(tenant, "TRUE") >= Endpoint.MAX_ENDPOINTS) return false
        endpoints.insert(tenant, stored.endpoint.id, stored)
        return true
      }),
    find: (id) =>
      Effect.map(
        endpoints.get("EndpointStore.find", id),
        Option.map(({ endpoint }) => endpoint),
      ),
    list: ({ status }, page) =>
      endpoints
        .list("EndpointStore.list", page, { status })
        .pipe(Effect.map(mapPage(({ endpoint }) => endpoint))),
    modify: (id, change) => endpoints.modify("EndpointStore.modify", id, change),
    delete: (id) =>
      db.tenantVerb("EndpointStore.delete", (tenant) => {
        const isThere = endpoints.find(tenant, id) !== undefined
        endpoints.replace(tenant, id, undefined)
        return isThere
      }),
    listSealedByOtherKeys: (keyIds, { after, limit, now }) =>
      db.verb("EndpointStore.listSealedByOtherKeys", () =>
        db
          .all<{ tenant: string; body: string }>(
            `SELECT tenant, body FROM endpoints
             WHERE body IS NOT NULL AND (tenant, id) > (:tenant, :id) ORDER BY tenant, id`,
            { tenant: after === undefined ? "" : Tenant.tenantKey(after.tenant), id: after?.id ?? "" },
          )
          .map(({ body, tenant }) => {
            const { endpoint, secrets } = fromText<Endpoint.StoredEndpoint>(body)
            const live = Endpoint.liveSecrets(secrets, now.epochMilliseconds)
            const sealed = live.map((secret) => secret.sealed)
            return { tenant: tenantOf(tenant), id: endpoint.id, sealed, headers: endpoint.headers }
          })
          .filter(({ headers, sealed }) =>
            [...sealed, ...Object.values(headers)].some((one) => !keyIds.includes(keyIdOf(one))),
          )
          .slice(0, limit),
      ),
  })

const OF_METER = "customerId = :customerId AND productId = :productId AND unit = :unit"

/** The cells of records. A large storage keeps them by day; this one makes them when they are needed. */
const cellsOf = (
  definition: Rollup.Definition,
  found: ReadonlyArray<UsageRecord.UsageRecord>,
): ReadonlyMap<string, RollupValues.Cell> =>
  RollupValues.cellsOf(
    definition,
    found.map(({ timestamp, voidedAt, ...record }) => ({
      ...record,
      timestamp: timestamp.epochMilliseconds,
      isVoided: voidedAt !== null,
    })),
  )

const combinationsOf = (cells: ReadonlyMap<string, RollupValues.Cell>) =>
  Array.from(cells.values(), ({ combination }) => combination)

/** Refuses a record whose combination of dimensions is one too many for its customer and day. */
const refusalOf = (
  { meters, records }: Tables,
  tenant: string,
  record: UsageRecord.UsageRecord,
): AppendOutcome | undefined => {
  const { customerId, productId, timestamp, unit } = record
  const day = UsagePeriod.utcDay(timestamp.epochMilliseconds)
  const start = day * UsagePeriod.UTC_DAY_MILLIS
  const served = meters
    .where(tenant, "productId = :productId AND unit = :unit", { productId, unit })
    .flatMap(Rollup.served)
    .toSorted((a, b) =>
      a.meterKey === b.meterKey ? a.generation - b.generation : a.meterKey < b.meterKey ? -1 : 1,
    )
  const ofDay = `${OF_METER} AND at >= :start AND at < :end`
  const values = { customerId, productId, unit, start, end: start + UsagePeriod.UTC_DAY_MILLIS }
  // With fewer records there can't be too many combinations.
  if (served.length === 0 || records.count(tenant, ofDay, values) < Rollup.MAX_COMBINATIONS) return undefined
  for (const rollup of served) {
    const cells = cellsOf(rollup, records.where(tenant, ofDay, values))
    const isNew = !cells.has(RollupValues.keyOf(Rollup.combinationOf(rollup, record.dimensions)))
    if (!isNew || cells.size < Rollup.MAX_COMBINATIONS) continue
    return {
      _tag: "TooManyCombinations",
      meterKey: rollup.meterKey,
      day: UsagePeriod.formatDay(day),
      dimension: Rollup.widest(rollup.dimensions, combinationsOf(cells)),
    }
  }
  return undefined
}

/** Values of meters are computed from records, so there is nothing to build or to remove. */
const meterRollups = (
  db: Connection,
  { meters, records }: Tables,
): Pick<UsageStore["Service"], "rollup" | "build" | "sweep" | "unfinished"> => ({
  rollup: (query) =>
    db.tenantVerb("UsageStore.rollup", (tenant) => {
      const meter = meters.find(tenant, query.meterId)
      const rollup = meter && Rollup.answering(meter)
      if (rollup?.generation !== query.generation) return { _tag: "Gone" }
      const { customerId } = query
      const { productId, unit } = rollup
      return RollupValues.answer(rollup, query, ({ end, start }) =>
        cellsOf(
          rollup,
          records.where(
            tenant,
            `${OF_METER} AND (:start IS NULL OR at >= :start) AND (:end IS NULL OR at < :end)`,
            { customerId, productId, unit, start, end },
          ),
        ).values(),
      )
    }),
  build: (rollup) =>
    db.tenantVerb("UsageStore.build", (tenant): Rollup.Progress => {
      const { productId, unit } = rollup
      const found = records.where(tenant, "productId = :productId AND unit = :unit", { productId, unit })
      const days = Map.groupBy(found, ({ customerId, timestamp }) =>
        JSON.stringify([customerId, UsagePeriod.formatDay(UsagePeriod.utcDay(timestamp.epochMilliseconds))]),
      )
      for (const [key, ofDay] of days) {
        const cells = cellsOf(rollup, ofDay)
        if (cells.size <= Rollup.MAX_COMBINATIONS) continue
        const [customerId, day] = JSON.parse(key) as [Customer.CustomerId, string]
        const dimension = Rollup.widest(rollup.dimensions, combinationsOf(cells))
        return { _tag: "TooManyCombinations", customerId, day, dimension }
      }
      return { _tag: "Built", total: days.size }
    }),
  sweep: () => db.tenantVerb("UsageStore.sweep", () => true),
  unfinished: (after, limit) =>
    db.verb("UsageStore.unfinished", () => {
      const rows = db.all<{ tenant: string; body: string }>(
        `SELECT tenant, body FROM "${Meter.meters.type}" WHERE tenant > :after ORDER BY tenant, id`,
        { after: after === undefined ? "" : Tenant.tenantKey(after) },
      )
      const unfinished = rows
        .map(({ body, tenant }) => ({ tenant, meter: fromText<Meter.Meter>(body) }))
        .filter(({ meter }) => Rollup.isUnfinished(meter))
      const first = new Map(unfinished.toReversed().map(({ meter, tenant }) => [tenant, meter.id]))
      return [...first]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([tenant, meterId]) => ({ tenant: tenantOf(tenant), meterId }))
    }),
})

interface MeterFilter {
  readonly customerId: Customer.CustomerId
  readonly productId: string | undefined
  readonly unit: string | undefined
}

/**
 * Totals are sums over records. A storage for millions of records also stores sums of days (roll-ups) in the same
 * transaction, and `audit` compares them with the records. This one has no roll-ups that could differ.
 */
const usageStore = (db: Connection, tables: Tables, outbox: Outbox): UsageStore["Service"] => {
  const { customers, records, thresholds } = tables

  /**
   * The sums of a period, exact at any size. SQLite adds integers of 64 bits, so the two halves of each quantity are added
   * separately.
   */
  const sums = (
    tenant: string,
    { customerId, productId, unit }: MeterFilter,
    { end, start }: UsagePeriod.Period,
    by: TotalsQuery["by"],
  ) =>
    db
      .all<{ productId: string | null; unit: string; high: string; low: string; recordCount: number }>(
        `SELECT ${by === "meter" ? "productId" : "NULL AS productId"}, unit, count(*) AS recordCount,
           CAST(sum(quantity >> 32) AS TEXT) AS high, CAST(sum(quantity & 0xffffffff) AS TEXT) AS low
         FROM usage_records
         WHERE tenant = :tenant AND customerId = :customerId AND voidedAt IS NULL
           AND (:productId IS NULL OR productId = :productId) AND (:unit IS NULL OR unit = :unit)
           AND (:start IS NULL OR at >= :start) AND (:end IS NULL OR at < :end)
         GROUP BY ${by === "meter" ? "productId, unit" : "unit"}`,
        { tenant, customerId, productId, unit, start, end },
      )
      .map(({ high, low, productId: product, ...sum }) => ({
        ...sum,
        productId: product ?? undefined,
        quantity: (BigInt(high) << 32n) + BigInt(low),
      }))

  const append = (tenant: string, record: UsageRecord.NewUsageRecord): AppendOutcome => {
    const { hasOwnTimestamp: _, ...stored } = record
    const { customerId, idempotencyKey: key } = record
    if (customers.find(tenant, customerId) === undefined) return { _tag: "CustomerNotFound" }
    const [first] =
      key === null
        ? []
        : records.where(tenant, "customerId = :customerId AND idempotencyKey = :key", { customerId, key })
    if (first !== undefined) {
      return UsageRecord.isSameContent(first, record)
        ? { _tag: "Duplicate", record: first }
        : { _tag: "KeyConflict", recordId: first.id }
    }
    const refusal = refusalOf(tables, tenant, stored)
    if (refusal !== undefined) return refusal
    records.insert(tenant, record.id, stored)
    return { _tag: "Recorded", record: stored }
  }

  /** Fires a threshold for the periods in which new records of its meter have reached it, once per period. */
  const fire = (
    tenant: string,
    threshold: Threshold.Threshold,
    added: ReadonlyArray<UsageRecord.UsageRecord>,
  ): Array<Threshold.ThresholdCrossing> => {
    const at = added.map(({ createdAt }) => createdAt).reduce(DateTime.max)
    const instants = new Map(
      added.map(({ timestamp }) => [Threshold.periodKey(threshold.period, timestamp), timestamp]),
    )
    return [...instants].flatMap(([periodKey, instant]) => {
      const [sum] = sums(tenant, threshold, Threshold.periodOf(threshold.period, instant), "meter")
      const total = sum?.quantity ?? 0n
      const firing = { tenant, thresholdId: threshold.id, periodKey }
      const hasFired =
        db.first(
          "SELECT 1 FROM firings WHERE tenant = :tenant AND threshold_id = :thresholdId AND period_key = :periodKey",
          firing,
        ) !== undefined
      if (!Threshold.crosses({ quantity: threshold.quantity, total, hasFired })) return []
      db.run("INSERT INTO firings VALUES (:tenant, :thresholdId, :periodKey)", firing)
      const fired = { ...threshold, lastFiredAt: at }
      thresholds.replace(tenant, threshold.id, fired)
      return [{ threshold: fired, periodKey, total }]
    })
  }

  const fireAll = (
    tenant: string,
    added: ReadonlyArray<UsageRecord.UsageRecord>,
  ): ReadonlyArray<Threshold.ThresholdCrossing> => {
    const meters = Map.groupBy(added, ({ customerId, productId, unit }) =>
      JSON.stringify([customerId, productId, unit]),
    )
    return [...meters.values()].flatMap((ofMeter) => {
      const { customerId, productId, unit } = ofMeter[0]!
      return thresholds
        .where(tenant, OF_METER, { customerId, productId, unit })
        .flatMap((threshold) => fire(tenant, threshold, ofMeter))
    })
  }

  const rollups = meterRollups(db, tables)

  return UsageStore.of({
    append: (all) =>
      db.tenantVerb("UsageStore.append", (tenant) => {
        const outcomes = all.map((record) => append(tenant, record))
        const added = outcomes.flatMap((outcome) => (outcome._tag === "Recorded" ? [outcome.record] : []))
        const crossings = fireAll(tenant, added)
        if (crossings.length > 0) {
          const lastId = added.map(({ id }) => id).reduce((a, b) => (a < b ? b : a))
          const at = added.map(({ createdAt }) => createdAt).reduce(DateTime.max)
          for (const event of ThresholdEvent.make(crossings, lastId, at, tenantOf(tenant).mode))
            outbox.announce(tenant, event)
        }
        return { outcomes, crossings }
      }),
    find: (id) => records.get("UsageStore.find", id),
    void: (id, at) =>
      records.modify("UsageStore.void", id, (record) =>
        Effect.succeed({ ...record, voidedAt: record.voidedAt ?? at }),
      ),
    list: ({ counted, customerId, productId, unit, where = [] }, page) =>
      records.list(
        "UsageStore.list",
        page,
        { customerId, productId, unit },
        `NOT EXISTS (
           SELECT 1 FROM json_each(:where) AS wanted WHERE NOT EXISTS (
             SELECT 1 FROM json_each(body, '$.dimensions') AS own, json_each(wanted.value, '$[1]') AS one
             WHERE own.key = wanted.value ->> '$[0]' AND own.value = one.value))
         AND (:start IS NULL OR (at >= :start AND at < :end AND voidedAt IS NULL))
         AND (:lacking IS NULL OR NOT EXISTS (
           SELECT 1 FROM json_each(body, '$.dimensions') AS own WHERE own.key = :lacking))`,
        {
          where: JSON.stringify(where),
          start: counted?.start,
          end: counted?.end,
          lacking: counted?.lacking,
        },
      ),
    totals: ({ boundaries, by, ...meter }) =>
      db.tenantVerb("UsageStore.totals", (tenant) =>
        boundaries
          .slice(1)
          .flatMap((end, window) =>
            sums(tenant, meter, { start: boundaries[window], end }, by).map((sum) => ({ window, ...sum })),
          ),
      ),
    countMeters: ({ customerId, from, most, productId = null, to, unit = null }) =>
      db.tenantVerb("UsageStore.countMeters", (tenant) => {
        const rows = db.all(
          `SELECT DISTINCT productId, unit FROM usage_records
           WHERE tenant = :tenant AND customerId = :customerId AND voidedAt IS NULL
             AND (:productId IS NULL OR productId = :productId) AND (:unit IS NULL OR unit = :unit)
             AND at >= :start AND at < :end LIMIT :limit`,
          {
            tenant,
            customerId,
            productId,
            unit,
            start: from * UsagePeriod.UTC_DAY_MILLIS,
            end: to * UsagePeriod.UTC_DAY_MILLIS,
            limit: most + 1,
          },
        )
        return rows.length
      }),
    units: (customerId, limit) =>
      db.tenantVerb("UsageStore.units", (tenant) =>
        db
          .all<{ unit: string }>(
            "SELECT DISTINCT unit FROM usage_records WHERE tenant = :tenant AND customerId = :customerId LIMIT :limit",
            { tenant, customerId, limit },
          )
          .map(({ unit }) => unit),
      ),
    ...rollups,
    audit: Effect.succeed([]),
  })
}

/** Values of an append-only resource, such as audit records, are never changed or removed. */
const refuseIfFinal = (
  { isAppendOnly, noun }: Resource.Definition,
  operation: string,
): Effect.Effect<void, StorageError> =>
  isAppendOnly === true
    ? Effect.fail(
        new StorageError({
          operation,
          retryable: false,
          cause: new Error(`a ${noun} is never changed or removed`),
        }),
      )
    : Effect.void

/**
 * A resource is its documents, so that one implementation serves all of them. A resource that keeps its ids loses the body of its row, and the row stays for references to it and for cursors.
 */
const collections = (db: Connection): Collections["Service"] =>
  Collections.of({
    of: <D extends Resource.Definition>(resource: Resource.Resource<D>) => {
      if (!DEFINITIONS.some(({ type }) => type === resource.type))
        throw new TypeError(`no table keeps the resource ${resource.type}`)
      const documents = new Documents<Resources.Value>(db, resource.type)
      const nameOf = (verb: string) => `Collections.${verb}(${resource.type})`
      const collection: Collection<Resources.Value> = {
        insert: (value) =>
          db.tenantVerb(nameOf("insert"), (tenant) => {
            const fields: Readonly<Record<string, unknown>> = { ...value }
            const isTaken = (resource.unique ?? []).some((field) => {
              const values = { id: value.id, value: String(fields[field]) }
              return documents.count(tenant, `"${field}" = :value AND id <> :id`, values) > 0
            })
            if (!isTaken) documents.insert(tenant, value.id, value)
            return !isTaken
          }),
        find: (id) => documents.get(nameOf("find"), id),
        status: (id) =>
          db.tenantVerb(nameOf("status"), (tenant) => {
            if (!documents.has(tenant, id)) return "unknown"
            return documents.find(tenant, id) === undefined ? "removed" : "active"
          }),
        modify: (id, change) =>
          documents.modify(nameOf("modify"), id, (value: Resources.Value) =>
            Effect.tap(change(value), (changed) =>
              changed === value ? Effect.void : refuseIfFinal(resource, nameOf("modify")),
            ),
          ),
        remove: (id) =>
          Effect.flatMap(collection.status(id), (status) =>
            Effect.andThen(
              status === "unknown" ? Effect.void : refuseIfFinal(resource, nameOf("remove")),
              db.tenantVerb(nameOf("remove"), (tenant) =>
                resource.keepsId === true
                  ? documents.replace(tenant, id, undefined)
                  : documents.delete(tenant, id),
              ),
            ),
          ),
        list: ({ madeBefore, madeFrom, search, ...fields }, page) =>
          documents.list(
            nameOf("list"),
            page,
            fields as Values,
            "(:search IS NULL OR instr(search_text(:resource, body), :search) > 0) AND (:from IS NULL OR id >= :from) AND (:before IS NULL OR id < :before)",
            {
              search,
              resource: resource.type,
              from: madeFrom === undefined ? undefined : Id.firstAt(resource.prefix, madeFrom),
              before: madeBefore === undefined ? undefined : Id.firstAt(resource.prefix, madeBefore),
            },
            (values) => Resource.countWithinPage(resource, values),
          ),
      }
      return collection as object as CollectionOf<Resource.Resource<D>>
    },
  })

/** Digests are unique over all tenants, so a key identifies its tenant. */
const apiKeyStore = (db: Connection, { keys }: Tables): ApiKeyStore["Service"] => {
  const change = (operation: string, id: string, next: (key: ApiKey.ApiKey) => Partial<ApiKey.ApiKey>) =>
    keys.modify(operation, id, (key) => Effect.succeed({ ...key, ...next(key) }))

  return ApiKeyStore.of({
    insert: ({ digest, key }) =>
      db.tenantVerb("ApiKeyStore.insert", (tenant) => {
        const body = toText({ ...key, ...tenantOf(tenant) })
        const sql = "INSERT INTO api_keys (tenant, id, body, digest) VALUES (:tenant, :id, :body, :digest)"
        db.run(sql, { tenant, id: key.id, body, digest })
      }),
    findByDigest: (digest) =>
      db.verb("ApiKeyStore.findByDigest", () => {
        const row = db.first<{ body: string }>("SELECT body FROM api_keys WHERE digest = :digest", { digest })
        return row === undefined
          ? Option.none()
          : Option.some({ key: fromText<ApiKey.ApiKey>(row.body), digest })
      }),
    find: (id) => keys.get("ApiKeyStore.find", id),
    list: (page) => keys.list("ApiKeyStore.list", page, {}),
    revoke: (id, at) => change("ApiKeyStore.revoke", id, ({ revokedAt }) => ({ revokedAt: revokedAt ?? at })),
    expire: (id, at) =>
      db.tenantVerb("ApiKeyStore.expire", (tenant) => {
        const key = keys.find(tenant, id)
        const sql = "UPDATE api_keys SET isRolled = 1 WHERE tenant = :tenant AND id = :id AND isRolled = 0"
        if (key === undefined || db.run(sql, { tenant, id }) === 0) return Option.none()
        const expiresAt = key.expiresAt === null ? at : DateTime.min(key.expiresAt, at)
        const expired: ApiKey.ApiKey = { ...key, expiresAt }
        keys.replace(tenant, id, expired)
        return Option.some(expired)
      }),
    touch: (id, at) =>
      db.verb("ApiKeyStore.touch", () => {
        const row = db.first<{ tenant: string }>("SELECT tenant FROM api_keys WHERE id = :id", { id })
        const key = row && keys.find(row.tenant, id)
        if (key !== undefined) keys.replace(row!.tenant, id, { ...key, lastUsedAt: at })
      }),
  })
}

const withText = <A extends { readonly terms: object }>({ terms, ...rest }: A): Stored<A> => ({
  ...rest,
  terms: JSON.stringify(terms),
})
const toPlan = ({ terms, ...plan }: Stored<Plan.Plan>): Plan.Plan => ({ ...plan, terms: JSON.parse(terms) })
const toVersion = ({ terms, ...version }: Stored<Plan.PlanVersion>): Plan.PlanVersion => ({
  ...version,
  terms: JSON.parse(terms),
})

/** Versions are only ever inserted: triggers refuse the rest. */
const planStore = (db: Connection, { planVersions, plans }: Tables): PlanStore["Service"] =>
  PlanStore.of({
    // Transactions are serial, so the one that runs has everything to itself.
    lock: db.tenantVerb("PlanStore.lock", () => undefined),
    findAll: (keys) =>
      db.tenantVerb("PlanStore.findAll", (tenant) =>
        plans
          .where(tenant, "key IN (SELECT value FROM json_each(:keys))", { keys: JSON.stringify(keys) })
          .map(toPlan),
      ),
    list: (page) => Effect.map(plans.list("PlanStore.list", page, {}), mapPage(toPlan)),
    findVersion: (key, version) =>
      db.tenantVerb("PlanStore.findVersion", (tenant) =>
        Option.fromUndefinedOr(
          planVersions.where(tenant, "key = :key AND version = :version", { key, version }).map(toVersion)[0],
        ),
      ),
    listVersions: (key, page) =>
      Effect.flatMap(
        db.tenantVerb("PlanStore.listVersions", (tenant) => {
          const cursor = page.cursor && planVersions.find(tenant, page.cursor.id)
          return page.cursor === undefined || cursor?.planKey === key
        }),
        (isKnown) =>
          isKnown
            ? Effect.map(planVersions.list("PlanStore.listVersions", page, { key }), mapPage(toVersion))
            : Effect.fail(new Page.CursorNotFound({ id: page.cursor?.id ?? "" })),
      ),
    publish: (plan) =>
      db.tenantVerb("PlanStore.publish", (tenant) => {
        const [stored] = plans.where(tenant, "key = :key", { key: plan.key })
        if (plan.version !== (stored?.version ?? 0) + 1) throw new Error("the version does not follow")
        if (stored === undefined) plans.insert(tenant, plan.id, withText(plan))
        else plans.replace(tenant, stored.id, withText(plan))
        const { hash, key: planKey, terms, updatedAt: createdAt, version, versionId: id } = plan
        planVersions.insert(tenant, id, withText({ id, planKey, version, hash, terms, createdAt }))
      }),
    rename: ({ description, key, name, updatedAt }) =>
      db.tenantVerb("PlanStore.rename", (tenant) => {
        const [stored] = plans.where(tenant, "key = :key", { key })
        if (stored !== undefined)
          plans.replace(tenant, stored.id, { ...stored, description, name, updatedAt })
      }),
  })

/**
 * Answers to requests with an idempotency key. Running requests are known in memory, because only one process uses the
 * database. A storage for many processes would try to take a lock, without waiting.
 */
const idempotencyStore = (db: Connection): IdempotencyStore["Service"] => {
  /** The running requests, each with the transaction that has its uncommitted answer. */
  const running = new Map<string, { answeredIn: Level | undefined }>()

  const once: IdempotencyStore["Service"]["once"] = (request, { expiresAt, now }, effect) =>
    Effect.gen(function* () {
      const tenant = Tenant.tenantKey(yield* CurrentTenant)
      const { fingerprint, key, method, path } = request
      const name = JSON.stringify([tenant, method, path, key])
      const transaction = yield* Effect.withFiber((fiber) => Effect.succeed(db.transactionOf(fiber)))

      const findAnswer = (): OnceOutcome | undefined => {
        const row = db.first<{ fingerprint: string; status: number; body: string }>(
          `SELECT fingerprint, status, body FROM answers WHERE tenant = :tenant AND method = :method
             AND path = :path AND key = :key AND expires_at >= :now`,
          { tenant, method, path, key, now: now.epochMilliseconds },
        )
        if (row === undefined) return undefined
        if (row.fingerprint !== fingerprint) return { _tag: "Reused" }
        return { _tag: "Replayed", response: { status: row.status, body: row.body } }
      }

      // There is no wait between this check and the mark as running. An uncommitted answer belongs to a request that is
      // still running, so this may check at once.
      const other = running.get(name)
      if (other !== undefined && (other.answeredIn ?? null) !== transaction) {
        return { _tag: "Running" } satisfies OnceOutcome
      }
      const known = findAnswer()
      if (known !== undefined) return known
      const run: { answeredIn: Level | undefined } = { answeredIn: undefined }
      running.set(name, run)
      const stop = () => {
        if (running.get(name) === run) running.delete(name)
      }

      const answer = Effect.gen(function* () {
        const response = yield* effect
        return yield* Effect.withFiber((fiber) =>
          db.verb("IdempotencyStore.once", (): OnceOutcome => {
            db.run(
              `INSERT OR REPLACE INTO answers
               VALUES (:tenant, :method, :path, :key, :fingerprint, :status, :body, :subject, :expiresAt)`,
              {
                tenant,
                method,
                path,
                key,
                fingerprint,
                status: response.status,
                body: response.body,
                subject: response.subject,
                expiresAt: expiresAt.epochMilliseconds,
              },
            )
            // Other requests get `Running` until the transaction has ended.
            run.answeredIn = db.transactionOf(fiber)
            db.whenEnded(stop)
            return { _tag: "Ran", response }
          }),
        )
      })
      // The awaited transaction may have rolled back a sweep, so there may be an answer.
      const begin = db.verb("IdempotencyStore.once", findAnswer)
      return yield* Effect.flatMap(begin, (found) =>
        found === undefined ? answer : Effect.succeed(found),
      ).pipe(
        (body) => db.atomically(body),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (Exit.isFailure(exit) || exit.value._tag !== "Ran") stop()
          }),
        ),
      )
    })

  return IdempotencyStore.of({
    once,
    forget: (subject) =>
      db.tenantVerb("IdempotencyStore.forget", (tenant) => {
        db.run("DELETE FROM answers WHERE tenant = :tenant AND subject = :subject", { tenant, subject })
      }),
    redact: (subject) =>
      db.tenantVerb("IdempotencyStore.redact", (tenant) => {
        db.run("UPDATE answers SET body = '' WHERE tenant = :tenant AND subject = :subject", {
          tenant,
          subject,
        })
      }),
    sweep: (now, limit) =>
      db.verb("IdempotencyStore.sweep", () =>
        db.run(
          `DELETE FROM answers WHERE rowid IN (
             SELECT rowid FROM answers WHERE expires_at < :now ORDER BY expires_at LIMIT :limit)`,
          { now: now.epochMilliseconds, limit },
        ),
      ),
  })
}

// ─── 5. The store ────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The storage in a file, or in memory with `:memory:`. It is closed with its scope. Fails with a `StorageError` if it can't
 * be opened.
 */
export const layer = (path: string): Layer.Layer<Billing.Storage, StorageError> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const db = yield* Effect.acquireRelease(
        Effect.try({ try: () => new Connection(path), catch: failed("Sqlite.layer") }),
        (connection) => Effect.sync(() => connection.close()),
      )
      const tables = documentsOf(db)
      const outbox = new Outbox(db, tables)
      return Context.make(Transactor, transactor(db)).pipe(
        Context.add(Collections, collections(db)),
        Context.add(UsageStore, usageStore(db, tables, outbox)),
        Context.add(EventStore, eventStore(db, tables, outbox)),
        Context.add(EndpointStore, endpointStore(db, tables)),
        Context.add(DeliveryStore, deliveryStore(db, tables, outbox)),
        Context.add(RetentionStore, retentionStore(db)),
        Context.add(ApiKeyStore, apiKeyStore(db, tables)),
        Context.add(PlanStore, planStore(db, tables)),
        Context.add(IdempotencyStore, idempotencyStore(db)),
      )
    }),
  )

/** The storage as a store for `createBilling`. */
export const sqlite = (path: string): Store =>
  defineStore({
    kind: "sqlite",
    layer: layer(path),
    isSerial: true,
    explain: ({ retryable }) =>
      retryable
        ? undefined
        : { problem: `SQLite can't open ${path}`, advice: "check the path and its permissions" },
  })
