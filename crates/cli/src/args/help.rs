//! The help of the program: commands in groups, and examples.

use clap::{Command, CommandFactory};

use super::Cli;

/// Every command is in one group.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Answer", &["inbox", "answer", "show", "terminals", "ahead"]),
    (
        "Ask",
        &[
            "ask", "notify", "task", "wait", "cancel", "receive", "verify", "seal", "open", "journal",
        ],
    ),
    ("Connect", &["agent", "secret", "skill", "smoke", "demo"]),
    ("Run", &["run", "runs"]),
    (
        "Administer",
        &[
            "serve",
            "doctor",
            "person",
            "delivery",
            "key",
            "audit",
            "store",
            "completions",
            "man",
        ],
    ),
];

const MAIN: &str = "Examples:
  countersign                            start the hub and print a link to its inbox
  countersign ask \"Ship 1.7?\" --confirm && ./deploy
  countersign answer last yes";

pub const SERVE: &str = "Examples:
  countersign serve                                  on this machine only
  countersign serve --lan                            for a phone in the same network
  countersign serve --public-url https://hub.example behind a proxy that serves TLS";

pub const INBOX: &str = "Examples:
  countersign inbox                      the live list
  countersign inbox --table              numbered rows, for `countersign answer NUMBER`
  countersign inbox --json --limit 10    for scripts";

pub const ANSWER: &str = "Examples:
  countersign answer yes                 the only item that waits
  countersign answer 2 no --comment \"after the freeze\"
  countersign answer last --text \"dry wit\"
  countersign answer msg_01m7ps4q --field region=eu --field size=3
  countersign answer 1 --done --check 1 --check 2";

pub const SHOW: &str = "Examples:
  countersign show last                  the newest item
  countersign show msg_01m7ps4q --json   with its audit trail";

pub const TERMINALS: &str = "Examples:
  countersign terminals
  countersign terminals --json           with every id, for scripts";

pub const AHEAD: &str = "Examples:
  countersign ahead tavomiru \"then run the tests\"
  countersign ahead tavomiru             what is queued
  countersign ahead tavomiru --drop 4";

pub const ASK: &str = "Examples:
  countersign ask \"What tone should the release notes have?\"
  countersign ask \"Ship to production?\" --confirm && ./deploy
  countersign ask \"Which region?\" --select eu=Europe --select us=\"United States\"
  countersign ask \"Ship?\" --confirm --expires 1h --default no

Exit codes:
   0  answered; for a confirm: yes
   1  the command failed
   2  wrong usage
  10  a confirm was answered with no, or in other words
  11  skipped (declined)
  12  expired, with or without a default
  13  cancelled
  14  still open when --timeout ran out";

pub const NOTIFY: &str = "Examples:
  countersign notify \"Deployed 1.7\" --body \"No errors in 10 minutes.\"
  ./report | countersign notify \"Nightly report\" --body-file -";

pub const TASK: &str = "Examples:
  countersign task \"Renew the certificate\" --instructions \"Follow the runbook.\" \\
    --checklist \"Order it\" --checklist \"Install it\"

It exits with 0 when the task is done, and with 11 when the person can't do it. `countersign ask --help` has all codes.";

pub const WAIT: &str = "Examples:
  countersign wait msg_01m7ps4q9hephbnrbmj6ccc97z
  countersign wait release-1.7 --timeout 10m --exec ./deploy

The exit codes are those of `countersign ask`.";

pub const CANCEL: &str = "Examples:
  countersign cancel msg_01m7ps4q9hephbnrbmj6ccc97z
  countersign cancel release-1.7         by the key it was sent with";

pub const VERIFY: &str = "Examples:
  countersign verify --url https://bot.example/resume --header \"A2H-Signature: t=1794796629,jti=…,v1=…\" < body.json";

pub const SEAL: &str = "Examples:
  countersign seal --bind deploybot release-1.7 < state.json > state";

pub const OPEN: &str = "Examples:
  countersign open --bind deploybot release-1.7 < state";

pub const RECEIVE: &str = "Examples:
  countersign receive --listen 127.0.0.1:9000 --url https://bot.example/resume --exec ./resume.sh";

pub const JOURNAL: &str = "Examples:
  countersign journal                    what was sent from here
  countersign journal forget msg_01m7ps4q9hephbnrbmj6ccc97z";

pub const RUN: &str = "Examples:
  countersign run review.yaml --input \"the draft\"
  countersign run review.yaml --no-wait";

pub const RUNS: &str = "Examples:
  countersign runs --all
  countersign runs follow 464058a6-e4e1-4d73-80ab-80a2549fd8a9
  countersign runs stop 464058a6-e4e1-4d73-80ab-80a2549fd8a9";

