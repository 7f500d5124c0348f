//! Where agents come in. A door translates its wire into the core's words and back; none knows of another.

pub mod a2h;
pub mod hap;
pub mod runs;
