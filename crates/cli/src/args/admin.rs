//! The commands that need the owner's rights.

use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Add an agent; prints its token and signing key, once.
    Add {
        /// The agent's id, as in `agent.id` of what it sends.
        id: String,
        /// How answers pushed to this agent are signed.
        #[arg(long, value_enum, value_name = "ALG")]
        signature_alg: Option<SignatureAlgArg>,
        /// Take the id of a removed agent: the new one gets its messages and their answers.
        #[arg(long)]
        reuse: bool,
    },
    /// List the agents.
    List,
    /// Give an agent the name that people see; commands keep its id.
    Rename {
        /// The agent's id.
        id: String,
        /// The new name; an empty one restores the automatic name.
        name: String,
    },
    /// Give an agent a new token and signing key; the old token stays valid for a while, the old key until the first
    /// call with the new token.
    Rotate {
        /// The agent.
        id: String,
        /// How long the old token stays valid, and the old key at most [default: one day]
        #[arg(long, value_name = "SECONDS")]
        overlap_seconds: Option<u64>,
    },
    /// Remove an agent: its tokens stop working.
    Remove {
        /// The agent.
        id: String,
    },
    /// The hosts an agent may have its answers pushed to.
    #[command(subcommand)]
    Callback(CallbackCommand),
}

#[derive(Debug, Subcommand)]
pub enum CallbackCommand {
    /// Register a host; it waits for approval.
    Add {
        /// The agent.
        agent: String,
        /// `name`, `name:port`, an IPv4 address or `[ipv6]`; without a port it stands for every port.
        host: String,
    },
    /// Approve a host, registered or not.
    Approve {
        /// The agent.
        agent: String,
        /// The host, written as for `add`.
        host: String,
    },
    /// List the hosts of one agent, or of all.
    List {
        /// The agent.
        agent: Option<String>,
    },
    /// Remove a host: nothing is pushed there any more.
    Remove {
        /// The agent.
        agent: String,
        /// The host, written as for `add`.
        host: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum SecretCommand {
    /// Store a secret; its value is read from standard input.
    Set {
        /// The agent whose callbacks may name it.
        agent: String,
        /// The name, as in `secret_ref` or `token_ref`.
        name: String,
        /// The value; other users of this machine can see it in the process list, so prefer standard input.
        #[arg(long)]
        value: Option<String>,
    },
    /// List the names of the secrets of one agent, or of all.
    List {
        /// The agent.
        agent: Option<String>,
    },
    /// Remove a secret.
    Remove {
        /// The agent.
        agent: String,
        /// The name of the secret.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum PersonCommand {
    /// Add a person; prints the access token, once.
    Add {
        /// The name; the person acts as `human:NAME`.
        name: String,
        /// What the person may do.
        #[arg(long, value_enum)]
        role: Option<RoleArg>,
        /// Take the name of a removed person: the new one may answer open asks that name it.
        #[arg(long)]
        reuse: bool,
    },
    /// List the people.
    List,
    /// Make another access token for a person; prints it, once.
    Token {
        /// The person.
        name: String,
        /// For agents in the person's terminals: it asks and waits, and can do nothing in the person's name.
        #[arg(long)]
        terminal: bool,
        /// What it is for, to know it again in lists [default: its kind and the date]
        #[arg(long, value_name = "TEXT")]
        label: Option<String>,
    },
    /// List a person's tokens and those of their terminals.
    Tokens {
        /// The person.
        name: String,
    },
    /// Revoke a token and close its connections.
    TokenEnd {
        /// The person.
        name: String,
        /// The token, by its id in `person tokens`.
        id: String,
    },
    /// Make a one-time link that signs a person in, in a browser; it replaces the one made before.
    Link {
        /// The person.
        name: String,
    },
    /// Remove a person; their tokens stop working.
    Remove {
        /// The person.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum DeliveryCommand {
    /// List deliveries, the latest first.
    List {
        /// Only those in this state.
        #[arg(long, value_enum)]
        state: Option<DeliveryStateArg>,
        /// At most so many.
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Try a delivery again, with a fresh set of attempts.
    Retry {
        /// The message whose answer is to be delivered.
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a new Ed25519 key; the old one stays published for a while.
    Rotate {
        /// How long the old key stays published.
        #[arg(long, value_name = "SECONDS")]
        overlap_seconds: Option<u64>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SignatureAlgArg {
    HmacSha256,
    Ed25519,
}

impl SignatureAlgArg {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HmacSha256 => "hmac-sha256",
            Self::Ed25519 => "ed25519",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::from_str(text, false).ok()
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum RoleArg {
    /// Administers the hub and answers.
    Owner,
    /// Answers.
    Resolver,
    /// Looks.
    Viewer,
}

impl RoleArg {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Resolver => "resolver",
            Self::Viewer => "viewer",
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DeliveryStateArg {
    Pending,
    Delivered,
    Failed,
}

impl DeliveryStateArg {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }
}
