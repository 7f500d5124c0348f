use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::Child;
use tokio::signal::unix::{SignalKind, signal};

/// A program with everything it started. Whatever becomes of the job, none of it goes on.
pub struct ProcessGroup {
    leader: Option<Pid>,
}

impl ProcessGroup {
    /// The child must have been started as the leader of its own group.
    pub fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self {
            leader: id.and_then(Pid::from_raw),
        }
    }

    /// Until the leader has ended. It is not waited for: until that is done, its number and that of its group are its own.
    pub async fn leader_ended(&self) {
        let (Some(leader), Ok(mut some_child_ended)) = (self.leader, signal(SignalKind::child())) else {
            return;
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while let Ok(None) = waitid(WaitId::Pid(leader), options) {
            some_child_ended.recv().await;
        }
    }

    /// Before the leader is waited for, and once only: afterwards its number may belong to somebody else.
    pub fn end(&mut self) {
        if let Some(leader) = self.leader.take() {
            // They may all have ended by themselves.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::test_kill_process;
    use tokio::process::Command;

    use super::*;

    #[tokio::test]
    async fn an_exited_leader_keeps_its_pid_until_it_is_reaped() {
        let mut child = Command::new("true").process_group(0).spawn().unwrap();
        let mut group = ProcessGroup::of(&child);
        let leader = group.leader.unwrap();
        group.leader_ended().await;
        assert!(test_kill_process(leader).is_ok(), "the pid cannot be reused");
        group.end();
        assert!(child.wait().await.unwrap().success());
        assert!(test_kill_process(leader).is_err());
    }
}
