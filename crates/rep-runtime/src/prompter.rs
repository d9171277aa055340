//! Asks for confirmation before a run: in the terminal, through an MCP client, in the dashboard, or not at
//! all.

use crate::grant::RunConfirmation;
use crate::plan::Plan;

/// An answer to a confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrompterAnswer {
    /// The run may start once.
    Yes,
    /// The run may start, and identical runs need no confirmation until something changes.
    Always,
    /// The run may not start.
    No,
    /// No prompt is available. The remedy says how to provide one.
    Unavailable {
        /// The remedy.
        remedy: String,
    },
    /// The confirmation is handed out and answered in a later request; [`crate::Runtime::resume_call`]
    /// continues then.
    Deferred,
}

/// Asks the user whether a run may start.
pub trait Prompter: Sync {
    /// Asks for confirmation. Anything but a clear yes must be answered with [`PrompterAnswer::No`].
    fn confirm(&self, question: &RunConfirmation) -> PrompterAnswer;

    /// Called when a run was granted and recorded, right before it starts.
    fn run_started(&self, _plan: &Plan) {}
}

/// A prompter that cannot ask: runs that need confirmation are refused.
#[derive(Clone, Debug)]
pub struct NobodyToAsk {
    /// The remedy of the refusal.
    pub remedy: String,
}

impl Default for NobodyToAsk {
    fn default() -> Self {
        Self { remedy: "pass `--yes` or run it in a terminal".to_owned() }
    }
}

impl Prompter for NobodyToAsk {
    fn confirm(&self, _question: &RunConfirmation) -> PrompterAnswer {
        PrompterAnswer::Unavailable { remedy: self.remedy.clone() }
    }
}
