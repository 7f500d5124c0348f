//! The pages of docs/ do what they say: the commands of the tutorial and of the recipes run in a real shell and print what
//! is shown, and every link leads somewhere.

#![cfg(test)]

mod links;
mod page;
mod pattern;
mod reader;
mod recipes;
mod scratch;
mod terminal;
mod tutorial;
