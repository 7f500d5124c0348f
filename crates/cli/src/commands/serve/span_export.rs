//! Sends the spans of requests to an OpenTelemetry collector (OTLP over HTTP), set up by the usual `OTEL_*` variables.

use std::env;

use anyhow::{Context, Result};
use countersign_telemetry::request::SPAN;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

const SERVICE: &str = "countersign";

/// Sends the spans that are left when it is dropped.
pub struct SpanExport(SdkTracerProvider);

impl SpanExport {
    /// `None` if no collector is named: guessing one would fill the log of every hub without one.
    pub fn from_env() -> Result<Option<Self>> {
        let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_named = is_set(OTEL_EXPORTER_OTLP_ENDPOINT) || is_set(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
        let is_disabled = env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
        if !is_named || is_disabled {
            return Ok(None);
        }
        let exporter = SpanExporter::builder().with_http().build();
        let exporter = exporter.context("cannot set up the export of spans; check the OTEL_* variables")?;
        let resource = Resource::builder();
        let resource = match is_set("OTEL_SERVICE_NAME") {
            true => resource,
            false => resource.with_service_name(SERVICE),
        };
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .build();
        Ok(Some(Self(provider)))
    }

    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_filter(Targets::new().with_target(SPAN, Level::INFO))
    }
}

impl Drop for SpanExport {
    fn drop(&mut self) {
        // A collector that is gone gets no spans; the hub ends all the same.
        let _ = self.0.shutdown();
    }
}
