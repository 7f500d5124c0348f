use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn span_of_a_request_reaches_the_collector() {
    let collector = Receiver::start().await;
    let hub = Setup::default()
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url(""))
        .env("OTEL_BSP_SCHEDULE_DELAY", "100")
        .start()
        .await;
    let bot = hub.agent("bot").await;
    let submitted = bot.submit(&ask("bot")).await;
    let id = submitted.header("x-request-id").to_owned();
    // The payload is protobuf, which holds texts as they are.
    let has_span = |push: &Push| push.path == "/v1/traces" && push.text().contains(&id);
    let exported = collector.until("the span", |all| all.iter().any(has_span)).await;
    let export = exported.iter().find(|push| has_span(push)).expect("the span");
    assert_eq!(export.header("content-type"), "application/x-protobuf");
    for text in ["/v1/messages", "http.route", "countersign", "service.name"] {
        assert!(export.text().contains(text), "{text} in {}", export.text());
    }
    assert!(!export.text().contains(&bot.token));
}
