//! The twelve sections of UASP as plain values, in the order of the specification.
//!
//! Every field is optional: a document may leave it out, or give it a value of another type. Lists keep an entry for each
//! item of the document, so that the position in the list is the position in the file.

use serde_json::{Map, Value};

use super::{Commands, SpannedText};

/// A UASP document as typed values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections {
    /// What the skill is called, and what kind of skill it is.
    pub meta: Meta,
    /// What the skill should be chosen for.
    pub triggers: Triggers,
    /// Prohibitions, duties and preferences.
    pub constraints: Constraints,
    /// What to do when.
    pub decisions: Vec<Decision>,
    /// The state that commands create and invalidate.
    pub state: StateModel,
    /// The commands.
    pub commands: Commands,
    /// The flags of every command.
    pub global_flags: Vec<Argument>,
    /// The workflows, in the order of the document.
    pub workflows: Vec<Workflow>,
    /// The syntax reference, in the order of the document.
    pub reference: Vec<ReferenceEntry>,
    /// The scripts, in the order of the document.
    pub templates: Vec<Template>,
    /// The environment variables.
    pub environment: Vec<EnvironmentVariable>,
    /// The external documentation.
    pub sources: Vec<SourceEntry>,
    /// The settings of all requests. Not part of the specification.
    pub api: ApiSettings,
}

/// The section `meta`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// The skill's name.
    pub name: Option<SpannedText>,
    /// The hash of the content.
    pub version: Option<SpannedText>,
    /// `type`: `knowledge`, `cli`, `api` or `hybrid`.
    pub kind: Option<SpannedText>,
    /// What the skill does.
    pub description: Option<SpannedText>,
    /// Fields the specification does not know, and fields of another type, in the order of the document.
    pub extra: Map<String, Value>,
}

/// The section `triggers`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triggers {
    /// Words that suggest the skill.
    pub keywords: Vec<SpannedText>,
    /// What a user wants to do.
    pub intents: Vec<SpannedText>,
    /// Globs of files that suggest the skill.
    pub file_patterns: Vec<SpannedText>,
}

/// The section `constraints`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints {
    /// What must not be done.
    pub never: Vec<SpannedText>,
    /// What must be done.
    pub always: Vec<SpannedText>,
    /// What is better than something else.
    pub prefer: Vec<Preference>,
}

/// An item of `constraints.prefer`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preference {
    /// `use`: what is better.
    pub preferred: Option<SpannedText>,
    /// What it is better than.
    pub over: Option<SpannedText>,
    /// When it is.
    pub when: Option<SpannedText>,
    /// The whole preference, if it is written as one text.
    pub sentence: Option<SpannedText>,
}

/// An item of `decisions`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// What queries find it by. Not part of the specification.
    pub name: Option<SpannedText>,
    /// The condition.
    pub when: Option<SpannedText>,
    /// What to do.
    pub then: Option<SpannedText>,
    /// `ref`: the source that says more.
    pub source: Option<SpannedText>,
}

/// The section `state`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateModel {
    /// The declared entities.
    pub entities: Vec<StateEntity>,
}

impl StateModel {
    /// The names of the declared entities.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entities.iter().filter_map(|entity| entity.name.as_deref())
    }
}

/// An item of `state.entities`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateEntity {
    /// Its name.
    pub name: Option<SpannedText>,
    /// What a reference to it looks like: `@e{n}`.
    pub format: Option<SpannedText>,
    /// The commands that create it.
    pub created_by: Vec<SpannedText>,
    /// The commands that use it.
    pub consumed_by: Vec<SpannedText>,
    /// What invalidates it, written for people.
    pub invalidated_by: Vec<SpannedText>,
    /// What stores it. Only in the examples of the specification.
    pub persisted_by: Vec<SpannedText>,
    /// What restores it. Only in the examples of the specification.
    pub restored_by: Vec<SpannedText>,
    /// What it contains.
    pub properties: Vec<SpannedText>,
    /// Fields the specification does not know, and fields of another type, in the order of the document.
    pub extra: Map<String, Value>,
}

/// An entry of `commands`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// The key it is declared under, with dots between its parts: `record.start`.
    pub path: SpannedText,
    /// How it is written.
    pub syntax: Option<SpannedText>,
    /// What it does.
    pub description: Option<SpannedText>,
    /// What it is for. Not part of the specification.
    pub purpose: Option<SpannedText>,
    /// Other names.
    pub aliases: Vec<SpannedText>,
    /// `args`: its arguments.
    pub arguments: Vec<Argument>,
    /// Its flags.
    pub flags: Vec<Argument>,
    /// What it returns.
    pub returns: Option<SpannedText>,
    /// The entities and commands it needs.
    pub requires: Vec<SpannedText>,
    /// The entities it creates.
    pub creates: Vec<SpannedText>,
    /// The entities it invalidates.
    pub invalidates: Vec<SpannedText>,
    /// What to know about it.
    pub note: Option<SpannedText>,
    /// Other ways to write it.
    pub variants: Vec<Variant>,
    /// How it is run, as an example. Not part of the specification.
    pub example: Option<SpannedText>,
    /// What makes it an HTTP request. Not part of the specification.
    pub request: RequestFields,
    /// Fields the specification does not know, those of `request` included, and fields of another type, in the order of
    /// the document.
    pub extra: Map<String, Value>,
}

