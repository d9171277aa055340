//! The twelve sections of UASP as plain values, in the order of the specification.
//!
//! Every field is optional: a document may omit it, or give it a value of another type. Lists contain an entry for each
//! item of the document, so that the index in the list is the index in the file.

use serde_json::{Map, Value};

use super::{SpannedText, UaspCommands};

/// A UASP document as typed values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UaspSections {
    /// The name and kind of the skill.
    pub meta: UaspMeta,
    /// The conditions that select the skill.
    pub triggers: UaspTriggers,
    /// Prohibitions, obligations and preferences.
    pub constraints: UaspConstraints,
    /// The decision rules.
    pub decisions: Vec<UaspDecision>,
    /// The state that commands create and invalidate.
    pub state: StateModel,
    /// The commands.
    pub commands: UaspCommands,
    /// The flags that all commands have.
    pub global_flags: Vec<UaspArgument>,
    /// The workflows, in document order.
    pub workflows: Vec<UaspWorkflow>,
    /// The syntax reference, in document order.
    pub reference: Vec<ReferenceEntry>,
    /// The scripts, in document order.
    pub templates: Vec<UaspTemplate>,
    /// The environment variables.
    pub environment: Vec<EnvironmentVariable>,
    /// The external documentation.
    pub sources: Vec<SourceEntry>,
    /// The settings of all requests. Not part of the specification.
    pub api: ApiSettings,
}

/// The section `meta`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UaspMeta {
    /// The skill's name.
    pub name: Option<SpannedText>,
    /// The content hash.
    pub version: Option<SpannedText>,
    /// `type`: `knowledge`, `cli`, `api` or `hybrid`.
    pub kind: Option<SpannedText>,
    /// The description of the skill.
    pub description: Option<SpannedText>,
    /// Unknown fields and fields of another type, in document order.
    pub extra: Map<String, Value>,
}

/// The section `triggers`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UaspTriggers {
    /// Keywords that suggest the skill.
    pub keywords: Vec<SpannedText>,
    /// User intents that suggest the skill.
    pub intents: Vec<SpannedText>,
    /// Globs of files that suggest the skill.
    pub file_patterns: Vec<SpannedText>,
}

/// The section `constraints`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UaspConstraints {
    /// Prohibited actions.
    pub never: Vec<SpannedText>,
    /// Required actions.
    pub always: Vec<SpannedText>,
    /// Preferred alternatives.
    pub prefer: Vec<UaspPreference>,
}

/// An item of `constraints.prefer`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UaspPreference {
    /// `use`: the preferred alternative.
    pub preferred: Option<SpannedText>,
    /// The alternative that is less preferred.
    pub over: Option<SpannedText>,
    /// The condition of the preference.
    pub when: Option<SpannedText>,
    /// The whole preference, if it is written as text.
    pub sentence: Option<SpannedText>,
}

/// An item of `decisions`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UaspDecision {
    /// The name that queries find it by. Not part of the specification.
    pub name: Option<SpannedText>,
    /// The condition.
    pub when: Option<SpannedText>,
    /// The action.
    pub then: Option<SpannedText>,
    /// `ref`: the source with more information.
    pub source: Option<SpannedText>,
}

/// The section `state`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateModel {
    /// The declared entities.
    pub entities: Vec<StateEntity>,
}

impl StateModel {
    /// Returns the names of the declared entities.
    pub fn entity_names(&self) -> impl Iterator<Item = &str> {
        self.entities.iter().filter_map(|entity| entity.name.as_deref())
    }
}

/// An item of `state.entities`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateEntity {
    /// The name.
    pub name: Option<SpannedText>,
    /// The format of a reference to the entity, such as `@e{n}`.
    pub format: Option<SpannedText>,
    /// The commands that create the entity.
    pub created_by: Vec<SpannedText>,
    /// The commands that use the entity.
    pub consumed_by: Vec<SpannedText>,
    /// The commands and events that invalidate the entity.
    pub invalidated_by: Vec<SpannedText>,
    /// The commands that store the entity. Only in the examples of the specification.
    pub persisted_by: Vec<SpannedText>,
    /// The commands that restore the entity. Only in the examples of the specification.
    pub restored_by: Vec<SpannedText>,
    /// The properties of the entity.
    pub properties: Vec<SpannedText>,
    /// Unknown fields and fields of another type, in document order.
    pub extra: Map<String, Value>,
}

/// An entry of `commands`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UaspCommand {
    /// The key of the command, with dots between its parts: `record.start`.
    pub path: SpannedText,
    /// The syntax.
    pub syntax: Option<SpannedText>,
    /// The description.
    pub description: Option<SpannedText>,
    /// The purpose. Not part of the specification.
    pub purpose: Option<SpannedText>,
    /// Other names of the command.
    pub aliases: Vec<SpannedText>,
    /// `args`: the arguments.
    pub arguments: Vec<UaspArgument>,
    /// The flags.
    pub flags: Vec<UaspArgument>,
    /// The result.
    pub returns: Option<SpannedText>,
    /// The entities and commands that the command requires.
    pub requires: Vec<SpannedText>,
    /// The entities that the command creates.
    pub creates: Vec<SpannedText>,
    /// The entities that the command invalidates.
    pub invalidates: Vec<SpannedText>,
    /// A note.
    pub note: Option<SpannedText>,
    /// Variants of the syntax.
    pub variants: Vec<CommandVariant>,
    /// An example call. Not part of the specification.
    pub example: Option<SpannedText>,
    /// The fields of an HTTP request. Not part of the specification.
    pub request: RequestFields,
    /// Unknown fields, including those of `request`, and fields of another type, in document order.
    pub extra: Map<String, Value>,
}

