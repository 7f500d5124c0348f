//! Which pushes were seen.

use std::time::Duration;

use countersign_protocol::time::Timestamp;
use rusqlite::params;

use super::{Journal, JournalError};

/// Far longer than any signature stays good.
const JTI_TTL: Duration = Duration::from_secs(24 * 3600);

impl Journal {
    /// False when it was seen before. `signed_until` is until when its signature would be taken.
    ///
    /// What is forgotten is measured from the pushes themselves, not from the clock: a clock that jumps would make us
    /// forget what is still good.
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
