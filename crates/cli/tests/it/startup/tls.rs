use std::process::Command;

use reqwest::Client;

use crate::harness::{Process, Scratch, countersign, eventually};

/// Writes a self-signed certificate for 127.0.0.1; false without openssl on this machine.
pub fn certificate(scratch: &Scratch) -> bool {
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]);
    openssl.args([
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1,DNS:hub.example",
    ]);
    openssl.args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"]);
    openssl
        .arg(scratch.path("key.pem"))
        .arg("-out")
        .arg(scratch.path("cert.pem"));
    openssl.output().is_ok_and(|output| output.status.success())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_with_certificate_files_speaks_only_tls() {
    let scratch = Scratch::new();
    if !certificate(&scratch) {
        eprintln!("skipped: openssl is not installed");
        return;
    }
    let mut command = countersign(&scratch.home());
    command
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--public-url",
            "https://hub.example",
            "--data",
        ])
        .arg(scratch.data());
    command
        .arg("--tls-cert")
        .arg(scratch.path("cert.pem"))
        .arg("--tls-key")
        .arg(scratch.path("key.pem"));
    let process = Process::spawn(command, "");
    process.stdout_with("https://127.0.0.1:").await;
    let found = eventually("hub.json", async || {
        let text = std::fs::read_to_string(scratch.data().join("hub.json")).ok()?;
        serde_json::from_str::<serde_json::Value>(&text).ok()
    })
    .await;
    let url = found["url"].as_str().expect("a url").to_owned();
    let port: u16 = url
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok())
        .expect("a port");
    let pem = std::fs::read(scratch.path("cert.pem")).expect("the certificate");
    let root = reqwest::Certificate::from_pem(&pem).expect("a certificate");
    let client = Client::builder()
        .no_proxy()
        .tls_certs_only([root])
        .resolve("hub.example", ([127, 0, 0, 1], port).into())
        .build()
        .expect("a client");
    let health = client.get(format!("{url}/health")).send().await.expect("TLS works");
    assert_eq!(health.status().as_u16(), 200);
    const STRICT: &str = "strict-transport-security";
    assert!(
        !health.headers().contains_key(STRICT),
        "not for all ports of this machine"
    );
    for path in ["/signin", "/health", "/nowhere"] {
        let reply = client.get(format!("https://hub.example:{port}{path}")).send().await;
        let reply = reply.expect("TLS works by name");
        assert_eq!(reply.headers().get(STRICT).expect(path), "max-age=31536000");
    }
    let plain = client
        .get(format!("{}/health", url.replace("https://", "http://")))
        .send()
        .await;
    assert!(plain.is_err(), "plain HTTP is not served beside TLS");
}

#[test]
fn unreadable_certificate_files_are_an_error() {
    let setup = crate::harness::Setup::default();
    let output = setup
        .args(&["--tls-cert", "/nowhere/cert.pem", "--tls-key", "/nowhere/key.pem"])
        .refused()
        .fails(1);
    assert!(output.contains("/nowhere/cert.pem"), "{output}");
}
