//! `completions` and `man`: files for shells and for `man`, made from the command line's own description.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;
use countersign_client::screen::escape;

use super::Finished;
use crate::args::Cli;

const NAME: &str = "countersign";

pub fn completions(shell: Shell) -> Result<Finished> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut text);
    Ok(Finished::ok(String::from_utf8(text)?))
}

/// With a directory, one page per command is written there; without one, the main page is printed.
pub fn man(directory: Option<&Path>) -> Result<Finished> {
    let mut command = Cli::command();
    command.build();
    let Some(directory) = directory else {
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text)?;
        return Ok(Finished::ok(String::from_utf8(text)?));
    };
    let shown = directory.display().to_string();
    fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(command, directory))
        .with_context(|| format!("cannot write to {shown}"))?;
    Ok(Finished::ok(format!(
        "The pages are in {0}. Read them with `man -l {0}/{NAME}.1`.\n",
        escape(&shown)
    )))
}
