//! Replay protection: the jtis of received pushes.

use std::time::Duration;

use countersign_protocol::time::Timestamp;
use rusqlite::params;

use super::{Journal, JournalError};

/// Far longer than any signature stays valid.
const JTI_TTL: Duration = Duration::from_secs(24 * 3600);

impl Journal {
    /// Records a jti; returns false if it was seen before. `signed_until` is the end of its signature's validity.
    ///
    /// Old jtis expire relative to the pushes and not to the clock: a clock that jumps ahead would drop jtis whose
    /// signatures are still valid.
    pub fn see_jti(&self, jti: &str, signed_until: Timestamp) -> Result<bool, JournalError> {
        self.write(|transaction| {
            let row = params![jti, signed_until.as_millis()];
            let sql = "INSERT INTO jtis (jti, signed_until) VALUES (?1, ?2) ON CONFLICT (jti) DO NOTHING";
            let new = transaction.execute(sql, row)? == 1;
            let cutoff = signed_until.minus(JTI_TTL).as_millis();
            transaction.execute("DELETE FROM jtis WHERE signed_until < ?1", [cutoff])?;
            Ok(new)
        })
    }
}
