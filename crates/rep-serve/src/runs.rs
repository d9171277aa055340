//! The door to running: who serves asks, and the command line runs, by the same plan, policy and record as `rep run`.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rep_library::Catalog;
use serde_json::{Map, Value};

/// A tool of a skill that may be called.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The name it is called by.
    pub name: String,
    /// The skill's qualified name.
    pub skill: String,
    /// The tool's own name, or a command's path.
    pub tool: String,
    /// Whether it is a command of a structured skill, which has state.
    pub is_command: bool,
    /// How it is listed, as JSON.
    pub listed: Value,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub offer: Offer,
    /// Its arguments.
    pub input: Map<String, Value>,
    /// Who calls, for the record.
    pub who: String,
    /// The client's session, where it has one.
    pub session: Option<String>,
    /// Whether somebody can be asked, or has answered.
    pub asked: Asked,
}

/// Whether somebody can be asked before a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nobody: what needs consent is refused.
    Nobody,
    /// The client's user: what needs consent comes back as a question.
    Possible,
    /// The question that bears this mark was answered with yes.
    Agreed(String),
}

/// What came of a call.
#[derive(Clone, Debug)]
pub enum Said {
    /// The tool's result.
    Result(Value),
    /// Why there is none: the error envelope.
    Error(Value),
    /// A question for the user, and the mark that binds the answer to what was asked.
    Question {
        /// In words.
        text: String,
        /// What exactly it is about.
        mark: String,
    },
}

/// Whoever runs tools.
pub trait Runs: Send + Sync {
    /// The tools of a catalogue that may be called, in order.
    fn offers(&self, catalog: &Catalog) -> Vec<Offer>;

    /// Calls one. Blocks until it ends; `stop` asks it to end before.
    fn call(&self, catalog: &Catalog, call: &Call, stop: &Stop) -> Said;
}

/// Asks a run to end. Shared between threads; asking twice is asking once.
#[derive(Clone, Default)]
pub struct Stop(Arc<Mutex<Asking>>);

#[derive(Default)]
struct Asking {
    is_asked: bool,
    then: Vec<Box<dyn FnOnce() + Send>>,
}

impl fmt::Debug for Stop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Stop")
    }
}

impl Stop {
    /// Asks.
    pub fn stop(&self) {
        let then = {
            let mut asking = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            asking.is_asked = true;
            std::mem::take(&mut asking.then)
        };
        for then in then {
            then();
        }
    }

    /// Does this when somebody asks; at once where somebody did.
    pub fn when(&self, then: impl FnOnce() + Send + 'static) {
        let mut asking = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if asking.is_asked {
            drop(asking);
            then();
        } else {
            asking.then.push(Box::new(then));
        }
    }
}
