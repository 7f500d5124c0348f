//! A reader who does what a page says, in as many terminals as it names.

use std::collections::BTreeMap;

use crate::page::{Step, blocks};
use crate::scratch::Scratch;
use crate::terminal::Terminal;

pub struct Reader {
    terminals: BTreeMap<String, Terminal>,
    scratch: Scratch,
}

impl Reader {
    pub fn new(name: &str) -> Self {
        Self {
            terminals: BTreeMap::new(),
            scratch: Scratch::new(name),
        }
    }

    /// Writes an executable script to the reader's working directory.
    pub fn write_script(&mut self, name: &str, text: &str) {
        let write = format!("cat >{name} <<'SCRIPT'\n{text}\nSCRIPT\nchmod +x {name}");
        self.run("main", &write, "");
    }

    pub fn run(&mut self, terminal: &str, command: &str, shown: &str) {
        self.terminal(terminal).run(&on_a_free_port(command), shown);
    }

    /// Follows the page to its end, and returns the number of commands.
    pub fn follow(&mut self, page: &str) -> usize {
        let mut commands = 0;
        for block in blocks(page) {
            for step in block.steps() {
                match step {
                    Step::Run { command, shown } => {
                        commands += 1;
                        self.run(&block.terminal, &command, &shown);
                    }
                    Step::Look { shown } => self.terminal(&block.terminal).look(&shown),
                }
            }
        }
        commands
    }

    /// Every command has ended as the page shows it, after Ctrl-C in the terminal of the hub.
    pub fn finish(mut self) {
        let hub = self.terminals.remove("hub");
        for terminal in self.terminals.values_mut() {
            terminal.finish(true);
        }
        if let Some(mut hub) = hub {
            hub.look("^C\nShutting down: releasing waiting agents, finishing open requests.");
            hub.finish(true);
        }
    }

    fn terminal(&mut self, name: &str) -> &mut Terminal {
        let scratch = &self.scratch;
        let open = || Terminal::open(name, scratch);
        self.terminals.entry(name.to_owned()).or_insert_with(open)
    }
}

/// Other tests may use the default port at the same time.
fn on_a_free_port(command: &str) -> String {
    match command {
        "countersign serve" => format!("{command} --listen 127.0.0.1:0"),
        _ => command.to_owned(),
    }
}
