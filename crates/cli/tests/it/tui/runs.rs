//! Runs in a real terminal: prompts, typed text, remote answers and outages.

use serde_json::{Value, json};

use super::pane::{Pane, PaneOptions};
use crate::harness::*;
use crate::runs::inbox::id_of;
use crate::runs::stage::*;

fn started(hub: &Hub, strategy: &Value) -> Pane {
    let file = strategy_file(hub, strategy).display().to_string();
    PaneOptions::owner(hub)
        .command("run")
        .args(&format!("{file} --run-id r1"))
        .size(100, 50)
        .start()
}

fn two_people() -> Value {
    sequence(json!({"first": person(), "second": person()}), &["first", "second"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_in_the_terminal_of_its_run() {
    let hub = Hub::start().await;
    let agents = json!({"draft": template("Draft\u{1b}[2J: {{input}}"), "editor": person()});
    let pane = started(&hub, &sequence(agents, &["draft", "editor"]));
    pane.shows("Your answer (one line").await;
    pane.write("fine\n");
    let screen = pane
        .shows_all(&["BEFORE", "  | Draft\\u{1b}[2J:", "Run r1 completed", "ENDED 0"])
        .await;
    assert!(
        screen.contains("completed\nfine\nENDED"),
        "the result comes last: {screen}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_answer_withdraws_the_prompt_and_the_typed_text() {
    let hub = Hub::start().await;
    let pane = started(&hub, &two_people());
    pane.shows_all(&["first needs your input", "Your answer"]).await;
    pane.write("half a");
    pane.shows("half a").await;
    hub.owner
        .answer(&id_of(&hub, "r1").await, "from the desk")
        .await
        .expect(200);
    let screen = pane
        .shows_all(&["first no longer needs an answer from here", "second needs your input"])
        .await;
    assert!(screen.contains("  | from the desk"), "{screen}");
    eventually("the second prompt", async || {
        (pane.text().matches("Your answer").count() == 2).then_some(())
    })
    .await;
    pane.write(" whole one\n");
    let screen = pane.shows("ENDED 0").await;
    assert!(
        screen.contains("completed\n whole one\nENDED"),
        "nothing of the first is in the second: {screen}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn text_typed_before_a_question_does_not_answer_it() {
    let hub = Setup::default().config("[runs]\ncommands = \"allow\"\n").start().await;
    let mut latch = Latch::new(&hub, "latch");
    let agents = json!({"work": command("cat", &[latch.path()]), "asks": person()});
    let pane = started(&hub, &sequence(agents, &["work", "asks"]));
    latch.until_reached().await;
    pane.write("too early\n");
    pane.shows("too early").await;
    latch.release();
    pane.shows("Your answer").await;
    pane.write("in time\n");
    let screen = pane.shows("ENDED 0").await;
    assert!(screen.contains("completed\nin time\nENDED"), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_leaves_the_run_running_and_it_can_be_followed_again() {
    let hub = Hub::start().await;
    let pane = started(&hub, &talk());
    pane.shows("Your answer").await;
    pane.write("half");
    pane.press(&["C-c"]);
    let screen = pane
        .shows_all(&[
            "Run r1 continues.",
            "countersign runs follow r1",
            "ENDED 14",
            "isig icanon",
        ])
        .await;
    assert!(!screen.contains("-icanon") && !screen.contains("-echo "), "{screen}");
    let again = PaneOptions::owner(&hub)
        .command("runs")
        .args("follow r1")
        .size(100, 50)
        .start();
    again.shows("Your answer").await;
    again.write("whole\n");
    again.shows("ENDED 0").await;
    assert_eq!(hub.cli(&["runs", "follow", "r1"]).ok(), "whole\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_d_ends_the_answers_from_this_terminal() {
    let hub = Hub::start().await;
    let pane = started(&hub, &talk());
    pane.shows("Your answer").await;
    pane.press(&["C-d"]);
    let id = id_of(&hub, "r1").await;
    let screen = pane
        .shows_all(&[
            "Questions are no longer answered here",
            &format!("countersign answer {id} TEXT"),
        ])
        .await;
    assert!(
        screen.contains("\nQuestions are no longer answered here"),
        "on a line of its own: {screen}"
    );
    hub.owner.answer(&id, "from the desk").await.expect(200);
    pane.shows_all(&["Run r1 completed", "from the desk", "ENDED 0"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_typed_while_the_hub_is_away_is_sent_when_it_is_back() {
    let mut hub = Hub::start().await;
    let pane = started(&hub, &talk());
    pane.shows("Your answer").await;
    let lines = |count: usize| {
        let pane = &pane;
        eventually("the lines are taken", async move || {
            (pane.text().matches("\n>").count() == count).then_some(())
        })
    };
    pane.write("\"\"\"\n");
    lines(1).await;
    pane.write("one\n");
    lines(2).await;
    hub.kill();
    pane.shows("waiting for the hub").await;
    lines(3).await;
    pane.write("two\n\"\"\"\n");
    hub.restart().await;
    pane.shows_all(&["The hub is back", "ENDED 0"]).await;
    assert_eq!(hub.cli(&["runs", "follow", "r1"]).ok(), "one\ntwo\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_half_line_cleared_by_a_lost_hub_is_not_sent() {
    let mut hub = Hub::start().await;
    let pane = started(&hub, &talk());
    pane.shows("Your answer").await;
    pane.write("hello");
    pane.shows("several): hello").await;
    hub.kill();
    let prompts = |count: usize| {
        let pane = &pane;
        eventually("the prompt again", async move || {
            (pane.text().matches("Your answer").count() == count).then_some(())
        })
    };
    prompts(2).await;
    pane.write(" wor");
    pane.shows("several):  wor").await;
    hub.restart().await;
    pane.shows("The hub is back").await;
    prompts(3).await;
    pane.write("ld\n");
    pane.shows("ENDED 0").await;
    assert_eq!(
        hub.cli(&["runs", "follow", "r1"]).ok(),
        "ld\n",
        "what the last line showed"
    );
}

/// Waits until a client has sent bytes that the stopped hub has not read.
async fn unread_bytes(hub: &Hub) {
    let (_, port) = hub.url.rsplit_once(':').expect("an address");
    let suffix = format!(":{:04X}", port.parse::<u16>().expect("a port"));
    eventually("bytes in the queue of the hub's socket", async || {
        let table = std::fs::read_to_string("/proc/net/tcp").expect("Linux");
        let is_unread = |line: &str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            matches!(fields[..], [_, local, _, "01", queues, ..] if local.ends_with(&suffix) && !queues.ends_with(":00000000"))
        };
        table.lines().any(is_unread).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_did_not_reach_the_hub_is_sent_again() {
    let mut hub = Hub::start().await;
    let pane = started(&hub, &talk());
    pane.shows("Your answer").await;
    hub.process().signal("STOP");
    pane.write("once\n");
    // The echo on the screen comes from the terminal, perhaps before the program has read the line.
    unread_bytes(&hub).await;
    hub.kill();
    pane.shows("Ctrl-C leaves").await;
    hub.restart().await;
    let screen = pane.shows("ENDED 0").await;
    assert_eq!(
        screen.matches("Your answer").count(),
        1,
        "it is not asked again: {screen}"
    );
    assert_eq!(hub.cli(&["runs", "follow", "r1"]).ok(), "once\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_live_inbox_takes_an_empty_answer_after_a_second_enter() {
    let hub = Hub::start().await;
    let file = strategy_file(&hub, &review()).display().to_string();
    hub.cli(&["run", &file, "--input", "fish", "--run-id", "r1", "--no-wait"])
        .ok();
    let pane = Pane::start(&hub);
    pane.shows("editor · Test strategy · text").await;
    pane.open("Draft: fish").await;
    pane.shows("from editor in run r1 of Test strategy").await;
    pane.press(&["Enter", "Enter"]);
    pane.shows("Enter again sends an empty answer").await;
    pane.press(&["Enter"]);
    pane.shows_all(&["answered by owner at", "the run has it"]).await;
    assert_eq!(hub.cli(&["runs", "follow", "r1"]).ok(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_quotes_are_an_empty_answer_in_prompt_mode() {
    let hub = Hub::start().await;
    let file = strategy_file(&hub, &review()).display().to_string();
    hub.cli(&["run", &file, "--input", "fish", "--run-id", "r1", "--no-wait"])
        .ok();
    let pane = PaneOptions::owner(&hub).args("--plain").size(100, 50).start();
    pane.shows("     editor, text, waiting").await;
    pane.write("1\n");
    pane.shows("Your answer (one line, \"\" for an empty one; an empty line goes back):")
        .await;
    pane.write("\"\"\n");
    pane.shows("Comment").await;
    pane.write("\n");
    pane.shows("the run has it").await;
    assert_eq!(hub.cli(&["runs", "follow", "r1"]).ok(), "");
}
