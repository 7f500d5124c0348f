//! subscribe: following a run from now on, or from a given seq.

use std::sync::Arc;

use countersign_store::StoreError;
use countersign_store::ops::run::RunEvents;

use super::client::RunClient;
use super::subscription::{SubscribeOutcome, Subscription};
use crate::refusal::RunRefusal;
use crate::run::TrackedRun;
use crate::service::RunService;

const PAGE_SIZE: i64 = 1000;

impl RunService {
    pub async fn subscribe(
        self: &Arc<Self>,
        client: &Arc<RunClient>,
        run_id: &str,
        (after, extensions): (Option<u64>, bool),
        request_id: Option<&str>,
    ) -> Result<(), RunRefusal> {
        let find = async || self.find_run(run_id).await?.ok_or(RunRefusal::NotFound);
        let mut run = find().await?;
        let mut turn = None;
        let mut subscription = Subscription {
            after,
            extensions,
            ..Subscription::default()
        };
        loop {
            match run.subscribe(client, &subscription) {
                SubscribeOutcome::Done | SubscribeOutcome::Stale => return Ok(()),
                SubscribeOutcome::Gone => run = find().await?,
                SubscribeOutcome::Missing { up_to } => {
                    if turn.is_none() {
                        turn = self.registry.replays.acquire().await.ok();
                    }
                    self.read_earlier(&run, &mut subscription, up_to, request_id).await?;
                }
                SubscribeOutcome::TooManyFollowedRuns => return Err(RunRefusal::TooManyFollowedRuns),
            }
        }
    }

    /// Reads events that are no longer in memory. If retention removed some, the client is told the first available
    /// seq.
    async fn read_earlier(
        self: &Arc<Self>,
        run: &TrackedRun,
        subscription: &mut Subscription,
        up_to: u64,
        request_id: Option<&str>,
    ) -> Result<(), StoreError> {
        let after = subscription.after.unwrap_or_default();
        if subscription.first.is_empty()
            && let Some(first) = self.first_kept(run).await?
            && first > after + 1
        {
            let message = format!("Events before {first} are no longer kept; the first available seq is {first}");
            let reply = countersign_protocol::runs::RunReply::error("REPLAY_TRUNCATED", message);
            subscription
                .first
                .push(reply.frame(self.store.clock().now(), request_id).into());
        }
        let mut behind = after.max(subscription.earlier_to);
        while behind < up_to {
            let page = self
                .store
                .run(RunEvents {
                    run_id: run.id.clone(),
                    after: behind,
                    limit: PAGE_SIZE,
                })
                .await?;
            let Some(last) = page.last() else { break };
            behind = last.seq;
            subscription.earlier.extend(page.into_iter().map(Into::into));
        }
        subscription.earlier_to = up_to;
        Ok(())
    }

    /// Seq of the first stored event, if earlier ones were removed. The very first event is always stored.
    async fn first_kept(self: &Arc<Self>, run: &TrackedRun) -> Result<Option<u64>, StoreError> {
        let first = self
            .store
            .run(RunEvents {
                run_id: run.id.clone(),
                after: 0,
                limit: 1,
            })
            .await?;
        Ok(first.first().map(|event| event.seq).filter(|first| *first > 1))
    }

    pub fn unsubscribe(&self, client: &RunClient, run_id: &str) {
        client.unfollow(run_id);
        if let Some(run) = self.registry.get(run_id) {
            run.unfollow(client);
        }
    }
}
