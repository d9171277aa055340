//! What the server may run: tools and commands of skills, by the same plan, policy and record as `rep run` and `rep exec`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rep_check::tools::effective_tools;
use rep_hosts::Source;
use rep_hosts::hosts::mcp_tool;
use rep_library::{Catalog, CatalogEntry, Options, Status, read};
use rep_model::uasp::Command;
use rep_model::{Document, Origin, Skill};
use rep_runtime::command;
use rep_runtime::plan::command::Loan;
use rep_runtime::{Outcome, Reply};
use rep_sandbox::Cancel;
use rep_serve::{Call, Offer, Runs, Said, Stop, Talk};
use serde_json::{Map, Value, json};

use crate::call::{Called, tool_name};
use crate::commands::exec;
use crate::consent::{self, ByClient};
use crate::exit::Failure;
use crate::output::{Choice, Output};
use crate::perform::{self, Wish};
use crate::runner::{self, Chain, Runner, Tools};
use crate::structured::Structured;

/// The longest name of a tool.
const NAME_CHARS_MAX: usize = 128;
/// The most commands of one skill that are offered.
const COMMANDS_MAX: usize = 500;

/// Runs tools and commands of the skills it was allowed.
pub(crate) struct Running {
    pub(crate) options: Options,
    /// The folder patterns are relative to.
    pub(crate) workspace: PathBuf,
    /// The skills whose tools may run; all where it is empty.
    pub(crate) allowed: BTreeSet<String>,
    /// Whether what they may do is enforced.
    pub(crate) is_confined: bool,
    /// Hears what is not for clients.
    pub(crate) talk: Talk,
}

impl Runs for Running {
    fn offers(&self, catalog: &Catalog) -> Vec<Offer> {
        let allowed = catalog.entries.iter().filter(|entry| entry.status == Status::Active && self.may_run(entry));
        let mut offers: BTreeMap<String, Offer> = BTreeMap::new();
        for offer in allowed.flat_map(Self::of).filter_map(listable) {
            // Two skills whose tools would be called alike: the first keeps the name.
            offers.entry(offer.name.clone()).or_insert(offer);
        }
        offers.into_values().collect()
    }

    fn call(&self, catalog: &Catalog, call: &Call, stop: &Stop) -> Said {
        let cancel = Cancel::default();
        let inside = cancel.clone();
        stop.when(move || inside.cancel());
        let done = if call.offer.is_command {
            self.command(catalog, call, &cancel)
        } else {
            self.tool(catalog, call, &cancel)
        };
        done.unwrap_or_else(|failure| self.failed(&failure))
    }
}

impl Running {
    fn may_run(&self, entry: &CatalogEntry) -> bool {
        let names = [&entry.qualified_name, &entry.name];
        self.allowed.is_empty() || names.into_iter().any(|name| self.allowed.contains(name))
    }

    /// What one skill offers. One that cannot be read offers nothing.
    fn of(entry: &CatalogEntry) -> Vec<Offer> {
        let Ok(skill) = read::skill(entry) else { return Vec::new() };
        let name = entry.qualified_name.replace(':', ".");
        let tools = effective_tools(&skill).tools;
        let source = Source { name: &name, skill: &skill, tools: &tools };
        let offer = |tool: &str, is_command: bool, mut listed: Value| {
            let name = plain(listed["name"].as_str().unwrap_or_default());
            listed["name"] = name.clone().into();
            Offer { name, skill: entry.qualified_name.clone(), tool: tool.to_owned(), is_command, listed }
        };
        let mut offers: Vec<Offer> =
            tools.iter().map(|tool| offer(tool_name(tool), false, mcp_tool(&source, tool))).collect();
        let document = rep_convert::document_of(&skill).filter(|document| document.origin != Origin::Extracted);
        if let Some(document) = document {
            let names = document.runnable_names().into_iter().take(COMMANDS_MAX);
            offers.extend(names.map(|path| offer(&path, true, listed(&name, &path, &document, &skill))));
        }
        offers
    }

