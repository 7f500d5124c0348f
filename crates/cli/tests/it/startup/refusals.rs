use crate::harness::{Hub, Process, Scratch, Setup, countersign};

#[test]
fn plain_http_beyond_this_machine_is_refused() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let output = Setup::default().args(&["--listen", address]).refused().fails(1);
        assert!(
            output.contains("allow-plain-http") || output.contains("tls"),
            "it says what would help: {output}"
        );
    }
    let output = Setup::default()
        .config("listen = \"0.0.0.0:0\"\n")
        .args(&["--listen", "0.0.0.0:0"])
        .refused();
    output.fails(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_beyond_this_machine_is_possible_with_a_flag() {
    let scratch = Scratch::new();
    let mut command = countersign(&scratch.home());
    command
        .args(["serve", "--listen", "0.0.0.0:0", "--allow-plain-http", "--data"])
        .arg(scratch.data());
    let process = Process::spawn(command, "");
    process.stdout_with("http://").await;
    process.signal("TERM");
    assert_eq!(process.finish().code, 0);
}

#[test]
fn loopback_callbacks_and_a_public_address_exclude_each_other() {
    let args = [
        "--listen",
        "0.0.0.0:0",
        "--allow-plain-http",
        "--allow-loopback-callbacks",
    ];
    let output = Setup::default().args(&args).refused().fails(1);
    assert!(output.contains("loopback"), "{output}");
    let config = "allow_loopback_callbacks = true\nallow_plain_http = true\n";
    let output = Setup::default()
        .config(config)
        .args(&["--listen", "0.0.0.0:0"])
        .refused()
        .fails(1);
    assert!(output.contains("loopback"), "{output}");
}

#[test]
fn an_unknown_setting_is_refused_by_name() {
    for (config, name) in [
        ("retention_dayz = 3\n", "retention_dayz"),
        ("[limits]\nrequests_per_hour = 3\n", "requests_per_hour"),
        ("[push]\nlegacy = \"maybe\"\n", "legacy"),
        ("retention_days = \"many\"\n", "retention_days"),
    ] {
        let output = Setup::default().config(config).refused().fails(1);
        assert!(output.contains(name), "{output}");
        assert!(output.contains("config.toml"), "it names the file: {output}");
    }
}

#[test]
fn a_missing_config_file_is_an_error() {
    let output = Setup::default()
        .args(&["--config", "/nowhere/config.toml"])
        .refused()
        .fails(1);
    assert!(output.contains("/nowhere/config.toml"), "{output}");
}

#[test]
fn unknown_flags_are_usage_errors() {
    Setup::default().args(&["--listenn", "x"]).refused().fails(2);
}

#[test]
fn a_certificate_needs_its_key() {
    let ran = Setup::default().args(&["--tls-cert", "cert.pem"]).refused();
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("tls-key"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explicit_listen_address_in_use_is_an_error() {
    let hub = Hub::start().await;
    let address = hub.url.trim_start_matches("http://").to_owned();
    let output = Setup::default().args(&["--listen", &address]).refused().fails(1);
    assert!(output.contains(&address), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_override_the_config_file() {
    let config = "public_url = \"https://file.example\"\n";
    let hub = Setup::default()
        .config(config)
        .args(&["--public-url", "https://flag.example"])
        .start()
        .await;
    let status = hub.owner.get("/v1/admin/status").await.expect(200);
    assert_eq!(status["public_url"], "https://flag.example");
}
