//! End-to-end tests of the real binary: every test starts its own hub on its own data and talks to it over HTTP and
//! the command line, without mocks.

#![cfg(test)]

mod agent;
mod auth;
mod browser;
mod cli;
mod crash;
mod cueme;
mod damage;
mod discovery;
mod earlier;
mod guide;
mod hap;
mod harness;
mod hostile;
mod limits;
mod live;
mod logs;
mod nodes;
mod process;
mod pull;
mod push;
mod race;
mod resolve;
mod runs;
mod skill;
mod startup;
mod store_copy;
mod submit;
mod telemetry;
mod tui;
mod undo;
mod web;
