//! The end of credentials. A new one needs none of this: what is unknown is not kept.

use std::sync::Arc;

use countersign_store::finish::to_the_end;
use countersign_store::{Op, StoreError};

use crate::app::Hub;
use crate::peers::Signal;

impl Hub {
    /// For every operation that ends or changes credentials. Everybody hears of it, at this hub and at others, also when
    /// whoever asked for it has left and when nobody knows whether it was done.
    pub async fn end_credentials<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        let store = Arc::clone(&self.store);
        self.ending_credentials(async move { store.run(op).await }).await
    }

    /// The same, for several of them.
    pub async fn ending_credentials<T>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
    {
        let me = self.me.clone();
        let ended = async move {
            let done = work.await;
            if let Some(hub) = me.upgrade() {
                hub.credentials.clear();
                hub.peers.say(|| Signal::Credentials);
            }
            done
        };
        to_the_end(ended).await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use countersign_core::access::Role;
    use countersign_store::ops::admin::people::{AddPerson, RemovePerson};
    use countersign_store::ops::credential::{Kind, NewCredential};
    use futures_util::FutureExt;
    use tokio::time::timeout;

    use super::*;
    use crate::auth::Token;
    use crate::testing;

    #[tokio::test]
    async fn a_token_ends_although_whoever_ended_it_has_left() {
        let hub = testing::hub();
        let token = Token::new(Kind::Person).unwrap();
        let name = "alice".to_owned();
        let actor = "test".to_owned();
        let label = "token".to_owned();
        let held = NewCredential {
            hash: token.hash,
            kind: Kind::Person,
            subject: name.clone(),
            label,
            expires_at: None,
        };
        for (name, token) in [("owner".to_owned(), None), (name.clone(), Some(held))] {
            let person = AddPerson {
                name,
                role: Role::Owner,
                token,
                actor: actor.clone(),
            };
            assert!(hub.store.run(person).await.unwrap());
        }
        assert!(
            hub.credentials
                .authenticate(&hub.store, &token.text)
                .await
                .unwrap()
                .is_some()
        );
        let mut endings = hub.credentials.endings();
        // The other end closes the connection in the middle.
        let _ = hub.end_credentials(RemovePerson { name, actor }).now_or_never();
        timeout(Duration::from_secs(5), endings.changed())
            .await
            .expect("everybody hears of it")
            .unwrap();
        assert!(
            hub.credentials
                .authenticate(&hub.store, &token.text)
                .await
                .unwrap()
                .is_none()
        );
    }

    #[tokio::test]
    async fn what_may_have_ended_is_looked_up_again() {
        let hub = testing::hub();
        let endings = hub.credentials.endings();
        let unsure = async { Err::<(), _>(StoreError::Unsure("in the middle".to_owned())) };
        assert!(hub.ending_credentials(unsure).await.is_err());
        assert!(endings.has_changed().unwrap());
    }
}
