//! `cueme` as an agent in a terminal runs it: the real program, a real hub, a home of its own.

mod proto;
