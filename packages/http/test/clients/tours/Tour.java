import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.CustomersApi;
import org.openapitools.client.api.DeliveriesApi;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.UsageApi;
import org.openapitools.client.api.UsageThresholdsApi;
import org.openapitools.client.api.WebhookEndpointsApi;
import org.openapitools.client.model.CreateCustomer;
import org.openapitools.client.model.CreateUsageThreshold;
import org.openapitools.client.model.CreateWebhookEndpoint;
import org.openapitools.client.model.RecordUsage;

/** The tour of the README with the client that OpenAPI Generator makes for Java. */
public class Tour {
  public static void main(String[] args) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(args[0]);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + args[1]));
    var customers = new CustomersApi(client);
    var usage = new UsageApi(client);

    var customer =
        customers.createCustomer(
            new CreateCustomer()
                .name("Ada Lovelace")
                .email("ada@example.com")
                .metadata(Map.of("plan", "pro")),
            "tour");
    var first =
        new RecordUsage()
            .customerId(customer.getId())
            .productId("api")
            .quantity(9007199254740991L)
            .unit("call")
            .timestamp(OffsetDateTime.parse("2026-11-20T08:15:00Z"))
            .idempotencyKey("request-8f14");
    var record = usage.recordUsage(first, null);
    var again = usage.recordUsage(first, null);
    var endpoint =
        new WebhookEndpointsApi(client)
            .createWebhookEndpoint(
                new CreateWebhookEndpoint().url("http://127.0.0.1:9").eventTypes(Set.of("*")), null);
    var threshold =
        new UsageThresholdsApi(client)
            .createUsageThreshold(
                new CreateUsageThreshold()
                    .customerId(customer.getId())
                    .productId("api")
                    .unit("call")
                    .quantity(9007199254740996L)
                    .period(CreateUsageThreshold.PeriodEnum.MONTH),
                null);
    usage.recordUsage(
        new RecordUsage()
            .customerId(customer.getId())
            .productId("api")
            .quantity(5L)
            .unit("call")
            .timestamp(OffsetDateTime.parse("2026-11-20T23:30:00-05:00")),
        null);
    var summary =
        usage.summarizeUsage(
            customer.getId(), null, null, LocalDate.of(2026, 11, 1), LocalDate.of(2026, 11, 30), null, null, null, null);
    var delivery =
        new DeliveriesApi(client).listDeliveries(1, null, null, null, null, null).getData().get(0);
    var replayed = new EventsApi(client).replayEvent(delivery.getEventId(), null, null);
    var deleted = customers.deleteCustomer(customer.getId(), null);
    var mapper = new ObjectMapper();
    var missing = "";
    try {
      customers.getCustomer("cus_unknown");
    } catch (ApiException error) {
      missing = mapper.readTree(error.getResponseBody()).get("error").asText();
    }

    var output = new LinkedHashMap<String, Object>();
    output.put("customer", customer.getName());
    output.put("plan", customer.getMetadata().get("plan"));
    output.put("quantity", String.valueOf(record.getQuantity()));
    output.put("repeated", again.getId().equals(record.getId()));
    output.put("secret", endpoint.getSecret().substring(0, 6));
    output.put("threshold", String.valueOf(threshold.getQuantity()));
    output.put("total", String.valueOf(summary.getTotalQuantity()));
    output.put("unit", summary.getUnit());
    output.put("records", summary.getRecordCount());
    output.put("event", delivery.getEventType());
    output.put("replays", replayed.getData().size());
    output.put("deleted", deleted.getDeleted());
    output.put("missing", missing);
    System.out.println(mapper.writeValueAsString(output));
  }
}
