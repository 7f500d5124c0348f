//! The journal between real processes: one that is killed while it acts, and several that race for an action.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};

use countersign_agent::{Claim, Journal};

use crate::scratch::Scratch;

const JOURNAL: &str = "COUNTERSIGN_TEST_JOURNAL";

/// The child process: this test binary, running only this test. The first line on stdin makes it claim the action and
/// print the result; the second line makes it finish.
#[test]
#[ignore = "started as a child process by the other tests"]
fn child() {
    let Some(file) = std::env::var_os(JOURNAL) else { return };
    let mut orders = std::io::stdin().lines();
    orders.next();
    let journal = Journal::open(Path::new(&file)).unwrap();
    let begun = journal.begin("msg_1", "res_1").unwrap();
    // Stdout belongs to the test runner.
    eprintln!("begun {}", name(&begun));
    if orders.next().is_some()
        && let Claim::Go(reservation) = begun
    {
        journal.finish(reservation, true).unwrap();
        eprintln!("finished");
        orders.next();
    }
}

fn name(claim: &Claim) -> &'static str {
    match claim {
        Claim::Go(_) => "go",
        Claim::AlreadyDone { ok: true } => "done",
        Claim::AlreadyDone { ok: false } => "failed",
        Claim::Interrupted => "interrupted",
        Claim::UnderWay => "under way",
        Claim::Other => "other",
    }
}

struct Actor {
    process: Child,
    orders: ChildStdin,
    stderr: std::io::Lines<BufReader<ChildStderr>>,
}

impl Actor {
    fn start(journal: &Path) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "processes::child"])
            .env(JOURNAL, journal)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = process.stdin.take().unwrap();
        let stderr = BufReader::new(process.stderr.take().unwrap()).lines();
        Self {
            process,
            orders,
            stderr,
        }
    }

    fn order(&mut self) {
        self.orders.write_all(b"go on\n").unwrap();
    }

    fn next_line(&mut self) -> String {
        self.stderr.next().expect("the child ended without a word").unwrap()
    }

    fn begin(&mut self) -> String {
        self.order();
        self.next_line()
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_process_killed_while_it_acts_leaves_an_interrupted_action() {
    let scratch = Scratch::new();
    let file = scratch.file("journal.db");
    let mut actor = Actor::start(&file);
    assert_eq!(actor.begin(), "begun go");
    let journal = Journal::open(&file).unwrap();
    assert!(matches!(journal.begin("msg_1", "res_1").unwrap(), Claim::UnderWay));
    assert!(journal.forget("msg_1").is_err(), "it is alive");
    actor.process.kill().unwrap();
    // Stderr closes when the child is dead. The child was not waited for yet, so its pid is still in use.
    assert!(actor.stderr.next().is_none());
    while journal.action("msg_1").unwrap().unwrap().under_way {
        std::thread::yield_now();
    }
    assert!(matches!(journal.begin("msg_1", "res_1").unwrap(), Claim::Interrupted));
    drop(actor);
    assert!(matches!(journal.begin("msg_1", "res_1").unwrap(), Claim::Interrupted));
    assert_eq!(Actor::start(&file).begin(), "begun interrupted");
    assert_eq!(journal.forget("msg_1"), Ok(true));
    let mut next = Actor::start(&file);
    assert_eq!(next.begin(), "begun go");
    next.order();
    assert_eq!(next.next_line(), "finished");
    drop(next);
    assert_eq!(Actor::start(&file).begin(), "begun done");
}

#[test]
fn processes_that_race_for_an_action_find_one_winner() {
    let scratch = Scratch::new();
    // The file does not exist yet, so the processes also race to create it.
    let file = scratch.file("new/journal.db");
    let mut actors: Vec<Actor> = (0..6).map(|_| Actor::start(&file)).collect();
    actors.iter_mut().for_each(Actor::order);
    let mut text: Vec<String> = actors.iter_mut().map(Actor::next_line).collect();
    text.sort();
    assert_eq!(text[0], "begun go");
    assert!(text[1..].iter().all(|word| word == "begun under way"), "{text:?}");
}
