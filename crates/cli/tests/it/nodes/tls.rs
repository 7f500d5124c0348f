//! A database on another machine, as far as the hub can tell: reached by TCP and TLS, and with a password.

use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_speaks_tls_to_whom_it_can_trust_and_tells_nobody_its_password() {
    let mut postgres = OwnPostgres::start();
    let to = |how: &str| Setup::default().remembering_in(&format!("{}{how}", postgres.url()));
    let trusting = |setup: Setup, authority: &str| setup.env("SSL_CERT_FILE", authority).env("PGPASSWORD", PASSWORD);
    let refused = |setup: Setup, wanted: &str| {
        let ran = setup.refused();
        assert_ne!(ran.code, 0);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            said.contains("cannot open the database") && said.contains(wanted),
            "{wanted}: {said}"
        );
        assert!(!said.contains(PASSWORD), "{said}");
    };
    let ours = postgres.authority();
    let stranger = postgres.stranger();
    for how in ["", "?sslmode=require"] {
        refused(trusting(to(how), &stranger), "invalid peer certificate");
    }
    let mistaken = to("?sslmode=require")
        .env("SSL_CERT_FILE", &ours)
        .env("PGPASSWORD", "s3cret?");
    refused(mistaken, "password authentication failed");

    let mut hub = trusting(to("?sslmode=require"), &ours).start().await;
    let agent = hub.agent("bot").await;
    let id = agent.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    assert_eq!(agent.outcome(&id).await["status"], "answered");
    let over = |tls: bool| {
        format!(
            "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
             WHERE application_name = 'countersign' AND ssl = {tls}"
        )
    };
    assert!(
        postgres.number(&over(true)).await > 1,
        "its work, and what it hears of others"
    );
    assert_eq!(postgres.number(&over(false)).await, 0);
    assert!(hub.interrupt().success());

    let wanting = trusting(to("?sslmode=require"), &ours);
    postgres.stop();
    postgres.start_without_tls();
    refused(wanting, "TLS");
}
