//! The policy of a run: commands allowed without asking, and commands denied.

use std::fmt;

use countersign_protocol::runs::{PolicyDefault, PolicyMode, UpdatePolicy};
use serde::{Deserialize, Serialize};

/// The only tool a policy covers.
pub const TOOL: &str = "command";
const MAX_RULES: usize = 200;
/// Bound over all rules: every change is broadcast and stored with the full list.
const MAX_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    allow: Vec<Rule>,
    deny: Vec<Rule>,
    default: Judgement,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    Allow,
    Deny,
    Ask,
    /// No rule and no default: the operator's setting applies.
    #[default]
    Unsaid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a run's policy holds at most {MAX_RULES} rules of {MAX_BYTES} bytes together; use a wildcard")]
pub struct TooManyRules;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Rule {
    /// A prefix of the command that ends at a space or at its end; with wildcards, the whole command.
    Pattern(String),
    /// One exact command, as shown to a person; `*` has no special meaning.
    Exactly(String),
}

impl Policy {
    /// Judges a command as people see it, program and arguments. A deny rule wins over everything.
    pub fn judge(&self, resource: &str) -> Judgement {
        let says = |rules: &[Rule]| rules.iter().any(|rule| rule.covers(resource));
        if says(&self.deny) {
            Judgement::Deny
        } else if says(&self.allow) {
            Judgement::Allow
        } else {
            self.default
        }
    }

    /// Returns true if the policy changed. Changes for another tool are accepted and ignored. So are changes for reading:
    /// a command may do more than read.
    pub fn update(&mut self, change: &UpdatePolicy) -> Result<bool, TooManyRules> {
        let is_ours = change.tool.as_deref().is_none_or(|tool| tool == TOOL);
        match change.mode {
            PolicyMode::Read => return Ok(false),
            PolicyMode::Write if !is_ours => return Ok(false),
            PolicyMode::Write => {}
        }
        let mut changed = self.clone();
        change
            .allow
            .iter()
            .for_each(|pattern| changed.put(Rule::Pattern(pattern.clone()), true));
        change
            .deny
            .iter()
            .for_each(|pattern| changed.put(Rule::Pattern(pattern.clone()), false));
        if changed.is_too_large() {
            return Err(TooManyRules);
        }
        changed.default = change.default.map_or(self.default, Judgement::from);
        let is_different = *self != changed;
        *self = changed;
        Ok(is_different)
    }

    /// Stores a person's decision about one command. If the policy is full, the person is asked again next time.
    pub fn remember(&mut self, resource: &str, allow: bool) {
        let mut changed = self.clone();
        changed.put(Rule::Exactly(resource.to_owned()), allow);
        if !changed.is_too_large() {
            *self = changed;
        }
    }

    fn is_too_large(&self) -> bool {
        let rules = || self.allow.iter().chain(&self.deny);
        rules().count() > MAX_RULES || rules().map(Rule::bytes).sum::<usize>() > MAX_BYTES
    }

    /// Descriptions for people, deny rules first, in the order of evaluation.
    pub fn names(&self) -> Vec<String> {
        let named =
            |verb: &'static str, rules: &[Rule]| rules.iter().map(|rule| format!("{verb} {rule}")).collect::<Vec<_>>();
        let mut names = named("deny", &self.deny);
        names.extend(named("allow", &self.allow));
        names.push(format!("default {}", self.default.as_str()));
        names
    }

    /// The latest decision about the same rule wins.
    fn put(&mut self, rule: Rule, allow: bool) {
        let (own, other) = if allow {
            (&mut self.allow, &mut self.deny)
        } else {
            (&mut self.deny, &mut self.allow)
        };
        other.retain(|earlier| *earlier != rule);
        if !own.contains(&rule) {
            own.push(rule);
        }
    }
}

impl Judgement {
    fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Unsaid => "as the hub is set",
        }
    }
}

impl From<PolicyDefault> for Judgement {
    fn from(default: PolicyDefault) -> Self {
        match default {
            PolicyDefault::Allow => Self::Allow,
            PolicyDefault::Deny => Self::Deny,
            PolicyDefault::Ask => Self::Ask,
        }
    }
}

