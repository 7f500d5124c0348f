//! What owners administer: /v1/admin.

mod agents;
mod deliveries;
mod people;
mod status;

pub use agents::{
    AgentRef, AgentSecret, AgentsList, CallbacksList, IssuedCredentials, KeysList, ListedAgent, ListedCallback,
    ListedSecret, PublicKey, RenamedAgent, SecretsList,
};
pub use deliveries::{DeliveriesList, ListedDelivery, RetriedDelivery};
pub use people::{EndedToken, ListedPerson, ListedToken, NewAccess, PeopleList, PersonRef, SignInLink, TokensList};
pub use status::{AuditEntry, AuditTrail, HubFaults, HubStatus};
