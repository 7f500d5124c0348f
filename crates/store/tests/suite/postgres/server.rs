//! A real PostgreSQL for tests only: the one `./test` started for the whole run, or one for this process.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// The connection settings, without the database name.
pub fn address() -> &'static str {
    static SHARED: OnceLock<String> = OnceLock::new();
    static OWN: OnceLock<(Child, String)> = OnceLock::new();
    match std::env::var("COUNTERSIGN_TEST_POSTGRES") {
        Ok(address) => SHARED.get_or_init(|| address),
        // The server stops when its standard input closes, with this process.
        Err(_) => &OWN.get_or_init(start).1,
    }
}

fn start() -> (Child, String) {
    let mut child = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/private-postgres"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the script that starts PostgreSQL runs");
    let mut address = String::new();
    let stdout = child.stdout.take().expect("it was asked for");
    BufReader::new(stdout)
        .read_line(&mut address)
        .expect("the script writes text");
    if address.is_empty() {
        let mut why = String::new();
        child
            .stderr
            .take()
            .expect("it was asked for")
            .read_to_string(&mut why)
            .expect("the script writes text");
        panic!("no PostgreSQL to test with. {why}");
    }
    (child, address.trim().to_owned())
}