impl Rule {
    fn bytes(&self) -> usize {
        match self {
            Self::Pattern(text) | Self::Exactly(text) => text.len(),
        }
    }

    fn covers(&self, resource: &str) -> bool {
        match self {
            Self::Exactly(command) => command == resource,
            Self::Pattern(pattern) if pattern.contains('*') => matches_whole(pattern, resource),
            Self::Pattern(pattern) => resource
                .strip_prefix(pattern.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(pattern) => f.write_str(pattern),
            Self::Exactly(command) => write!(f, "exactly {command}"),
        }
    }
}

/// A wildcard, single or doubled, matches any text. Taking the first match of each piece is enough, because the next
/// piece may be anywhere after it.
fn matches_whole(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let (Some(first), Some(last)) = (pieces.next(), pieces.next_back()) else {
        return pattern == text;
    };
    let Some(rest) = text.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    let mut rest = Some(rest);
    for piece in pieces {
        rest = rest.and_then(|rest| rest.split_once(piece)).map(|(_, behind)| behind);
    }
    rest.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(allow: &[&str], deny: &[&str], default: Option<PolicyDefault>) -> UpdatePolicy {
        let owned = |patterns: &[&str]| patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let allow = owned(allow);
        let deny = owned(deny);
        UpdatePolicy {
            run_id: "r".to_owned(),
            tool: None,
            mode: PolicyMode::Write,
            allow,
            deny,
            default,
        }
    }

    fn policy(allow: &[&str], deny: &[&str]) -> Policy {
        let mut policy = Policy::default();
        policy.update(&change(allow, deny, None)).expect("few rules");
        policy
    }

    #[test]
    fn an_empty_policy_leaves_it_to_the_operator_and_default_ask_does_not() {
        let mut policy = Policy::default();
        assert_eq!(policy.judge("git status"), Judgement::Unsaid);
        assert_eq!(policy.names(), ["default as the hub is set"]);
        policy
            .update(&change(&[], &[], Some(PolicyDefault::Ask)))
            .expect("few rules");
        assert_eq!(policy.judge("git status"), Judgement::Ask);
        assert_eq!(policy.names(), ["default ask"]);
    }

    #[test]
    fn a_pattern_is_a_program_or_a_command_prefix() {
        let policy = policy(&["git", "npm run test"], &[]);
        for command in ["git", "git push --force", "npm run test", "npm run test -- x"] {
            assert_eq!(policy.judge(command), Judgement::Allow, "{command}");
        }
        for command in [
            "",
            "gitx",
            "git-evil push",
            "/tmp/git push",
            "npm run tests",
            "npm",
            "sudo git",
        ] {
            assert_eq!(policy.judge(command), Judgement::Unsaid, "{command}");
        }
    }

    #[test]
    fn a_wildcard_pattern_matches_the_whole_command() {
        let covered = |pattern: &str, command: &str| policy(&[pattern], &[]).judge(command) == Judgement::Allow;
        for (pattern, command) in [
            ("*", ""),
            ("**", "rm -rf /"),
            ("git *", "git add src/a.rs"),
            ("* --help", "tar --help"),
            ("a*b*c", "abxbc"),
            ("*ab*ab*", "abab"),
            ("a*", "a"),
            ("/usr/**/git *", "/usr/local/bin/git log"),
        ] {
            assert!(covered(pattern, command), "{pattern} {command}");
        }
        for (pattern, command) in [
            ("git *", "git"),
            ("a*a", "a"),
            ("a*b*c", "acb"),
            ("*ab*ab*", "aba"),
            ("git *", "xgit y"),
            ("*x", "xy"),
        ] {
            assert!(!covered(pattern, command), "{pattern} {command}");
        }
    }

    #[test]
    fn a_deny_rule_wins_over_everything() {
        let mut policy = policy(&["*"], &["rm"]);
        policy.remember("rm -rf /", true);
        assert_eq!(policy.judge("rm -rf /"), Judgement::Deny);
        assert_eq!(policy.judge("ls"), Judgement::Allow);
        policy
            .update(&change(&[], &["*"], Some(PolicyDefault::Allow)))
            .expect("few rules");
        assert_eq!(policy.judge("ls"), Judgement::Deny);
    }

    #[test]
    fn the_latest_decision_about_a_rule_wins() {
        let mut policy = policy(&[], &["git"]);
        policy
            .update(&change(&["git"], &[], Some(PolicyDefault::Deny)))
            .expect("few rules");
        assert_eq!(
            (policy.judge("git log"), policy.judge("ls")),
            (Judgement::Allow, Judgement::Deny)
        );
        policy.update(&change(&["git"], &["git"], None)).expect("few rules");
        assert_eq!(policy.names(), ["deny git", "default deny"]);
    }

    #[test]
    fn a_remembered_decision_covers_one_exact_command() {
        let mut policy = Policy::default();
        policy.remember("ls *", true);
        assert_eq!(
            (policy.judge("ls *"), policy.judge("ls /etc")),
            (Judgement::Allow, Judgement::Unsaid)
        );
        policy.remember("ls *", false);
        assert_eq!(policy.judge("ls *"), Judgement::Deny);
        assert_eq!(policy.names(), ["deny exactly ls *", "default as the hub is set"]);
    }

    #[test]
    fn changes_for_reading_or_other_tools_allow_no_command() {
        let all = change(&["**"], &[], Some(PolicyDefault::Allow));
        let mut policy = Policy::default();
        policy
            .update(&UpdatePolicy {
                mode: PolicyMode::Read,
                ..all.clone()
            })
            .expect("few rules");
        policy
            .update(&UpdatePolicy {
                tool: Some("write_file".to_owned()),
                ..all.clone()
            })
            .expect("few rules");
        assert_eq!(policy, Policy::default());
        policy
            .update(&UpdatePolicy {
                tool: Some(TOOL.to_owned()),
                ..all
            })
            .expect("few rules");
        assert_eq!(policy.judge("ls"), Judgement::Allow);
    }

    #[test]
    fn the_number_of_rules_is_bounded() {
        let patterns: Vec<String> = (0..=MAX_RULES).map(|number| number.to_string()).collect();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let mut policy = policy(&patterns[1..], &[]);
        let before = policy.clone();
        assert_eq!(
            policy.update(&change(&[], &[patterns[0]], Some(PolicyDefault::Allow))),
            Err(TooManyRules)
        );
        policy.remember("ls", true);
        assert_eq!(policy, before);
    }

    #[test]
    fn the_total_size_of_rules_is_bounded() {
        let long = "x".repeat(MAX_BYTES / 4);
        let patterns: Vec<String> = ["a", "b", "c", "d"]
            .map(|letter| format!("{letter}{}", &long[1..]))
            .into();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let mut policy = policy(&patterns, &[]);
        let before = policy.clone();
        assert_eq!(policy.update(&change(&["e"], &[], None)), Err(TooManyRules));
        policy.remember("ls", true);
        assert_eq!(policy, before);
        assert_eq!(
            policy.update(&change(&[], &patterns[..1], None)),
            Ok(true),
            "an existing rule may change sides"
        );
    }

    #[test]
    fn an_update_reports_whether_it_changed_anything() {
        let mut policy = policy(&["git"], &["rm"]);
        for (next, is_different) in [
            (change(&["git"], &["rm"], None), false),
            (change(&[], &[], Some(PolicyDefault::Ask)), true),
            (change(&[], &[], Some(PolicyDefault::Ask)), false),
            (change(&[], &[], None), false),
            (
                UpdatePolicy {
                    mode: PolicyMode::Read,
                    ..change(&["ls"], &[], None)
                },
                false,
            ),
            (
                UpdatePolicy {
                    tool: Some("write_file".to_owned()),
                    ..change(&["ls"], &[], None)
                },
                false,
            ),
            (change(&[], &[], Some(PolicyDefault::Deny)), true),
            (change(&["rm"], &[], None), true),
        ] {
            assert_eq!(policy.update(&next), Ok(is_different), "{next:?}");
        }
    }

    #[test]
    fn a_policy_survives_the_round_trip() {
        let mut policy = policy(&["git *"], &["rm"]);
        policy.remember("ls", true);
        let text = serde_json::to_string(&policy).expect("a policy can be written");
        assert_eq!(serde_json::from_str::<Policy>(&text).expect("and read"), policy);
    }
}
