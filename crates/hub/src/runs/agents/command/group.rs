use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// A program with everything it started. Whatever becomes of the job, none of it goes on.
pub struct Group {
    leader: Option<Pid>,
}

impl Group {
    /// The child must have been started as the leader of its own group.
    pub fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(Pid::from_raw) }
    }

    /// Once only: after the leader was waited for, its number may one day belong to somebody else.
    pub fn end(&mut self) {
        if let Some(leader) = self.leader.take() {
            // They may all have ended by themselves.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}