/// An item of `variants` of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variant {
    /// How it is written.
    pub syntax: Option<SpannedText>,
    /// What it is for.
    pub purpose: Option<SpannedText>,
}

/// An argument or a flag. The specification lists different fields for the two; authors mix them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Argument {
    /// Its name; the whole item, if that is a text.
    pub name: Option<SpannedText>,
    /// The short form of a flag.
    pub short: Option<SpannedText>,
    /// The long form of a flag.
    pub long: Option<SpannedText>,
    /// `type`: what kind of value it takes.
    pub kind: Option<SpannedText>,
    /// Whether it must be given; `None` if the author does not say.
    pub is_required: Option<bool>,
    /// The value if it is not given.
    pub default: Option<Value>,
    /// The only values it takes, under `values`, `enum` or `choices`; empty if it takes any.
    pub values: Vec<Value>,
    /// What it is.
    pub description: Option<SpannedText>,
    /// What it is for.
    pub purpose: Option<SpannedText>,
    /// The environment variable it is read from.
    pub env: Option<SpannedText>,
    /// `in`: where a request has it. Not part of the specification.
    pub location: Option<ArgumentLocation>,
}

/// Where a request has an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentLocation {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In a header of its name.
    Header,
    /// In the body.
    Body,
    /// The author names a location that does not exist.
    Unknown,
}

/// The fields of a command that is an HTTP request. Values that may have several types are kept as they are: a wrong one is
/// an error when the request is sent, not an absence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestFields {
    /// The method.
    pub method: Option<SpannedText>,
    /// The absolute address.
    pub url: Option<SpannedText>,
    /// The address relative to the base.
    pub path: Option<SpannedText>,
    /// The pairs of the query.
    pub query: Option<Value>,
    /// The headers.
    pub headers: Option<Value>,
    /// The body.
    pub body: Option<Value>,
    /// How long the request may take.
    pub timeout_seconds: Option<Value>,
    /// Whether sending it twice has the effect of sending it once.
    pub is_idempotent: Option<bool>,
}

/// An entry of `workflows`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workflow {
    /// The key it is declared under.
    pub name: SpannedText,
    /// What it is for.
    pub description: Option<SpannedText>,
    /// What must hold in every step.
    pub invariants: Vec<SpannedText>,
    /// Its steps.
    pub steps: Vec<WorkflowStep>,
    /// How it is run, as an example.
    pub example: Option<SpannedText>,
    /// Fields the specification does not know, and fields of another type, in the order of the document.
    pub extra: Map<String, Value>,
}

/// An item of `steps` of a workflow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkflowStep {
    /// `cmd`: what is done; the whole item, if that is a text.
    pub command: Option<SpannedText>,
    /// What to know about it.
    pub note: Option<SpannedText>,
    /// Whether it may be left out.
    pub is_optional: bool,
}

/// An entry of `reference`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferenceEntry {
    /// The key it is declared under.
    pub name: SpannedText,
    /// How it is written.
    pub syntax: Option<SpannedText>,
    /// An example.
    pub example: Option<SpannedText>,
    /// What to know about it.
    pub notes: Option<SpannedText>,
    /// The values it takes.
    pub values: Vec<Value>,
    /// Its other fields, in the order of the document.
    pub features: Map<String, Value>,
    /// The whole entry, if it is not a mapping.
    pub whole: Option<Value>,
}

/// An entry of `templates`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    /// The key it is declared under.
    pub name: SpannedText,
    /// What it does.
    pub description: Option<SpannedText>,
    /// How it is called.
    pub usage: Option<SpannedText>,
    /// `args`: its arguments.
    pub arguments: Vec<Argument>,
    /// The file of the script.
    pub path: Option<SpannedText>,
    /// The script itself.
    pub inline: Option<SpannedText>,
    /// Fields the specification does not know, and fields of another type, in the order of the document.
    pub extra: Map<String, Value>,
}

/// An item of `environment`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvironmentVariable {
    /// Its name; the whole item, if that is a text.
    pub name: Option<SpannedText>,
    /// What it is for.
    pub purpose: Option<SpannedText>,
    /// The value if it is not set.
    pub default: Option<Value>,
    /// Whether its value must be hidden. Not part of the specification.
    pub is_secret: Option<bool>,
    /// Whether it must be set. Not part of the specification.
    pub is_required: Option<bool>,
}

/// An item of `sources`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceEntry {
    /// What decisions refer to it by; the whole item, if that is a text.
    pub id: Option<SpannedText>,
    /// Its address.
    pub url: Option<SpannedText>,
    /// Its file in the skill.
    pub path: Option<SpannedText>,
    /// What it is for.
    pub use_for: Option<SpannedText>,
}

/// The section `api`, which is not part of the specification.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApiSettings {
    /// The address that relative addresses follow.
    pub base_url: Option<SpannedText>,
    /// The headers of every request.
    pub headers: Option<Value>,
}
