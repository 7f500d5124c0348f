use crate::harness::*;

/// The session id of a process, from /proc.
fn session_of(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a running process");
    // The process name may contain spaces and parentheses, so split at the last `)`.
    let (_, after) = stat.rsplit_once(')').expect("a name");
    after
        .split_whitespace()
        .nth(3)
        .and_then(|session| session.parse().ok())
        .expect("a session")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_detached_hub_has_its_own_session_and_stops_normally() {
    let plain = Hub::start().await;
    assert_eq!(session_of(plain.process().id()), session_of(std::process::id()));
    let mut hub = Setup::default().args(&["--detached"]).start().await;
    let pid = hub.process().id();
    assert_eq!(session_of(pid), pid);
    assert!(hub.interrupt().success());
}
