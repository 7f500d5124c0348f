//! Password hashing with argon2id, on the blocking pool and few at a time, because each hash takes 19 MiB and much CPU.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use countersign_telemetry::request::error_id;
use tokio::sync::Semaphore;

use crate::problem::Problem;

const MAX_CONCURRENT: usize = 2;
/// Further requests are refused, because unauthenticated callers can request a check.
const MAX_QUEUED: usize = 64;
const MIN_CHARS: usize = 10;
const MAX_CHARS: usize = 200;
/// Checked for unknown names and people without a password, so that timing does not reveal them.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5J3Mgc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

pub struct Passwords {
    slots: Arc<Semaphore>,
    queue: Semaphore,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            slots: Arc::new(Semaphore::new(MAX_CONCURRENT)),
            queue: Semaphore::new(MAX_QUEUED),
        }
    }
}

/// Length is what makes a password strong, so there are no other rules.
pub fn check_password(person: &str, password: &str) -> Result<(), Problem> {
    let refuse = |message: &str| Err(Problem::invalid("password", message));
    match password.chars().count() {
        ..MIN_CHARS => refuse("use at least 10 characters; a few words in a row are easy to remember"),
        MIN_CHARS..=MAX_CHARS if password.to_lowercase() == person.to_lowercase() => {
            refuse("the password must not be the name; choose something harder to guess")
        }
        MIN_CHARS..=MAX_CHARS => Ok(()),
        _ => refuse("use at most 200 characters"),
    }
}

impl Passwords {
    /// Hashes a password that `check_password` accepted.
    pub async fn hash(&self, password: &str) -> Result<String, Problem> {
        let password = password.to_owned();
        self.run_blocking(move || {
            argon2id()
                .hash_password(password.as_bytes())
                .map(|hash| hash.to_string())
        })
        .await
    }

    /// Whether the password matches `stored`. Without a stored hash it takes as long and returns false.
    pub async fn matches(&self, password: &str, stored: Option<String>) -> Result<bool, Problem> {
        if password.chars().count() > MAX_CHARS {
            return Ok(false);
        }
        let password = password.to_owned();
        self.run_blocking(move || {
            let hash = PasswordHash::new(stored.as_deref().unwrap_or(DUMMY_HASH))?;
            let is_right = argon2id().verify_password(password.as_bytes(), &hash).is_ok();
            Ok(is_right && stored.is_some())
        })
        .await
    }

    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> argon2::password_hash::Result<T> + Send + 'static,
    ) -> Result<T, Problem> {
        let Ok(_queued) = self.queue.try_acquire() else {
            let message = "too many people are signing in right now; try again in a moment".to_owned();
            return Err(Problem::RateLimited {
                retry_after_seconds: 2,
                message,
            });
        };
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        // The task owns the slot, so a caller that disconnects does not free it before the work is done.
        let done = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            work()
        });
        let failed = |error: String| {
            let id = error_id();
            tracing::error!(error_id = %id, %error, "password hashing task failed");
            Problem::Unavailable { id }
        };
        done.await
            .map_err(|error| failed(error.to_string()))?
            .map_err(|error| failed(error.to_string()))
    }
}

/// The OWASP minimum. A hash records its parameters, so they can be raised without breaking older hashes.
fn argon2id() -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_matches() {
        let passwords = Passwords::default();
        let stored = passwords.hash("correct horse battery").await.unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert_ne!(
            stored,
            passwords.hash("correct horse battery").await.unwrap(),
            "each has its own salt"
        );
        assert!(
            passwords
                .matches("correct horse battery", Some(stored.clone()))
                .await
                .unwrap()
        );
        assert!(!passwords.matches("correct horse battery ", Some(stored)).await.unwrap());
    }

    #[tokio::test]
    async fn missing_password_costs_as_much_as_a_wrong_one() {
        let passwords = Passwords::default();
        let params = PasswordHash::new(DUMMY_HASH).unwrap();
        assert_eq!(Params::try_from(&params).unwrap().m_cost(), Params::DEFAULT.m_cost());
        assert!(!passwords.matches("whatever it is", None).await.unwrap());
        assert_eq!(
            passwords.slots.available_permits(),
            MAX_CONCURRENT,
            "all slots are free again"
        );
    }

    #[tokio::test]
    async fn requests_beyond_the_queue_are_refused() {
        let passwords = Passwords::default();
        let limits = (0..MAX_QUEUED + 5).map(|_| passwords.matches("whatever it is", None));
        let answers = futures_util::future::join_all(limits).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 5);
        assert!(
            passwords.matches("whatever it is", None).await.is_ok(),
            "later requests are accepted again"
        );
    }

    #[test]
    fn short_and_overlong_passwords_and_the_name_are_refused() {
        assert!(check_password("alice", "nine char").is_err());
        assert!(check_password("alice", "ten chars!").is_ok());
        assert!(
            check_password("alice", &"ü".repeat(200)).is_ok(),
            "characters are counted, not bytes"
        );
        assert!(check_password("alice", &"a".repeat(201)).is_err());
        assert!(check_password("alice.wonder", "Alice.Wonder").is_err());
    }
}
