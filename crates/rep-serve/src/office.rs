//! The door to what the page shows and no library knows: findings, permissions, what ran and what goes on. The command
//! line answers, by the same code as its commands.

use rep_library::CatalogEntry;
use serde_json::Value;

/// What a closer look at a skill found.
#[derive(Clone, Debug)]
pub struct Noted {
    /// How bad it is, in a word.
    pub level: &'static str,
    /// The rule.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do; empty where there is nothing to say.
    pub help: String,
    /// The file, relative to the skill.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The line itself, as far as it is shown; empty where there is no text to show.
    pub excerpt: String,
    /// Whether it can be mended without changing the meaning.
    pub is_mendable: bool,
}

/// Which runs are wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Only those of this skill.
    pub skill: Option<String>,
    /// Only those since then: a date, a time, or `2h` and the like.
    pub since: Option<String>,
    /// Only those that stand so.
    pub state: Option<String>,
    /// Only those that were denied something.
    pub has_denials: bool,
    /// The most that are told; the newest.
    pub most: usize,
}

/// Runs, the newest first.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    /// As many as were wanted.
    pub runs: Vec<Ran>,
    /// How many there are.
    pub total: usize,
}

/// One run, as the record has it.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Where it stands: `running`, `ended`, `refused`, `cut short`, `install`.
    pub state: &'static str,
    /// How it ended; empty where it has not.
    pub outcome: String,
    /// When it started.
    pub at: String,
    /// The skill.
    pub skill: String,
    /// The tool.
    pub tool: String,
    /// Who ran it.
    pub who: String,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What it was denied: the action, and what it was tried on.
    pub denials: Vec<(String, String)>,
    /// Everything the record says.
    pub record: Value,
}

/// Calls of clients, the newest first.
#[derive(Clone, Debug, Default)]
pub struct CallTrail {
    /// As many as were wanted, as the record has them.
    pub calls: Vec<Value>,
    /// How many there are.
    pub total: usize,
}

/// A call that goes on after its answer.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// The skill.
    pub skill: String,
    /// The tool.
    pub tool: String,
    /// Where it stands: `running`, `done`, `failed`, `cancelled`, `lost`.
    pub state: &'static str,
    /// Whether it goes on.
    pub is_running: bool,
    /// Whether somebody wants it cancelled.
    pub is_cancel_wanted: bool,
    /// When it was made.
    pub created: String,
    /// When it last changed.
    pub updated: String,
    /// What it gave.
    pub result: Option<Value>,
}

/// Whoever knows what the library does not. What cannot be done is told in words.
pub trait Office: Send + Sync {
    /// What would make a skill active.
    fn remedy(&self, entry: &CatalogEntry) -> Option<String>;

    /// What `rep check` finds in a skill.
    fn findings(&self, entry: &CatalogEntry) -> Result<Vec<Noted>, String>;

    /// What a skill's tools may do in this workspace, a line each; lines of one tool are indented.
    fn permissions(&self, entry: &CatalogEntry) -> Result<Vec<String>, String>;

    /// What ran.
    fn runs(&self, wanted: &Wanted) -> Result<Trail, String>;

    /// What clients asked. Of what is wanted, only the skill, the time and the number count.
    fn calls(&self, wanted: &Wanted) -> Result<CallTrail, String>;

    /// The calls that go on after their answer, the newest first.
    fn tasks(&self) -> Result<Vec<Task>, String>;

    /// Asks for a task to be cancelled. Whether it still ran; nothing where there is none of this id.
    fn cancel(&self, id: &str) -> Result<Option<bool>, String>;

    /// A skill as one archive: the same skill gives the same bytes.
    fn packed(&self, entry: &CatalogEntry) -> Result<Vec<u8>, String>;

    /// A number that is another one when a run or a task changed.
    fn pulse(&self) -> u64;
}
