//! A database of its own in a real PostgreSQL: the one `./test` started for the whole run, or one for this process.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use tokio_postgres::NoTls;

/// How to reach it, without the name of a database.
fn address() -> &'static str {
    static SHARED: OnceLock<String> = OnceLock::new();
    static OWN: OnceLock<(Child, String)> = OnceLock::new();
    match std::env::var("COUNTERSIGN_TEST_POSTGRES") {
        Ok(address) => SHARED.get_or_init(|| address),
        // Its standard input stays open as long as this process lives, and it ends with that.
        Err(_) => &OWN.get_or_init(start).1,
    }
}

fn start() -> (Child, String) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/private-postgres");
    let started = Command::new(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = started.expect("the script that starts PostgreSQL runs");
    let mut address = String::new();
    let stdout = child.stdout.take().expect("it was asked for");
    BufReader::new(stdout).read_line(&mut address).expect("the script writes text");
    assert!(!address.is_empty(), "no PostgreSQL to test with");
    (child, address.trim().to_owned())
}

async fn run_in(database: &str, sql: &str) {
    let settings = format!("{} dbname={database}", address());
    let (client, connection) = tokio_postgres::connect(&settings, NoTls).await.expect("PostgreSQL answers");
    tokio::spawn(connection);
    client.batch_execute(sql).await.expect(sql);
}

/// Goes with its cluster, or with the run that the cluster is for.
pub struct Database {
    name: String,
}

impl Database {
    pub async fn create() -> Self {
        let name = format!("it_{}", uuid::Uuid::new_v4().simple());
        run_in("postgres", &format!("CREATE DATABASE {name}")).await;
        Self { name }
    }

    pub async fn execute(&self, sql: &str) {
        run_in(&self.name, sql).await;
    }

    /// With a password, which this server does not ask for and nobody may print.
    pub fn url(&self) -> String {
        let part = |key: &str| address().split(' ').find_map(|part| part.strip_prefix(key)).expect("it is said");
        let socket = part("host=").replace('/', "%2F");
        format!("postgres://{}:s3cret@{socket}/{}", part("user="), self.name)
    }
}
