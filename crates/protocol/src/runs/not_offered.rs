//! Requests of the protocol that a hub never grants. They are refused with the way to the same end.

pub(super) const CODE: &str = "NOT_OFFERED";

const PROVIDERS: &str = "endpoints and their keys are set under [llm] in its configuration file";
const MCP: &str = "it starts no MCP servers; leave mcpServers out of the strategy";
const PACKAGES: &str = "it installs no packages; copy the strategy file to its machine and give prepare_run the path";
const TRASH: &str = "it keeps no trash, so there is nothing to restore";

const REQUESTS: [(&str, &str); 8] = [
    ("register_provider", PROVIDERS),
    ("unregister_provider", PROVIDERS),
    ("set_credential", PROVIDERS),
    ("update_mcp_server", MCP),
    ("hub_install", PACKAGES),
    ("hub_update", PACKAGES),
    ("hub_remove", PACKAGES),
    ("trash_restore", TRASH),
];

/// The error for a request of this type, or `None` if the type is not one of these.
pub(super) fn refusal(kind: &str) -> Option<String> {
    let (name, instead) = REQUESTS.iter().find(|(name, _)| *name == kind)?;
    Some(format!("{name} is not offered by this hub: {instead}."))
}
