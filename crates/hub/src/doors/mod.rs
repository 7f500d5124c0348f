//! Doors: the protocols for agents. A door translates its wire format to core types and back; doors are independent.

pub mod a2h;
pub mod hap;
pub mod runs;
