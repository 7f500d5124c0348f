//! `completions` and `man`: files for shells and for `man`, made from the command line's own description.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use countersign_client::screen::escape;

use super::Finished;
use crate::args::{Cli, grouped, groups};

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
    let main = main_page(&command)?;
    let Some(directory) = directory else {
        return Ok(Finished::ok(String::from_utf8(main)?));
    };
    let shown = directory.display().to_string();
    fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(command, directory))
        .and_then(|()| fs::write(directory.join(format!("{NAME}.1")), main))
        .with_context(|| format!("cannot write to {shown}"))?;
    Ok(Finished::ok(format!(
        "The pages are in {0}. Read them with `man -l {0}/{NAME}.1`.\n",
        escape(&shown)
    )))
}

/// The page of the program, with the commands in the groups of its help.
fn main_page(command: &Command) -> Result<Vec<u8>> {
    let man = Man::new(grouped());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    writeln!(page, ".SH COMMANDS")?;
    for (name, members) in groups(command) {
        writeln!(page, ".SS {name}")?;
        for (member, about) in members {
            writeln!(page, ".TP\n\\fB{NAME}\\-{member}\\fR(1)\n{}", about.replace('-', "\\-"))?;
        }
    }
    man.render_options_section(&mut page)?;
    man.render_extra_section(&mut page)?;
    man.render_version_section(&mut page)?;
    Ok(page)
}
