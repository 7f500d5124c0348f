//! Revocation of credentials. New credentials need no notification, because the cache holds no misses.

use std::sync::Arc;

use countersign_store::completion::run_to_completion;
use countersign_store::{Op, StoreError};

use super::Auth;
use crate::cluster::Signal;

impl Auth {
    /// Runs an operation that revokes or changes credentials, then invalidates the caches of all nodes. It runs to
    /// completion after a disconnect, and invalidates also when the commit is unsure.
    pub async fn revoke<O: Op>(self: &Arc<Self>, op: O) -> Result<O::Out, StoreError> {
        let store = Arc::clone(&self.store);
        self.revoke_with(async move { store.run(op).await }).await
    }

    /// As `revoke`, for several operations.
    pub async fn revoke_with<T>(
        self: &Arc<Self>,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
    {
        let auth = Arc::clone(self);
        let revocation = async move {
            let done = work.await;
            auth.credentials.clear();
            auth.cluster.publish(|| Signal::Credentials);
            done
        };
        run_to_completion(revocation).await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use countersign_core::access::Role;
    use countersign_store::ops::account::credential::{CredentialKind, NewCredential};
    use countersign_store::ops::admin::AddOutcome;
    use countersign_store::ops::admin::people::{AddPerson, RemovePerson};
    use futures_util::FutureExt;
    use tokio::time::timeout;

    use super::*;
    use crate::auth::Token;
    use crate::testing;

    #[tokio::test]
    async fn revocation_completes_after_its_caller_disconnects() {
        let hub = testing::hub();
        let token = Token::new(CredentialKind::Person).unwrap();
        let name = "alice".to_owned();
        let actor = "test".to_owned();
        let label = "token".to_owned();
        let held = NewCredential {
            hash: token.hash,
            kind: CredentialKind::Person,
            subject: name.clone(),
            label,
            expires_at: None,
        };
        for (name, token) in [("owner".to_owned(), None), (name.clone(), Some(held))] {
            let person = AddPerson {
                name,
                reuse: false,
                role: Role::Owner,
                token,
                actor: actor.clone(),
            };
            assert_eq!(hub.store.run(person).await.unwrap(), AddOutcome::Added);
        }
        assert!(
            hub.auth
                .credentials
                .authenticate(&hub.store, &token.text)
                .await
                .unwrap()
                .is_some()
        );
        let mut revocations = hub.auth.credentials.revocations();
        // Dropped in the middle, as when the client disconnects.
        let _ = hub.auth.revoke(RemovePerson { name, actor }).now_or_never();
        timeout(Duration::from_secs(30), revocations.changed())
            .await
            .expect("connections are notified")
            .unwrap();
        assert!(
            hub.auth
                .credentials
                .authenticate(&hub.store, &token.text)
                .await
                .unwrap()
                .is_none()
        );
    }

    #[tokio::test]
    async fn unsure_revocation_invalidates_the_cache() {
        let hub = testing::hub();
        let revocations = hub.auth.credentials.revocations();
        let unsure = async { Err::<(), _>(StoreError::CommitUnknown("in the middle".to_owned())) };
        assert!(hub.auth.revoke_with(unsure).await.is_err());
        assert!(revocations.has_changed().unwrap());
    }
}
