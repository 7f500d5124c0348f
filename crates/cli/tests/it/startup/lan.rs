use std::net::TcpListener;

use reqwest::Client;

use crate::harness::{Process, Scratch, countersign, eventually};

/// An address that no other test listens on; the whole network 127.0.0.0/8 is this machine.
const ADDRESS: &str = "127.0.83.7";

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn serve(scratch: &Scratch, args: &[&str]) -> Process {
    let mut command = countersign(&scratch.home());
    command.arg("serve").args(args).arg("--data").arg(scratch.data());
    Process::spawn(command, "")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_reaches_the_hub_over_tls_and_local_programs_stay_on_loopback() {
    let scratch = Scratch::new();
    let port = free_port();
    let lan = format!("https://{ADDRESS}:{port}");
    let process = serve(
        &scratch,
        &["--listen", &format!("127.0.0.1:{port}"), &format!("--lan={ADDRESS}")],
    );
    let output = process.stdout_with("Ctrl-C stops the hub").await;
    assert!(
        output.contains(&format!("listening on http://127.0.0.1:{port}\n")),
        "{output}"
    );
    // An address of loopback is shown as localhost.
    let secret = output
        .split_once("/signin/")
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .unwrap_or_else(|| panic!("a link for the phone: {output}"));
    let link = format!("{lan}/signin/{secret}");
    assert!(!output.contains('█'), "no code in a pipe: {output}");
    let phone = Client::builder()
        .tls_danger_accept_invalid_certs(true)
        .tls_info(true)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let page = phone.get(&link).send().await.unwrap();
    assert_eq!(page.status(), 200);
    let info: &reqwest::tls::TlsInfo = page.extensions().get().unwrap();
    let certificate = info.peer_certificate().unwrap();
    let digest = countersign_core::Digest::of(certificate).to_string().to_uppercase();
    let shown = output
        .lines()
        .find(|line| line.matches(':').count() == 31)
        .expect("a fingerprint");
    assert_eq!(
        shown.trim().replace(':', ""),
        digest,
        "the fingerprint is that of the certificate"
    );
    let foreign = phone
        .get(format!("{lan}/health"))
        .header("Host", "evil.example")
        .send()
        .await;
    assert_eq!(foreign.unwrap().status(), 421);
    assert!(
        Client::new().get(&lan).send().await.is_err(),
        "no other program trusts the certificate"
    );
    let plain = Client::new()
        .get(format!("http://{ADDRESS}:{port}/health"))
        .send()
        .await;
    assert!(plain.is_err(), "no plain HTTP beyond loopback");
    let mut local = countersign(&scratch.home());
    local.args(["inbox", "--data"]).arg(scratch.data());
    assert_eq!(Process::spawn(local, "").finish().ok(), "Nothing waits for you.\n");
    let mut asking = countersign(&scratch.home());
    asking
        .args(["ask", "Ship?", "--confirm", "--timeout", "60s", "--data"])
        .arg(scratch.data());
    let asking = Process::spawn(asking, "");
    asking.stderr_with("Waiting for owner").await;
    let mut answering = countersign(&scratch.home());
    answering.args(["answer", "yes", "--data"]).arg(scratch.data());
    Process::spawn(answering, "").finish().ok();
    assert_eq!(asking.finish().ok(), "approve\n", "an agent here polls on loopback");
    process.signal("TERM");
    assert_eq!(process.finish().code, 0);
    eventually("the address is free again", async || {
        TcpListener::bind((ADDRESS, port)).ok()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_address_is_refused_with_a_way_out() {
    for (args, wanted) in [
        (&["--lan=203.0.113.5"][..], "tunnel"),
        (
            &["--lan=127.0.83.8", "--listen", "127.0.0.1:0"],
            "--listen must be loopback with a port",
        ),
    ] {
        let ran = serve(&Scratch::new(), args).finish();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("--lan") && ran.stderr.contains(wanted), "{ran:?}");
    }
    let both = ["--lan", "--public-url", "https://hub.example"];
    assert_eq!(serve(&Scratch::new(), &both).finish().code, 2);
}
