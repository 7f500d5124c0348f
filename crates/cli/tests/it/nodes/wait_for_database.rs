//! A hub that is started before its PostgreSQL.

use crate::harness::*;

fn away(postgres: &OwnPostgres) -> Setup {
    Setup::default()
        .database_url(&format!("{}?sslmode=disable", postgres.url()))
        .env("PGPASSWORD", PASSWORD)
}

#[tokio::test(flavor = "multi_thread")]
async fn hub_waits_for_its_database_says_so_once_and_serves() {
    let mut postgres = OwnPostgres::start();
    postgres.stop();
    let scratch = Scratch::new();
    let process = away(&postgres).spawn(&scratch, "127.0.0.1:0");
    let stderr = process.stderr_with("database unreachable; waiting for it").await;
    let server = postgres
        .url()
        .replace("postgres://countersign@", "")
        .replace("/postgres", "");
    let wanted = format!("PostgreSQL at {server}, database postgres, user countersign: ");
    assert!(stderr.contains(&wanted), "{stderr}");
    assert!(!scratch.data().join("hub.json").exists(), "it does not serve yet");
    postgres.start_again();
    let (process, url, _owner) = ready(process, &scratch).await;
    assert_eq!(Api::anonymous(&url).get("/ready").await.status, 200);
    let stderr = process.output();
    assert_eq!(stderr.matches("waiting for it").count(), 1, "{stderr}");
    assert!(!stderr.contains(PASSWORD), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_ends_a_hub_that_waits_for_its_database() {
    let mut postgres = OwnPostgres::start();
    postgres.stop();
    let scratch = Scratch::new();
    let process = away(&postgres).spawn(&scratch, "127.0.0.1:0");
    process.stderr_with("waiting for it").await;
    process.signal("TERM");
    assert_eq!(process.finish().code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_the_database_ends_with_an_error() {
    let mut postgres = OwnPostgres::start();
    postgres.stop();
    let server = format!("PostgreSQL at {}", &postgres.url()["postgres://countersign@".len()..])
        .replace("/postgres", ", database postgres, user countersign");
    let limited = |setup: Setup| {
        let ran = setup.refused();
        assert_eq!(ran.code, 1);
        assert!(
            ran.stderr
                .contains("error: cannot open the database: no connection within 1 s: ")
                && ran.stderr.contains(&server)
                && ran.stderr.contains("waiting for it"),
            "{}",
            ran.stderr
        );
    };
    limited(away(&postgres).args(&["--wait-for-database", "1s"]));
    limited(away(&postgres).config("wait_for_database_seconds = 1\n"));

    let ran = away(&postgres).args(&["--wait-for-database", "0"]).refused();
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains(&server) && !ran.stderr.contains("waiting for it"),
        "{}",
        ran.stderr
    );
    let ran = away(&postgres).args(&["--wait-for-database", "soon"]).refused();
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("write it as 90s, 10m, 2h or 3d"), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn error_that_time_does_not_cure_ends_the_start_at_once() {
    let postgres = OwnPostgres::start();
    let url = postgres.url();
    let server = format!(
        "PostgreSQL at {}, ",
        &url["postgres://countersign@".len()..].replace("/postgres", "")
    );
    let plain = format!("{url}?sslmode=disable");
    for (url, password, wanted) in [
        (
            plain.clone(),
            "wr0ng",
            [server.as_str(), "password authentication failed"],
        ),
        (
            plain.replace("/postgres?", "/missing?"),
            PASSWORD,
            ["database missing, user countersign: ", "does not exist"],
        ),
        (
            format!("{url}?sslmode=verify-full"),
            PASSWORD,
            ["`sslmode`", "use disable, prefer or require"],
        ),
    ] {
        let ran = Setup::default()
            .database_url(&url)
            .env("PGPASSWORD", password)
            .refused();
        assert_eq!(ran.code, 1);
        assert!(
            wanted.iter().all(|wanted| ran.stderr.contains(wanted)),
            "{}",
            ran.stderr
        );
        assert!(
            !ran.stderr.contains("waiting for it") && !ran.stderr.contains(password),
            "{}",
            ran.stderr
        );
    }
}
