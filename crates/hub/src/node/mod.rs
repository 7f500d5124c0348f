//! This process as a node of a shared store: its lease, the signals of other nodes, and the reconciliation for lost ones.

mod lease;
mod reconcile;
mod subscribe;

pub use lease::{enter, leave, run as lease};
pub use reconcile::run as reconcile;
pub use subscribe::run as subscribe;
