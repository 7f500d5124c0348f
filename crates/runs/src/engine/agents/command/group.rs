use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::Child;
use tokio::signal::unix::{SignalKind, signal};

/// The process group of a program and its children. Dropping it kills the group.
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

    /// Waits until the leader has exited, without reaping it: until it is reaped, its pid and group id cannot be
    /// reused.
    pub async fn leader_ended(&self) {
        let (Some(leader), Ok(mut some_child_ended)) = (self.leader, signal(SignalKind::child())) else {
            return;
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while let Ok(None) = waitid(WaitId::Pid(leader), options) {
            some_child_ended.recv().await;
        }
    }

    /// Kills the group, at most once and before the leader is reaped: afterwards the id may belong to another group.
    pub fn end(&mut self) {
        if let Some(leader) = self.leader.take() {
            // All of them may have exited already.
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
