//! subscribe: following a run from now on, or from where one was.

use std::sync::Arc;

use countersign_store::StoreError;
use countersign_store::ops::run::RunEvents;

use super::client::Client;
use super::join::{Joined, Joining};
use super::refusal::Refusal;
use super::run::Run;
use crate::app::Hub;

const PAGE: i64 = 1000;

impl Hub {
    pub async fn subscribe(
        &self,
        client: &Arc<Client>,
        run_id: &str,
        (after, extensions): (Option<u64>, bool),
        request_id: Option<&str>,
    ) -> Result<(), Refusal> {
        let not_found = || Refusal::subscribe(format!("Run not found: {run_id}"));
        let find = async || {
            self.find_run(run_id)
                .await
                .map_err(|error| error.refuse(Refusal::subscribe))?
                .ok_or_else(not_found)
        };
        let mut run = find().await?;
        let mut turn = None;
        let mut joining = Joining {
            after,
            extensions,
            ..Joining::default()
        };
        loop {
            match run.join(client, &joining) {
                Joined::Done | Joined::Stale => return Ok(()),
                Joined::Gone => run = find().await?,
                Joined::Missing { up_to } => {
                    if turn.is_none() {
                        turn = self.runs.replays.acquire().await.ok();
                    }
                    self.read_earlier(&run, &mut joining, up_to, request_id).await?;
                }
                Joined::TooMany => {
                    let message = "This connection follows too many runs; unsubscribe from some";
                    return Err(Refusal::subscribe(message));
                }
            }
        }
    }

    /// What is in memory no longer. What is not in the store either is gone, and the client is told from where it has all.
    async fn read_earlier(
        &self,
        run: &Run,
        joining: &mut Joining,
        up_to: u64,
        request_id: Option<&str>,
    ) -> Result<(), StoreError> {
        let after = joining.after.unwrap_or_default();
        if joining.first.is_empty()
            && let Some(first) = self.first_kept(run).await?
            && first > after + 1
        {
            let message = format!("Events before {first} are not kept any more; the first available seq is {first}");
            let reply = countersign_protocol::runs::Reply::error("REPLAY_TRUNCATED", message);
            joining
                .first
                .push(reply.frame(self.store.clock().now(), request_id).into());
        }
        let mut behind = after.max(joining.earlier_to);
        while behind < up_to {
            let page = self
                .store
                .run(RunEvents {
                    run_id: run.id.clone(),
                    after: behind,
                    limit: PAGE,
                })
                .await?;
            let Some(last) = page.last() else { break };
            behind = last.seq;
            joining.earlier.extend(page.into_iter().map(Into::into));
        }
        joining.earlier_to = up_to;
        Ok(())
    }

    /// The number of the first event that is kept, where earlier ones are not. The first of all is always stored.
    async fn first_kept(&self, run: &Run) -> Result<Option<u64>, StoreError> {
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

    pub fn unsubscribe(&self, client: &Client, run_id: &str) {
        client.unfollow(run_id);
        if let Some(run) = self.runs.get(run_id) {
            run.unfollow(client);
        }
    }
}
