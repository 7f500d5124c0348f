//! A PostgreSQL server for a single test, with TLS and a password. The test can stop and restart it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tokio_postgres::NoTls;

pub const PASSWORD: &str = "s3cret";

pub struct OwnPostgres {
    script: Child,
    stdout: BufReader<ChildStdout>,
    /// The script exits when this pipe closes, even if the test process is killed.
    stdin: Option<ChildStdin>,
    home: PathBuf,
    port: u16,
}

impl OwnPostgres {
    pub fn start() -> Self {
        let port = free_port();
        let mut script = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/harness/tls-postgres"))
            .args([&port.to_string(), PASSWORD])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the script that starts PostgreSQL runs");
        let stdout = BufReader::new(script.stdout.take().expect("a piped stdout"));
        let stdin = script.stdin.take();
        let mut own = Self {
            script,
            stdout,
            stdin,
            home: PathBuf::new(),
            port,
        };
        own.home = PathBuf::from(own.read_reply());
        own
    }

    pub fn stop(&mut self) {
        self.send_command("stop");
    }

    pub fn start_again(&mut self) {
        self.send_command("start on");
    }

    pub fn start_without_tls(&mut self) {
        self.send_command("start off");
    }

    /// The CA that signed the server's certificate.
    pub fn ca_path(&self) -> String {
        self.file("ca.pem")
    }

    /// A CA that did not sign the server's certificate.
    pub fn other_ca_path(&self) -> String {
        self.file("other.pem")
    }

    /// The connection URL, without the password.
    pub fn url(&self) -> String {
        format!("postgres://countersign@127.0.0.1:{}/postgres", self.port)
    }

    /// Queries a number over the Unix socket, as an operator with a shell would.
    pub async fn number(&self, sql: &str) -> i64 {
        let address = format!(
            "host={} port={} user=countersign dbname=postgres",
            self.home.display(),
            self.port
        );
        let (client, connection) = tokio_postgres::connect(&address, NoTls)
            .await
            .expect("PostgreSQL answers");
        tokio::spawn(connection);
        client.query_one(sql, &[]).await.expect("a number").get(0)
    }

    fn file(&self, name: &str) -> String {
        self.home.join(name).display().to_string()
    }

    fn send_command(&mut self, command: &str) {
        let stdin = self.stdin.as_mut().expect("stdin stays open until drop");
        writeln!(stdin, "{command}").expect("the script reads");
        assert_eq!(self.read_reply(), "done");
    }

    fn read_reply(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("the script writes text");
        if line.is_empty() {
            let mut why = String::new();
            let stderr = self.script.stderr.as_mut().expect("a piped stderr");
            stderr.read_to_string(&mut why).expect("the script writes text");
            panic!("no PostgreSQL to test with. {why}");
        }
        line.trim().to_owned()
    }
}

impl Drop for OwnPostgres {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // On EOF the script stops the server and removes its directory.
        drop(self.script.wait());
    }
}

/// A port below the ephemeral range, so that the system does not hand it out while the server is stopped.
fn free_port() -> u16 {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let mut guesses =
        std::iter::repeat_with(|| 20_000 + u16::try_from(uuid::Uuid::new_v4().as_u128() % 10_000).unwrap());
    guesses.find(is_free).expect("a free port")
}