    fn entry<'a>(catalog: &'a Catalog, call: &Call) -> Result<&'a CatalogEntry, Failure> {
        let found = catalog.get(&call.offer.skill).filter(|entry| entry.status == Status::Active);
        found.ok_or_else(|| Failure::unable("SKILL_NOT_FOUND", format!("there is no skill `{}`", call.offer.skill)))
    }

    fn tool(&self, catalog: &Catalog, call: &Call, cancel: &Cancel) -> Result<Said, Failure> {
        let entry = Self::entry(catalog, call)?;
        let called = Called::held(entry, &self.options)?;
        let runner = Runner::for_client(&call.who);
        let tools = Tools::new(&self.options, catalog, self.workspace.clone(), self.is_confined, runner);
        let input = Value::Object(call.input.clone());
        let mut plan = runner::planned(&called, &call.offer.tool, &tools.workspace, input)?;
        plan.is_confined = self.is_confined;
        let secrets = consent::secrets(&plan)?;
        let decided = match consent::granted_by_client(plan.clone(), called.trust.clone(), &secrets, &call.asked)? {
            ByClient::Decided(decided) => *decided,
            ByClient::Ask(text, mark) => return Ok(Said::Question { text, mark }),
        };
        let outcome = tools.run(decided, &plan, &secrets, entry, cancel, &Chain::default());
        Ok(said(&outcome, outcome.value()))
    }

    fn command(&self, catalog: &Catalog, call: &Call, cancel: &Cancel) -> Result<Said, Failure> {
        let skill = Structured::held(Self::entry(catalog, call)?, &self.options)?;
        let mut arguments = call.input.clone();
        let named = arguments.shift_remove(session_key(&skill.document, &call.offer.tool));
        let named = named.as_ref().and_then(Value::as_str).or(call.session.as_deref());
        let wish = Wish {
            name: &call.offer.tool,
            arguments: &arguments,
            session: perform::session_name(named)?,
            workspace: &self.workspace,
            loan: &Loan::default(),
            is_given: false,
            is_confined: self.is_confined,
            ignores_state: false,
            timeout: None,
        };
        let plan = perform::planned(&skill, &wish, &mut Output::new(Choice::Never, true, false))?;
        let missing = perform::missing(&skill, &wish)?;
        if !missing.is_empty() {
            let error = perform::invalid_state(&plan.tool, &missing);
            return Ok(Said::Error(Outcome::refused(error).value()));
        }
        let secrets = consent::secrets(&plan)?;
        let decided = match consent::granted_by_client(plan.clone(), skill.trust.clone(), &secrets, &call.asked)? {
            ByClient::Decided(decided) => *decided,
            ByClient::Ask(text, mark) => return Ok(Said::Question { text, mark }),
        };
        let done = perform::carry_out(&skill, &wish, plan, decided, &secrets, &Runner::for_client(&call.who), cancel)?;
        Ok(said(&done.outcome, exec::document(&skill, &done.outcome, done.state.as_ref())))
    }

    /// A failure as clients are told it: without paths of this machine, which the operator is told.
    fn failed(&self, failure: &Failure) -> Said {
        let is_of_the_machine = matches!(failure.code, "UNREADABLE" | "UNKEPT" | "NO_HOME" | "UNFIT");
        // What the client hears itself is not told twice: it may hold what its user wrote.
        if is_of_the_machine {
            (self.talk)(&format!("{}: {}", failure.code, failure.message));
        }
        let hidden = "the call could not be made on this server; its operator can see why";
        let message = if is_of_the_machine { hidden } else { &failure.message };
        let mut error = json!({ "code": failure.code, "message": message, "retriable": false });
        if let Some(hint) = failure.hints.first().filter(|_| !is_of_the_machine) {
            error["remedy"] = hint.clone().into();
        }
        Said::Error(json!({ "status": "error", "error": error }))
    }
}

fn said(outcome: &Outcome, value: Value) -> Said {
    match outcome.reply {
        Reply::Result(_) | Reply::Task(_) => Said::Result(value),
        Reply::Error(_) => Said::Error(value),
    }
}

/// An offer as every client takes it: one tool that is listed otherwise would hide all others from some.
fn listable(mut offer: Offer) -> Option<Offer> {
    let is_object = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "object");
    if let Some(listed) = offer.listed.as_object_mut()
        && !listed.get("outputSchema").is_some_and(is_object)
    {
        listed.shift_remove("outputSchema");
    }
    is_object(&offer.listed["inputSchema"]).then_some(offer)
}

/// A name in the letters tools may have.
fn plain(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.') { letter } else { '_' }
    };
    name.chars().map(letter).take(NAME_CHARS_MAX).collect()
}

/// The argument that names the session: one that the command has none of its own for.
fn session_key(document: &Document, path: &str) -> &'static str {
    let own = document.find_command(path).into_iter().flat_map(Command::parameters);
    let names = own.chain(&document.sections.global_flags).filter_map(|one| one.name.as_deref());
    if names.map(|name| name.trim_start_matches('-')).any(|name| name == "session") { "rep_session" } else { "session" }
}

/// A command as a server lists it. What its arguments must be is judged when it is called, by the author's syntax.
fn listed(skill: &str, path: &str, document: &Document, read: &Skill) -> Value {
    let template = path.strip_prefix("templates.").and_then(|name| document.template(name));
    let definition = if path.starts_with("templates.") { None } else { document.find_command(path) };
    let described = match (template, definition) {
        (Some(template), _) => command::described(document, &template.arguments, &[]),
        (None, Some(definition)) => command::described(document, &definition.arguments, &definition.flags),
        (None, None) => Vec::new(),
    };
    let required: Vec<String> = described.iter().filter(|one| one.is_needed).map(|one| one.name.clone()).collect();
    let mut properties: Map<String, Value> =
        described.into_iter().map(|one| (one.name, Value::Object(one.schema))).collect();
    let session = "Whose state it reads and changes; this connection's own where it is left out";
    properties.insert(session_key(document, path).to_owned(), json!({ "type": "string", "description": session }));
    let syntax = definition.and_then(|definition| definition.syntax.as_deref()).map(|syntax| format!("`{syntax}`"));
    let about = definition.and_then(|definition| definition.description.as_ref().or(definition.purpose.as_ref()));
    let about = about.or_else(|| template?.description.as_ref()).map(ToString::to_string);
    let description: Vec<String> = about.into_iter().chain(syntax).collect();
    let mut tool = json!({
        "name": path,
        "description": description.join(": "),
        "input_schema": { "type": "object", "properties": properties },
    });
    if !required.is_empty() {
        tool["input_schema"]["required"] = required.into();
    }
    let tools = [tool];
    let mut listed = mcp_tool(&Source { name: skill, skill: read, tools: &tools }, &tools[0]);
    // What a program does is not known from its syntax.
    listed["annotations"]["readOnlyHint"] = false.into();
    listed["annotations"]["destructiveHint"] = true.into();
    listed["annotations"]["openWorldHint"] = true.into();
    listed
}