/// An item of `variants` of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandVariant {
    /// The syntax.
    pub syntax: Option<SpannedText>,
    /// The purpose.
    pub purpose: Option<SpannedText>,
}

/// An argument or flag. The specification lists different fields for the two, but authors mix them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UaspArgument {
    /// The name, or the whole item if that is text.
    pub name: Option<SpannedText>,
    /// The short form of a flag.
    pub short: Option<SpannedText>,
    /// The long form of a flag.
    pub long: Option<SpannedText>,
    /// `type`: the type of the value.
    pub kind: Option<SpannedText>,
    /// Whether the argument is required, or `None` if not declared.
    pub is_required: Option<bool>,
    /// The default value.
    pub default: Option<Value>,
    /// The allowed values, from `values`, `enum` or `choices`; empty if all values are allowed.
    pub values: Vec<Value>,
    /// The description.
    pub description: Option<SpannedText>,
    /// The purpose.
    pub purpose: Option<SpannedText>,
    /// The environment variable that provides the value.
    pub env: Option<SpannedText>,
    /// `in`: the location in a request. Not part of the specification.
    pub location: Option<ArgumentLocation>,
}

/// The location of an argument in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentLocation {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In a header with the argument's name.
    Header,
    /// In the body.
    Body,
    /// A location that does not exist.
    Unknown,
}

/// The fields of a command that is an HTTP request. Values that may have several types are stored unchanged: an invalid
/// value is an error when the request is sent, and is not treated as absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestFields {
    /// The method.
    pub method: Option<SpannedText>,
    /// The absolute URL.
    pub url: Option<SpannedText>,
    /// The path relative to the base URL.
    pub path: Option<SpannedText>,
    /// The query parameters.
    pub query: Option<Value>,
    /// The headers.
    pub headers: Option<Value>,
    /// The body.
    pub body: Option<Value>,
    /// The timeout of the request.
    pub timeout_seconds: Option<Value>,
    /// Whether sending the request twice has the same effect as sending it once.
    pub is_idempotent: Option<bool>,
}

/// An entry of `workflows`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UaspWorkflow {
    /// The key of the workflow.
    pub name: SpannedText,
    /// The description.
    pub description: Option<SpannedText>,
    /// Conditions that must hold in every step.
    pub invariants: Vec<SpannedText>,
    /// The steps.
    pub steps: Vec<WorkflowStep>,
    /// An example run.
    pub example: Option<SpannedText>,
    /// Unknown fields and fields of another type, in document order.
    pub extra: Map<String, Value>,
}

/// An item of `steps` of a workflow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkflowStep {
    /// `cmd`: the command, or the whole item if that is text.
    pub command: Option<SpannedText>,
    /// A note.
    pub note: Option<SpannedText>,
    /// Whether the step is optional.
    pub is_optional: bool,
}

/// An entry of `reference`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferenceEntry {
    /// The key of the entry.
    pub name: SpannedText,
    /// The syntax.
    pub syntax: Option<SpannedText>,
    /// An example.
    pub example: Option<SpannedText>,
    /// Notes.
    pub notes: Option<SpannedText>,
    /// The allowed values.
    pub values: Vec<Value>,
    /// All other fields, in document order.
    pub features: Map<String, Value>,
    /// The whole entry, if it is not a mapping.
    pub whole: Option<Value>,
}

/// An entry of `templates`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UaspTemplate {
    /// The key of the template.
    pub name: SpannedText,
    /// The description.
    pub description: Option<SpannedText>,
    /// The usage.
    pub usage: Option<SpannedText>,
    /// `args`: the arguments.
    pub arguments: Vec<UaspArgument>,
    /// The file of the script.
    pub path: Option<SpannedText>,
    /// The script itself.
    pub inline: Option<SpannedText>,
    /// Unknown fields and fields of another type, in document order.
    pub extra: Map<String, Value>,
}

/// An item of `environment`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvironmentVariable {
    /// The name, or the whole item if that is text.
    pub name: Option<SpannedText>,
    /// The purpose.
    pub purpose: Option<SpannedText>,
    /// The default value.
    pub default: Option<Value>,
    /// Whether the value must be hidden. Not part of the specification.
    pub is_secret: Option<bool>,
    /// Whether the variable must be set. Not part of the specification.
    pub is_required: Option<bool>,
}

/// An item of `sources`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceEntry {
    /// The id that decisions refer to, or the whole item if that is text.
    pub id: Option<SpannedText>,
    /// The URL.
    pub url: Option<SpannedText>,
    /// The file in the skill.
    pub path: Option<SpannedText>,
    /// The purpose.
    pub use_for: Option<SpannedText>,
}

/// The section `api`, which is not part of the specification.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApiSettings {
    /// The URL that relative paths are appended to.
    pub base_url: Option<SpannedText>,
    /// The headers of every request.
    pub headers: Option<Value>,
}
