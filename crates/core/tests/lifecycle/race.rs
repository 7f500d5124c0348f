//! Races: the second command changes nothing and gets the real outcome.

use countersign_core::{Command, Message, Rejection, State};
use countersign_protocol::time::Timestamp;

use crate::scene::*;

fn rivals_for_an_ask() -> Vec<(Command, Timestamp)> {
    vec![
        (answer("approve"), EARLY),
        (decline(), EARLY),
        (Command::Cancel, EARLY),
        (Command::Expire, LATE),
    ]
}

fn rivals_for_a_task() -> Vec<(Command, Timestamp)> {
    vec![(complete(), EARLY), (dismiss(), EARLY), (Command::Expire, LATE)]
}

fn assert_first_stands(open: &Message, rivals: &[(Command, Timestamp)]) {
    for (first, first_at) in rivals {
        let terminal = resolved(open, first.clone(), *first_at);
        let State::Resolved(resolution) = &terminal.state else {
            panic!("{first:?} resolves")
        };
        for (second, _) in rivals {
            for second_at in [EARLY, EXPIRES_AT, LATE] {
                let rejection = decided(&terminal, second.clone(), second_at);
                let outcome = Rejection::already(&terminal.id, resolution);
                assert_eq!(rejection, Err(outcome), "{first:?}, then {second:?} at {second_at}");
            }
        }
    }
}

#[test]
fn the_first_terminal_of_an_ask_wins_against_every_other_command() {
    assert_first_stands(&ask(), &rivals_for_an_ask());
}

#[test]
fn the_first_terminal_of_a_task_wins_against_every_other_command() {
    assert_first_stands(&task(), &rivals_for_a_task());
}

#[test]
fn the_losing_command_gets_the_actor_and_time_of_the_winner() {
    let terminal = resolved(&ask(), decline(), EARLY);
    let rejection = decided(&terminal, Command::Cancel, EXPIRES_AT)
        .expect_err("it is over")
        .to_string();
    assert_eq!(
        rejection,
        "the message is already declined, by human:alice at 1970-01-01T00:00:05.000Z"
    );
}

#[test]
fn the_winner_carries_the_id_it_proposed() {
    for (command, at) in rivals_for_an_ask() {
        let resolution = decided(&ask(), command, at).expect("it is first");
        assert_eq!(resolution.id, resolution_id(1));
        assert_eq!(resolution.resolved_at, at);
    }
}
