//! Asks at a terminal for what neither the flags nor the environment say. Tokens are not asked for: typed ones would stay
//! on the screen.

use anyhow::Result;
use countersign_client::hub::{AddressSource, HubLocation};

use super::people;
use super::plan::SmokePlan;
use crate::commands::skill::{TerminalPrompt, check_resolver};

/// `has_hub` says whether a hub runs on the data directory, `is_set` whether an environment variable has a value.
pub fn ask(
    plan: &mut SmokePlan,
    has_hub: bool,
    is_set: impl Fn(&str) -> bool,
    mut prompt: TerminalPrompt<'_>,
) -> Result<()> {
    if plan.hub.is_none() && !has_hub {
        let hub = prompt.ask("The hub to test, as in https://hub.example", None, |text| {
            HubLocation::named(text, String::new(), AddressSource::Environment)?;
            Ok(text.to_owned())
        })?;
        plan.trusted.flag = Some(hub.clone());
        plan.hub = Some(hub);
    }
    let token = &plan.settings.token_env;
    if plan.agent.is_none() && is_set(token) {
        let question = format!("The agent that {token} belongs to");
        plan.agent = Some(prompt.ask(&question, None, not_empty)?);
    }
    if plan.person.is_none() && plan.settings.resolvers.is_empty() && is_set(people::TOKEN) {
        let question = format!("The person that {} belongs to, as in human:alice", people::TOKEN);
        plan.person = Some(prompt.ask(&question, None, check_resolver)?);
    }
    Ok(())
}

fn not_empty(text: &str) -> Result<String> {
    anyhow::ensure!(!text.is_empty(), "write its id, as in shop/deploy");
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::plan::sample;
    use super::*;

    fn asked(plan: &mut SmokePlan, has_hub: bool, has_tokens: bool, typed: &str) -> (Result<()>, String) {
        let mut input = typed.as_bytes();
        let mut output = Vec::new();
        let prompt = TerminalPrompt::new(&mut input, &mut output);
        let done = ask(plan, has_hub, |_| has_tokens, prompt);
        (done, String::from_utf8(output).unwrap())
    }

    #[test]
    fn hub_agent_and_person_are_asked_for_until_they_are_valid() {
        let mut plan = sample();
        let typed = "nowhere\nhttps://hub.example\n\nshop/deploy\nalice\nhuman:alice\n";
        let (done, shown) = asked(&mut plan, false, true, typed);
        done.unwrap();
        assert_eq!(plan.hub.as_deref(), Some("https://hub.example"));
        assert_eq!(plan.trusted.flag, plan.hub, "the person named it");
        assert_eq!(plan.agent.as_deref(), Some("shop/deploy"));
        assert_eq!(plan.person.as_deref(), Some("human:alice"));
        assert_eq!(
            shown.matches("The person that COUNTERSIGN_PERSON_TOKEN").count(),
            2,
            "{shown}"
        );
    }

    #[test]
    fn what_is_known_or_not_needed_is_not_asked_for() {
        let (done, shown) = asked(&mut sample(), true, false, "");
        assert!(done.is_ok() && shown.is_empty(), "{shown}");
    }
}