pub const AGENT: &str = "Examples:
  countersign agent add shop/deploy
  countersign agent list";

pub const PERSON: &str = "Examples:
  countersign person add ann --role resolver
  countersign person link ann            a link that signs Ann in";

pub const SECRET: &str = "Examples:
  countersign secret set deploybot env:HOOK_SECRET < token.txt
  countersign secret list";

pub const SKILL: &str = "Examples:
  countersign skill build                asks for what is missing
  countersign skill check .claude/skills/acme-ask";

pub const SMOKE: &str = "Examples:
  countersign smoke                      the hub on this machine
  countersign smoke --skill .claude/skills/acme-ask";

pub const DEMO: &str = "Examples:
  countersign demo                       until Ctrl-C
  countersign demo --once                each agent asks once";

pub const DOCTOR: &str = "Examples:
  countersign doctor
  countersign doctor --config hub.toml";

pub const DELIVERY: &str = "Examples:
  countersign delivery list --state failed
  countersign delivery retry msg_01m7ps4q9hephbnrbmj6ccc97z";

pub const KEY: &str = "Examples:
  countersign key rotate";

pub const AUDIT: &str = "Examples:
  countersign audit verify
  countersign audit verify --store /backup/hub.db";

pub const STORE: &str = "Examples:
  countersign store copy --from /var/lib/countersign --to postgres://countersign@db.example/hub";

pub const MAN: &str = "Examples:
  countersign man | man -l -
  countersign man ~/.local/share/man/man1";

pub const COMPLETIONS: &str = "Examples:
  countersign completions bash > ~/.local/share/bash-completion/completions/countersign
  countersign completions zsh > ~/.zfunc/_countersign
  countersign completions fish > ~/.config/fish/completions/countersign.fish";

/// The command line whose help has the commands in groups. They are hidden from clap's own flat list, which comes with
/// the headings of the options.
pub fn grouped() -> Command {
    let command = <Cli as CommandFactory>::command();
    let commands: String = groups(&command).map(|(name, members)| group(name, &members)).collect();
    command
        .after_help(MAIN)
        .mut_subcommands(|command| command.hide(true))
        .override_usage("countersign [OPTIONS] [COMMAND]")
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{{all-args}}{{after-help}}\n\n\
             `countersign help COMMAND` has examples.\n"
        ))
}

/// The groups, each with the names of its commands and what they do.
pub fn groups(command: &Command) -> impl Iterator<Item = (&'static str, Vec<(&'static str, String)>)> {
    GROUPS.into_iter().map(|(name, members)| {
        let about = |member| command.find_subcommand(member).and_then(Command::get_about);
        let line = |member: &&'static str| (*member, about(*member).map(ToString::to_string).unwrap_or_default());
        (name, members.iter().map(line).collect())
    })
}

fn group(name: &str, members: &[(&str, String)]) -> String {
    let line = |(member, about): &(&str, String)| format!("  {member:<12} {about}\n");
    let lines: String = members.iter().map(line).collect();
    format!("{name}:\n{lines}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = <Cli as CommandFactory>::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, members)| members.iter().copied()).collect();
        grouped.sort_unstable();
        let mut all: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn every_command_has_an_example_in_its_help_and_the_program_has_three() {
        let mut program = grouped();
        for command in program.get_subcommands() {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let call = format!("  countersign {}", command.get_name());
            assert!(
                text.starts_with("Examples:\n") && text.contains(&call),
                "{}: {text}",
                command.get_name()
            );
        }
        let text = program.render_help().to_string();
        let examples = text
            .split_once("Examples:\n")
            .map(|(_, after)| after)
            .unwrap_or_default();
        let count = examples
            .lines()
            .filter(|line| line.starts_with("  countersign"))
            .count();
        assert_eq!(count, 3, "{text}");
    }

    #[test]
    fn global_options_come_last() {
        let text = grouped().render_help().to_string();
        let place = |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("{wanted}: {text}"));
        assert!(place("Answer:\n  inbox") < place("Ask:\n  ask") && place("Ask:\n") < place("Administer:\n"));
        assert!(place("--listen <ADDR>") < place("Global options:"));
        let mut command = grouped();
        command.build();
        let ask = command
            .find_subcommand_mut("ask")
            .map(|ask| ask.render_help().to_string())
            .unwrap();
        let place = |wanted: &str| ask.find(wanted).unwrap_or_else(|| panic!("{wanted}: {ask}"));
        assert!(place("--timeout") < place("Global options:"), "{ask}");
        assert!(place("Global options:") < place("--json"));
        assert!(ask.contains("  10  a confirm was answered with no"), "{ask}");
    }
}
