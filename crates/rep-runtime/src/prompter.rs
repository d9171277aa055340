//! Who can be asked before a run: the terminal, an MCP client's user, the dashboard, or nobody.

use crate::grant::Question;
use crate::plan::Plan;

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may run this once.
    Yes,
    /// It may run, and the same may run again without a question while nothing about it changes.
    Always,
    /// It may not run.
    No,
    /// Nobody can be asked. The remedy says how somebody could be.
    Unavailable {
        /// What would help.
        remedy: String,
    },
    /// The question is handed out and answered in a later request; [`crate::Runtime::resume`] goes on then.
    Deferred,
}

/// Asks somebody whether a run may start.
pub trait Prompter: Sync {
    /// Asks the question. Anything but a clear yes must be answered with [`Answer::No`].
    fn confirm(&self, question: &Question) -> Answer;

    /// Called when a run was granted and recorded, right before it starts.
    fn run_started(&self, _plan: &Plan) {}
}

/// Nobody can be asked: what needs confirmation is refused.
#[derive(Clone, Debug)]
pub struct NobodyToAsk {
    /// What the refusal gives as the remedy.
    pub remedy: String,
}

impl Default for NobodyToAsk {
    fn default() -> Self {
        Self { remedy: "run it on a terminal, or give consent with --yes".to_owned() }
    }
}

impl Prompter for NobodyToAsk {
    fn confirm(&self, _question: &Question) -> Answer {
        Answer::Unavailable { remedy: self.remedy.clone() }
    }
}
