//! The journal within one process.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use countersign_agent::{ActionState, Claim, Journal, JournalError, Kind, StoredDraft, Timestamp};

use crate::scratch::Scratch;

const HUB: &str = "https://hub.example";

fn go(journal: &Journal, message: &str, resolution: &str) -> countersign_agent::Reservation {
    match journal.begin(message, resolution).unwrap() {
        Claim::Go(reservation) => reservation,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_its_owner_can_read_the_file() {
    let scratch = Scratch::new();
    let file = scratch.file("deep/er/journal.db");
    let journal = Journal::open(&file).unwrap();
    journal.see_jti("jti_1", Timestamp::from_millis(0)).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    let files: Vec<_> = std::fs::read_dir(file.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files.len(), 3, "the database and its write-ahead log: {files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600));
}

#[test]
fn access_of_other_users_is_removed() {
    let scratch = Scratch::new();
    let file = scratch.file("journal.db");
    drop(Journal::open(&file).unwrap());
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    Journal::open(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_action_is_under_way_while_its_worker_process_runs() {
    let scratch = Scratch::new();
    let journal = Journal::open(&scratch.file("journal.db")).unwrap();
    let mut worker = std::process::Command::new("cat")
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let reservation = go(&journal, "msg_1", "res_1");
    journal.set_worker(&reservation, worker.id()).unwrap();
    // Simulates the death of this process.
    drop(reservation);
    assert!(matches!(journal.begin("msg_1", "res_1").unwrap(), Claim::UnderWay));
    assert!(matches!(journal.forget("msg_1"), Err(JournalError::UnderWay(_))));
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert!(matches!(journal.begin("msg_1", "res_1").unwrap(), Claim::Interrupted));
    assert!(journal.forget("msg_1").unwrap());
}

#[test]
fn stored_bytes_are_never_replaced() {
    let scratch = Scratch::new();
    let file = scratch.file("journal.db");
    let journal = Journal::open(&file).unwrap();
    let store = |hub, key, agent, bytes| journal.store_draft(hub, key, agent, Kind::Ask, bytes).unwrap();
    assert_eq!(store(HUB, "key", "bot", b"{ \"a\":1.50 }"), StoredDraft::New);
    assert_eq!(store(HUB, "key", "bot", b"{ \"a\":1.50 }"), StoredDraft::Same);
    assert_eq!(store(HUB, "key", "bot", b"{\"a\":1.5}"), StoredDraft::Other);
    assert_eq!(store(HUB, "key", "other bot", b"1"), StoredDraft::New);
    assert_eq!(store("https://other.example", "key", "bot", b"2"), StoredDraft::New);
    let again = Journal::open(&file).unwrap();
    assert_eq!(again.bytes(HUB, "bot", "key").unwrap().unwrap(), b"{ \"a\":1.50 }");
    assert_eq!(again.bytes(HUB, "other bot", "key").unwrap().unwrap(), b"1");
    assert_eq!(again.bytes(HUB, "bot", "other key").unwrap(), None);
}

#[test]
fn a_ticket_is_found_by_message_and_by_key() {
    let scratch = Scratch::new();
    let journal = Journal::open(&scratch.file("journal.db")).unwrap();
    journal.store_draft(HUB, "key", "bot", Kind::Task, b"{}").unwrap();
    let open = journal.ticket("key").unwrap().unwrap();
    assert_eq!((open.kind, open.message_id, open.poll_url), (Kind::Task, None, None));
    journal
        .acknowledge(
            HUB,
            "bot",
            "key",
            "msg_1",
            "https://hub.example/v1/messages/msg_1?x=%2f",
        )
        .unwrap();
    let ticket = journal.ticket("msg_1").unwrap().unwrap();
    assert_eq!(ticket, journal.ticket("key").unwrap().unwrap());
    assert_eq!(
        ticket.poll_url.as_deref(),
        Some("https://hub.example/v1/messages/msg_1?x=%2f")
    );
    assert_eq!(
        (ticket.idempotency_key.as_str(), ticket.agent_id.as_str()),
        ("key", "bot")
    );
    assert_eq!(journal.ticket("msg_2").unwrap(), None);
    // A key equal to the id of another message does not hide that message.
    journal.store_draft(HUB, "msg_1", "bot", Kind::Ask, b"{}").unwrap();
    assert_eq!(journal.ticket("msg_1").unwrap().unwrap(), ticket);
    let keys = |limit| {
        journal
            .tickets(limit)
            .unwrap()
            .into_iter()
            .map(|ticket| ticket.idempotency_key)
    };
    assert_eq!(keys(9).collect::<Vec<_>>(), ["msg_1", "key"]);
    assert_eq!(keys(1).collect::<Vec<_>>(), ["msg_1"]);
    assert_eq!(keys(usize::MAX).count(), 2);
    let unknown = journal.acknowledge(HUB, "bot", "no such key", "msg_9", "https://hub.example/");
    assert!(matches!(unknown, Err(JournalError::NoSuchDraft { .. })));
}

#[test]
fn an_action_is_done_once() {
    let scratch = Scratch::new();
    let file = scratch.file("journal.db");
    let journal = Journal::open(&file).unwrap();
    let reservation = go(&journal, "msg_1", "res_1");
    assert_eq!(
        (reservation.message_id(), reservation.resolution_id()),
        ("msg_1", "res_1")
    );
    assert!(matches!(journal.begin("msg_1", "res_1").unwrap(), Claim::UnderWay));
    assert!(matches!(journal.begin("msg_1", "res_2").unwrap(), Claim::Other));
    journal.finish(reservation, true).unwrap();
    journal.finish(go(&journal, "msg_2", "res_1"), false).unwrap();
    let again = Journal::open(&file).unwrap();
    assert!(matches!(
        again.begin("msg_1", "res_1").unwrap(),
        Claim::AlreadyDone { ok: true }
    ));
    assert!(matches!(
        again.begin("msg_2", "res_1").unwrap(),
        Claim::AlreadyDone { ok: false }
    ));
    assert!(matches!(again.begin("msg_1", "res_2").unwrap(), Claim::Other));
    let actions = again.actions(9).unwrap();
    let seen: Vec<_> = actions
        .iter()
        .map(|action| (action.message_id.as_str(), action.state, action.under_way))
        .collect();
    assert_eq!(
        seen,
        [
            ("msg_2", ActionState::Failed, false),
            ("msg_1", ActionState::Done, false)
        ]
    );
    assert!(actions.iter().all(|action| action.ended_at >= Some(action.begun_at)));
}

#[test]
fn a_dropped_reservation_shows_as_interrupted() {
    let scratch = Scratch::new();
    let journal = Journal::open(&scratch.file("journal.db")).unwrap();
    drop(go(&journal, "msg_1", "res_1"));
    assert!(matches!(journal.begin("msg_1", "res_1").unwrap(), Claim::Interrupted));
    let action = journal.action("msg_1").unwrap().unwrap();
    assert_eq!(
        (action.state, action.under_way, action.ended_at),
        (ActionState::Reserved, false, None)
    );
    let panicked = std::thread::spawn({
        let journal = journal.clone();
        move || {
            let _held = go(&journal, "msg_2", "res_1");
            panic!("in the middle of the work");
        }
    });
    assert!(panicked.join().is_err());
    assert!(matches!(journal.begin("msg_2", "res_1").unwrap(), Claim::Interrupted));
}

#[test]
fn only_interrupted_or_failed_actions_can_be_forgotten() {
    let scratch = Scratch::new();
    let journal = Journal::open(&scratch.file("journal.db")).unwrap();
    assert_eq!(journal.forget("msg_1"), Ok(false));
    let first = go(&journal, "msg_1", "res_1");
    assert_eq!(journal.forget("msg_1"), Err(JournalError::UnderWay("msg_1".to_owned())));
    drop(first);
    assert_eq!(journal.forget("msg_1"), Ok(true));
    journal.finish(go(&journal, "msg_1", "res_1"), false).unwrap();
    assert_eq!(journal.forget("msg_1"), Ok(true));
    journal.finish(go(&journal, "msg_1", "res_1"), true).unwrap();
    assert_eq!(journal.forget("msg_1"), Err(JournalError::Done("msg_1".to_owned())));
}

#[test]
fn a_jti_is_new_once_and_stored_while_its_signature_is_valid() {
    let scratch = Scratch::new();
    let file = scratch.file("journal.db");
    let journal = Journal::open(&file).unwrap();
    let start = Timestamp::from_millis(1_749_050_910_000);
    let hours = |hours: u64| start.plus(Duration::from_secs(hours * 3600));
    assert!(journal.see_jti("jti_1", start).unwrap());
    assert!(!journal.see_jti("jti_1", start).unwrap());
    assert!(!Journal::open(&file).unwrap().see_jti("jti_1", hours(1)).unwrap());
    assert!(journal.see_jti("jti_2", hours(23)).unwrap());
    assert!(!journal.see_jti("jti_1", start).unwrap());
    assert!(journal.see_jti("jti_3", hours(25)).unwrap());
    assert!(
        journal.see_jti("jti_1", hours(25)).unwrap(),
        "a day later it is forgotten: nothing would verify by then"
    );
    assert!(!journal.see_jti("jti_2", hours(25)).unwrap());
}

#[test]
fn another_file_is_not_taken_for_a_journal() {
    let scratch = Scratch::new();
    let text = scratch.file("notes.txt");
    std::fs::write(&text, "not a database at all, but long enough to look at ".repeat(40)).unwrap();
    assert!(matches!(Journal::open(&text), Err(JournalError::NotAJournal(_))));
    let foreign = scratch.file("hub.db");
    let connection = rusqlite::Connection::open(&foreign).unwrap();
    connection
        .execute_batch("CREATE TABLE messages (id TEXT); PRAGMA user_version = 1;")
        .unwrap();
    assert!(matches!(Journal::open(&foreign), Err(JournalError::NotAJournal(_))));
    assert!(matches!(
        Journal::open(scratch.path()),
        Err(JournalError::Unavailable(_))
    ));
    let newer = scratch.file("newer.db");
    drop(Journal::open(&newer).unwrap());
    rusqlite::Connection::open(&newer)
        .unwrap()
        .execute_batch("PRAGMA user_version = 2")
        .unwrap();
    assert!(matches!(
        Journal::open(&newer),
        Err(JournalError::NewerSchema { found: 2, known: 1 })
    ));
}

#[test]
fn threads_that_race_for_an_action_find_one_winner() {
    let scratch = Scratch::new();
    let file = scratch.file("journal.db");
    let gate = std::sync::Barrier::new(8);
    let begun: Vec<Claim> = std::thread::scope(|scope| {
        let race = || {
            gate.wait();
            Journal::open(&file).unwrap().begin("msg_1", "res_1").unwrap()
        };
        let racers: Vec<_> = (0..8).map(|_| scope.spawn(race)).collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    assert_eq!(
        begun.iter().filter(|begin| matches!(begin, Claim::Go(_))).count(),
        1,
        "{begun:?}"
    );
    assert_eq!(
        begun.iter().filter(|begin| matches!(begin, Claim::UnderWay)).count(),
        7,
        "{begun:?}"
    );
}
