//! A database reached over TCP with TLS and a password, as if it were on another machine.

use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn tls_needs_a_trusted_certificate_and_the_password_is_never_printed() {
    let mut postgres = OwnPostgres::start();
    let with_params = |params: &str| Setup::default().database_url(&format!("{}{params}", postgres.url()));
    let trusting = |setup: Setup, ca: &str| setup.env("SSL_CERT_FILE", ca).env("PGPASSWORD", PASSWORD);
    let refused = |setup: Setup, wanted: &str| {
        let ran = setup.refused();
        assert_ne!(ran.code, 0);
        let output = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            output.contains("cannot open the database") && output.contains(wanted),
            "{wanted}: {output}"
        );
        assert!(!output.contains(PASSWORD), "{output}");
    };
    let trusted_ca = postgres.ca_path();
    let other_ca = postgres.other_ca_path();
    for params in ["", "?sslmode=require"] {
        refused(trusting(with_params(params), &other_ca), "invalid peer certificate");
    }
    let wrong_password = with_params("?sslmode=require")
        .env("SSL_CERT_FILE", &trusted_ca)
        .env("PGPASSWORD", "s3cret?");
    refused(wrong_password, "password authentication failed");

    let mut hub = trusting(with_params("?sslmode=require"), &trusted_ca).start().await;
    let agent = hub.agent("bot").await;
    let id = agent.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    assert_eq!(agent.outcome(&id).await["status"], "answered");
    let connections = |tls: bool| {
        format!(
            "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
             WHERE application_name = 'countersign' AND ssl = {tls}"
        )
    };
    assert!(
        postgres.number(&connections(true)).await > 1,
        "the pool and the LISTEN connection"
    );
    assert_eq!(postgres.number(&connections(false)).await, 0);
    assert!(hub.interrupt().success());

    let tls_required = trusting(with_params("?sslmode=require"), &trusted_ca);
    postgres.stop();
    postgres.start_without_tls();
    refused(tls_required, "TLS");
}
