//! The terminal is given back as it was, however the program ends.

use super::Pane;
use crate::harness::*;

async fn given_back(pane: &Pane) {
    let screen = pane.shows_all(&["BEFORE", "ENDED 0", "isig icanon"]).await;
    assert!(
        !screen.contains("Waiting 0"),
        "what was there before is there again: {screen}"
    );
    assert!(!screen.contains("-icanon") && !screen.contains("-echo "), "{screen}");
    assert_eq!(pane.ask_terminal("#{alternate_on} #{cursor_flag}"), "0 1");
}

#[tokio::test(flavor = "multi_thread")]
async fn q_and_ctrl_c_give_the_terminal_back() {
    let hub = Hub::start().await;
    for key in ["q", "C-c"] {
        let pane = Pane::of(&hub);
        pane.shows("Nothing waits for you.").await;
        assert_eq!(pane.ask_terminal("#{alternate_on}"), "1");
        pane.press(&[key]);
        given_back(&pane).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_give_the_terminal_back() {
    let hub = Hub::start().await;
    for signal in ["TERM", "INT", "HUP"] {
        let pane = Pane::of(&hub);
        pane.shows("Nothing waits for you.").await;
        pane.signal(signal);
        given_back(&pane).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_with_its_window() {
    let hub = Hub::start().await;
    let pane = Pane::of(&hub);
    pane.shows("Nothing waits for you.").await;
    let process = format!("/proc/{}", pane.close());
    eventually("the process has ended", async || {
        (!std::path::Path::new(&process).exists()).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_hub_it_says_so_in_a_plain_line() {
    let mut hub = Hub::start().await;
    hub.interrupt();
    let pane = Pane::of(&hub);
    pane.shows_all(&["no hub is running on", "ENDED 1"]).await;
}
