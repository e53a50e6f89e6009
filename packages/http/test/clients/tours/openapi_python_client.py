"""The tour of the README with the client that openapi-python-client makes."""

import json
import sys
from datetime import date, datetime

from billwright_client import AuthenticatedClient, models
from billwright_client.api.customers import create_customer, delete_customer, get_customer
from billwright_client.api.deliveries import list_deliveries
from billwright_client.api.events import replay_event
from billwright_client.api.usage import record_usage, summarize_usage
from billwright_client.api.usage_thresholds import create_usage_threshold
from billwright_client.api.webhook_endpoints import create_webhook_endpoint

url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key)
customer = create_customer.sync(
    client=client,
    body=models.CreateCustomer(
        name="Ada Lovelace",
        email="ada@example.com",
        metadata=models.CreateCustomerMetadata.from_dict({"plan": "pro"}),
    ),
    idempotency_key="tour",
)
assert isinstance(customer, models.Customer), customer
first = models.RecordUsage(
    customer_id=customer.id,
    product_id="api",
    quantity=9007199254740991,
    unit="call",
    timestamp=datetime.fromisoformat("2026-11-20T08:15:00+00:00"),
    idempotency_key="request-8f14",
)
record = record_usage.sync(client=client, body=first)
again = record_usage.sync(client=client, body=first)
assert isinstance(record, models.UsageRecord) and isinstance(again, models.UsageRecord)
endpoint = create_webhook_endpoint.sync(
    client=client, body=models.CreateWebhookEndpoint(url="http://127.0.0.1:9", event_types=["*"])
)
assert isinstance(endpoint, models.WebhookEndpointWithSecret), endpoint
threshold = create_usage_threshold.sync(
    client=client,
    body=models.CreateUsageThreshold(
        customer_id=customer.id,
        product_id="api",
        unit="call",
        quantity=9007199254740996,
        period=models.CreateUsageThresholdPeriod.MONTH,
    ),
)
assert isinstance(threshold, models.UsageThreshold), threshold
record_usage.sync(
    client=client,
    body=models.RecordUsage(
        customer_id=customer.id,
        product_id="api",
        quantity=5,
        unit="call",
        timestamp=datetime.fromisoformat("2026-11-20T23:30:00-05:00"),
    ),
)
summary = summarize_usage.sync(
    client=client, customer_id=customer.id, start_date=date(2026, 11, 1), end_date=date(2026, 11, 30)
)
assert isinstance(summary, models.UsageSummary), summary
deliveries = list_deliveries.sync(client=client, limit=1)
assert isinstance(deliveries, models.DeliveryList), deliveries
delivery = deliveries.data[0]
replayed = replay_event.sync(delivery.event_id, client=client)
assert isinstance(replayed, models.ReplayedDeliveries), replayed
deleted = delete_customer.sync(customer.id, client=client)
assert isinstance(deleted, models.DeletedCustomer), deleted
missing = get_customer.sync("cus_unknown", client=client)
assert isinstance(missing, models.NotFoundError), missing

print(
    json.dumps(
        {
            "customer": customer.name,
            "plan": customer.metadata["plan"],
            "quantity": str(record.quantity),
            "repeated": again.id == record.id,
            "secret": endpoint.secret[:6],
            "threshold": str(threshold.quantity),
            "total": str(summary.total_quantity),
            "unit": summary.unit,
            "records": summary.record_count,
            "event": delivery.event_type,
            "replays": len(replayed.data),
            "deleted": deleted.deleted,
            "missing": missing.error.value,
        }
    )
)
