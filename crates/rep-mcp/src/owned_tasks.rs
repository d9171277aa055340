//! Tasks of clients, and whom they belong to.
//!
//! The SDK's task manager knows tasks by their id alone. A task of another bearer is answered exactly as one that does
//! not exist.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{DetailedTask, InputResponses, Task};
use rmcp::task_manager::TaskManager;

use crate::identity::Owner;

/// The tasks of all clients.
pub(crate) struct OwnedTasks {
    manager: TaskManager,
    owners: Mutex<BTreeMap<String, TaskOwner>>,
}

struct TaskOwner {
    owner: Owner,
    since: Instant,
}

impl OwnedTasks {
    pub(crate) fn new() -> Self {
        Self { manager: TaskManager::new(), owners: Mutex::default() }
    }

    /// Starts a task of an owner. `lifetime` is how long the manager stores it: while it runs, and after it ended.
    pub(crate) fn start(&self, owner: Owner, lifetime: Duration, spawn: impl FnOnce(&TaskManager) -> Task) -> Task {
        // Held while the task starts, so that nobody asks for it before its owner is known.
        let mut owners = self.owners.lock();
        let task = spawn(&self.manager);
        // A task that still exists is kept, however old it is.
        owners.retain(|id, owner| owner.since.elapsed() < lifetime || self.manager.get_task(id).is_ok());
        owners.insert(task.task_id.clone(), TaskOwner { owner, since: Instant::now() });
        task
    }

    pub(crate) fn get(&self, owner: &Owner, id: &str) -> Result<DetailedTask, ErrorData> {
        self.require_owner(owner, id)?;
        self.manager.get_task(id)
    }

    pub(crate) fn update(&self, owner: &Owner, id: &str, responses: InputResponses) -> Result<(), ErrorData> {
        self.require_owner(owner, id)?;
        self.manager.update_task(id, responses)
    }

    pub(crate) fn cancel(&self, owner: &Owner, id: &str) -> Result<(), ErrorData> {
        self.require_owner(owner, id)?;
        self.manager.cancel_task(id)
    }

    /// Cancels the tasks of an owner, and forgets them.
    pub(crate) fn remove_all_of(&self, owner: &Owner) {
        let own: Vec<String> = {
            let mut owners = self.owners.lock();
            owners.extract_if(.., |_, task| task.owner == *owner).map(|(id, _)| id).collect()
        };
        for id in own {
            // A task that has ended needs no end.
            let _ = self.manager.cancel_task(&id);
        }
    }

    fn require_owner(&self, owner: &Owner, id: &str) -> Result<(), ErrorData> {
        let is_own = self.owners.lock().get(id).is_some_and(|task| task.owner == *owner);
        // The same words as the manager's.
        if is_own { Ok(()) } else { Err(ErrorData::invalid_params(format!("unknown task: {id}"), None)) }
    }
}
