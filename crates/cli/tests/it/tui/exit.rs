//! The terminal is restored, no matter how the program ends.

use super::Pane;
use crate::harness::*;

async fn assert_restored(pane: &Pane) {
    let screen = pane.shows_all(&["BEFORE", "ENDED 0", "isig icanon"]).await;
    assert!(
        !screen.contains("Waiting 0"),
        "what was there before is there again: {screen}"
    );
    assert!(!screen.contains("-icanon") && !screen.contains("-echo "), "{screen}");
    assert_eq!(pane.ask_terminal("#{alternate_on} #{cursor_flag}"), "0 1");
}

#[tokio::test(flavor = "multi_thread")]
async fn q_and_ctrl_c_restore_the_terminal() {
    let hub = Hub::start().await;
    for key in ["q", "C-c"] {
        let pane = Pane::start(&hub);
        pane.shows("Nothing waits for you.").await;
        assert_eq!(pane.ask_terminal("#{alternate_on}"), "1");
        pane.press(&[key]);
        assert_restored(&pane).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_restore_the_terminal() {
    let hub = Hub::start().await;
    for signal in ["TERM", "INT", "HUP"] {
        let pane = Pane::start(&hub);
        pane.shows("Nothing waits for you.").await;
        pane.signal(signal);
        assert_restored(&pane).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_ends_with_its_window() {
    let hub = Hub::start().await;
    let pane = Pane::start(&hub);
    pane.shows("Nothing waits for you.").await;
    let process = format!("/proc/{}", pane.close());
    eventually("the process has ended", async || {
        (!std::path::Path::new(&process).exists()).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_hub_is_reported_in_a_plain_line() {
    let mut hub = Hub::start().await;
    hub.interrupt();
    let pane = Pane::start(&hub);
    pane.shows_all(&["no hub is running on", "ENDED 1"]).await;
}
