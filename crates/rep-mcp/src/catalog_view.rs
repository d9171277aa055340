//! A snapshot of the library as it is served. Frequently requested results are computed once per snapshot.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, OnceLock};

use rep_hosts::hosts::{ToolNaming, UnnamedTool, choose_tool_names};
use rep_hosts::is_skill_part;
use rep_library::prompt::{self, BundledFiles as SkillContents};
use rep_library::{Catalog, CatalogEntry, LibraryError, SkillSet, SkillStatus};
use rep_model::truncate::truncate_chars;
use rep_runtime::{Runtime, ToolDescriptor, ToolFault, ToolListing};
use rep_sandbox::Cancel;
use rmcp::model::{Prompt, Resource, Tool};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{library_tools, prompts, resources, script_tool, skill_actions, skills_extension};

/// The size limit of served files, which is the size limit of skills in the Skills extension.
pub(crate) const FILE_BYTES_MAX: u64 = 16 << 20;
/// The length limit of the instructions; one host truncates longer ones.
const INSTRUCTIONS_CHARS_MAX: usize = 2048;
/// The room for the heading and the end of the list of skills.
const INSTRUCTIONS_END_CHARS: usize = 80;
/// The lengths to which descriptions in the instructions are shortened, the longest that fits.
const DESCRIPTION_CHARS: [usize; 5] = [240, 160, 110, 70, 45];

/// The skills whose tools clients may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedRuns {
    /// No skills: their tools are neither listed nor callable.
    None,
    /// All skills.
    All,
    /// The skills with these names.
    Only(BTreeSet<String>),
}

/// A snapshot of the library, with the results computed from it.
pub struct CatalogView {
    /// The skills.
    pub catalog: Arc<Catalog>,
    /// The number of the snapshot, which cursors contain.
    pub generation: u64,
    /// The skills that models see, as indexes into the catalog, in order.
    pub active: Vec<usize>,
    runtime: Arc<Runtime>,
    allowed: AllowedRuns,
    tool_naming: ToolNaming,
    /// The tools of MCP servers, which are asked once, when the server starts.
    server_tools: Arc<ToolListing>,
    tools: OnceLock<ToolList>,
    prompts: OnceLock<Vec<Prompt>>,
    resources: OnceLock<Vec<Resource>>,
    extension_skills: OnceLock<Vec<usize>>,
    /// The `skills/list` item of each entry, or why it has none. Valid while nothing changes on disk.
    described_skills: Vec<OnceLock<Result<Value, String>>>,
    unserved_skills: OnceLock<Vec<UnservedSkill>>,
}

/// A skill that `skills/list` does not contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnservedSkill {
    /// The index of the skill in the catalog.
    pub index: usize,
    /// The qualified name of the skill.
    pub name: String,
    /// Whether the skill can still be loaded by its name. An invalid skill cannot.
    pub is_loadable: bool,
    /// The reason, which contains no path of this machine.
    pub reason: String,
}

/// Which part of a view exists for a client.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ViewScope {
    /// Only the skills that are in all of these sets exist.
    sets: Vec<SkillSet>,
    /// Whether tools cannot be run.
    is_read_only: bool,
}

impl ViewScope {
    pub(crate) fn new<'a>(sets: impl IntoIterator<Item = &'a SkillSet>, is_read_only: bool) -> Self {
        let mut sets: Vec<SkillSet> = sets.into_iter().filter(|set| !set.is_unlimited()).cloned().collect();
        sets.sort();
        sets.dedup();
        Self { sets, is_read_only }
    }

    /// Whether everything exists.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.sets.is_empty() && !self.is_read_only
    }

    fn patterns(&self) -> Vec<Vec<String>> {
        self.sets.iter().map(SkillSet::patterns).collect()
    }
}

/// Renders what a model does when, without skills. Their number is left out if it is not known yet.
pub(crate) fn render_workflow(count: Option<usize>, may_run: bool) -> String {
    let skills = match count {
        None => "agent skills".to_owned(),
        Some(1) => "1 agent skill".to_owned(),
        Some(count) => format!("{count} agent skills"),
    };
    let run = if may_run { " Its answer says how to call the skill's tools and scripts." } else { "" };
    format!(
        "This server has {skills}: tested instructions, files and tools for particular tasks.\n\
         1. Before you start a specialised task, call `search_skills` with the task in a few words.\n\
         2. If a result fits, call `load_skill` with its name and follow the instructions.{run}\n\
         3. Call `read_skill_file` when the instructions refer to a file.\n\
         If nothing fits, go on without a skill.\n"
    )
}

/// Asks the declared MCP servers for the tools that clients may call.
pub(crate) fn list_server_tools(runtime: &Runtime, allowed: &AllowedRuns) -> ToolListing {
    match allowed {
        AllowedRuns::None => ToolListing::default(),
        AllowedRuns::All => runtime.list_all_server_tools(&BTreeSet::new(), &Cancel::default()),
        AllowedRuns::Only(skills) => runtime.list_all_server_tools(skills, &Cancel::default()),
    }
}

/// The tools of a snapshot.
struct ToolList {
    /// The tools that the protocol lists: the built-in tools, then those of skills.
    protocol_tools: Vec<Tool>,
    /// The tools of skills.
    descriptors: Vec<ToolDescriptor>,
    /// The index of each tool of a skill by `SKILL__TOOL`.
    by_qualified_name: HashMap<String, usize>,
    /// The tools of skills that cannot be listed.
    faults: Vec<ToolFault>,
}

impl CatalogView {
    pub(crate) fn new(
        catalog: Arc<Catalog>,
        generation: u64,
        runtime: Arc<Runtime>,
        allowed: AllowedRuns,
        tool_naming: ToolNaming,
        server_tools: Arc<ToolListing>,
    ) -> Self {
        let active = (0..catalog.entries.len()).filter(|index| catalog.entries[*index].status == SkillStatus::Active);
        let active = active.collect();
        let described_skills = catalog.entries.iter().map(|_| OnceLock::new()).collect();
        Self {
            catalog,
            generation,
            active,
            runtime,
            allowed,
            tool_naming,
            server_tools,
            tools: OnceLock::new(),
            prompts: OnceLock::new(),
            resources: OnceLock::new(),
            extension_skills: OnceLock::new(),
            described_skills,
            unserved_skills: OnceLock::new(),
        }
    }

    /// Returns the part of the view that exists for somebody.
    pub(crate) fn restrict(&self, scope: &ViewScope) -> Self {
        let catalog = if scope.sets.is_empty() {
            Arc::clone(&self.catalog)
        } else {
            Arc::new(self.catalog.restrict(&scope.sets))
        };
        let (mut allowed, mut server_tools) = (self.allowed.clone(), Arc::clone(&self.server_tools));
        if scope.is_read_only {
            allowed = AllowedRuns::None;
        }
        if scope.is_read_only || !scope.sets.is_empty() {
            // Tools of servers belong to no skill.
            server_tools = Arc::default();
        }
        // A number of its own, because results are cached by it.
        let mut hasher = DefaultHasher::new();
        (self.generation, scope.is_read_only, scope.patterns()).hash(&mut hasher);
        Self::new(catalog, hasher.finish(), Arc::clone(&self.runtime), allowed, self.tool_naming, server_tools)
    }

    /// Creates a view of another catalog with the same runtime and permissions.
    pub(crate) fn with_catalog(&self, catalog: Arc<Catalog>) -> Self {
        let (runtime, allowed) = (Arc::clone(&self.runtime), self.allowed.clone());
        let server_tools = Arc::clone(&self.server_tools);
        Self::new(catalog, self.generation + 1, runtime, allowed, self.tool_naming, server_tools)
    }

    /// Returns the skills that models see.
    pub(crate) fn active_skills(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.active.iter().map(|index| &self.catalog.entries[*index])
    }

    /// Returns the tools of skills that clients may call.
    pub fn tools(&self) -> &[ToolDescriptor] {
        &self.tool_list().descriptors
    }

    /// Finds a skill's tool by the name that clients call it by. Its qualified name always works, so that clients
    /// do not depend on how the server names tools.
    pub fn find_tool(&self, name: &str) -> Option<&ToolDescriptor> {
        let list = self.tool_list();
        let listed = list.descriptors.iter().find(|tool| tool.name == name);
        listed.or_else(|| list.descriptors.get(*list.by_qualified_name.get(name)?))
    }

    /// Returns the skills whose tools and scripts clients may run.
    pub(crate) fn allowed_runs(&self) -> &AllowedRuns {
        &self.allowed
    }

    /// Returns the permitted tools of skills that cannot be listed, with the reason.
    pub fn tool_faults(&self) -> &[ToolFault] {
        &self.tool_list().faults
    }

    /// Whether the tools of skills are in the protocol's list. If there are many, two tools find and run them instead.
    pub(crate) fn lists_skill_tools(&self) -> bool {
        self.tool_list().descriptors.len() <= skill_actions::LISTED_TOOLS_MAX
    }

    /// Returns every tool as the protocol lists it.
    pub(crate) fn protocol_tools(&self) -> &[Tool] {
        &self.tool_list().protocol_tools
    }

    fn tool_list(&self) -> &ToolList {
        self.tools.get_or_init(|| {
            let mut listing = match &self.allowed {
                AllowedRuns::None => ToolListing::default(),
                AllowedRuns::All => self.runtime.list_tools(&self.catalog, &BTreeSet::new()),
                AllowedRuns::Only(skills) => self.runtime.list_tools(&self.catalog, skills),
            };
            listing.tools.extend(self.server_tools.tools.iter().cloned());
            listing.faults.extend(self.server_tools.faults.iter().cloned());
            let mut own_tools = library_tools::list_tools();
            if self.allowed != AllowedRuns::None {
                own_tools.push(script_tool::list_tool());
            }
            ToolList::new(own_tools, listing, self.tool_naming)
        })
    }

    pub(crate) fn prompts(&self) -> &[Prompt] {
        self.prompts.get_or_init(|| prompts::list_prompts(&self.catalog))
    }

    pub(crate) fn resources(&self) -> &[Resource] {
        self.resources.get_or_init(|| resources::list_resources(self))
    }

    /// Returns the skills of the Skills extension: those that are valid by the Agent Skills specification.
    pub(crate) fn extension_skills(&self) -> &[usize] {
        self.extension_skills.get_or_init(|| {
            let unserved: BTreeSet<usize> = self.unserved_skills().iter().map(|skill| skill.index).collect();
            self.active.iter().copied().filter(|index| !unserved.contains(index)).collect()
        })
    }

    /// Returns the skills that models could use and that `skills/list` does not contain, with the reason: skills that
    /// do not conform to the Agent Skills specification, and skills that cannot be read.
    pub fn unserved_skills(&self) -> &[UnservedSkill] {
        self.unserved_skills.get_or_init(|| {
            let entries = self.catalog.entries.iter().enumerate();
            let unserved = entries.filter_map(|(index, entry)| {
                let (reason, is_loadable) = match entry.status {
                    SkillStatus::Active => (skills_extension::find_obstacle(&self.catalog, entry)?, true),
                    SkillStatus::Invalid => (describe_violations(entry), false),
                    _ => return None,
                };
                Some(UnservedSkill { index, name: entry.qualified_name.clone(), is_loadable, reason })
            });
            unserved.collect()
        })
    }

    /// Returns what [`CatalogView::unserved_skills`] returned before, or nothing if it was not called yet.
    pub(crate) fn known_unserved_skills(&self) -> &[UnservedSkill] {
        self.unserved_skills.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the `skills/list` item of an entry, or why it has none. It is recomputed each time unless changes on
    /// disk are watched.
    pub(crate) fn describe_skill(&self, index: usize, is_watched: bool) -> Result<Value, String> {
        let describe = || skills_extension::describe_skill(&self.catalog, &self.catalog.entries[index]);
        if is_watched { self.described_skills[index].get_or_init(describe).clone() } else { describe() }
    }

    /// Renders the instructions that clients give to their model at the start: what to do when, then the skills that are
    /// pinned or used most, with descriptions. A list that does not fit is not cut by alphabet: nobody gains from its
    /// first names.
    pub(crate) fn instructions(&self, favorites: &[String]) -> String {
        let count = self.active.len();
        let mut text = render_workflow(Some(count), self.allowed != AllowedRuns::None);
        let named: Vec<&CatalogEntry> = favorites
            .iter()
            .filter_map(|name| self.active_skills().find(|entry| entry.qualified_name == *name))
            .collect();
        let rest: Vec<&CatalogEntry> =
            self.active_skills().filter(|entry| !named.iter().any(|other| std::ptr::eq(*other, *entry))).collect();
        let room = INSTRUCTIONS_CHARS_MAX - text.chars().count() - INSTRUCTIONS_END_CHARS;
        let (mut lines, mut listed) = list_within(&named, room);
        // The others are listed only if all of them fit.
        let used: usize = lines.iter().map(|line| line.chars().count()).sum();
        let (more, more_listed) = list_within(&rest, room - used);
        if listed == named.len() && more_listed == rest.len() {
            lines.extend(more);
            listed += more_listed;
        }
        if !lines.is_empty() {
            text.push_str(if listed == count { "Skills:\n" } else { "Often used:\n" });
            text.extend(lines);
        }
        if listed < count && listed > 0 {
            text.push_str(&format!("… and {} more; find them with `search_skills`.\n", count - listed));
        }
        text
    }
}

impl ToolList {
    /// Builds the tools of the protocol. A definition that the protocol rejects is reported as a fault.
    fn new(own_tools: Vec<Tool>, listing: ToolListing, naming: ToolNaming) -> Self {
        let ToolListing { tools, mut faults } = listing;
        let own_count = own_tools.len();
        let mut list = Self {
            protocol_tools: own_tools,
            descriptors: Vec::with_capacity(tools.len()),
            by_qualified_name: HashMap::new(),
            faults: Vec::new(),
        };
        for (qualified, mut descriptor) in name_tools(tools, naming, &list.protocol_tools, &mut faults) {
            qualify_title(&mut descriptor);
            match serde_json::from_value(descriptor.definition.clone()) {
                Ok(tool) => {
                    list.protocol_tools.push(tool);
                    list.by_qualified_name.insert(qualified, list.descriptors.len());
                    list.descriptors.push(descriptor);
                }
                Err(error) => faults.push(ToolFault {
                    message: format!("MCP does not accept the definition of this tool: {error}"),
                    skill: descriptor.skill,
                    tool: descriptor.tool,
                }),
            }
        }
        if list.descriptors.len() > skill_actions::LISTED_TOOLS_MAX {
            list.protocol_tools.truncate(own_count);
            list.protocol_tools.extend(skill_actions::list_tools(list.descriptors.len()));
        }
        list.faults = faults;
        list
    }
}

/// Puts the skill into the title of a tool: hosts show titles of several servers and skills together.
fn qualify_title(descriptor: &mut ToolDescriptor) {
    let ToolDescriptor { skill, tool, definition, .. } = descriptor;
    let title = definition.get("title").and_then(Value::as_str).unwrap_or(tool).to_owned();
    definition["title"] = format!("{skill}: {title}").into();
    if let Some(title) = definition.pointer_mut("/annotations/title") {
        *title = format!("{skill}: {}", title.as_str().unwrap_or(tool)).into();
    }
}

/// Gives tools the names that clients see, and returns each with its qualified name. A tool that cannot have such
/// a name is a fault.
fn name_tools(
    tools: Vec<ToolDescriptor>,
    naming: ToolNaming,
    own_tools: &[Tool],
    faults: &mut Vec<ToolFault>,
) -> Vec<(String, ToolDescriptor)> {
    let reserved: Vec<&str> = own_tools.iter().map(|tool| tool.name.as_ref()).collect();
    let mut unnamed = Vec::with_capacity(tools.len());
    for ToolDescriptor { name, skill, tool, .. } in &tools {
        unnamed.push(UnnamedTool { skill, tool, qualified: name.clone() });
    }
    let names = choose_tool_names(&unnamed, &reserved, naming);
    let mut named = Vec::with_capacity(tools.len());
    for (mut descriptor, name) in tools.into_iter().zip(names) {
        match name {
            Ok(name) if name == descriptor.name => named.push((name, descriptor)),
            Ok(name) => {
                descriptor.definition["name"] = name.clone().into();
                let qualified = std::mem::replace(&mut descriptor.name, name);
                named.push((qualified, descriptor));
            }
            Err(message) => faults.push(ToolFault { message, skill: descriptor.skill, tool: descriptor.tool }),
        }
    }
    named
}

/// Renders a line for each skill, with descriptions as long as all of them fit into the room. Returns the lines that fit
/// and their number.
fn list_within(entries: &[&CatalogEntry], room: usize) -> (Vec<String>, usize) {
    let render = |chars: usize| -> Vec<String> {
        let line = |entry: &&CatalogEntry| {
            let about = collapse_whitespace(&entry.description);
            let short = truncate_chars(&about, chars);
            let end = if short.len() < about.len() { "…" } else { "" };
            format!("- {}: {short}{end}\n", collapse_whitespace(&entry.qualified_name))
        };
        // More lines than this never fit.
        entries.iter().take(INSTRUCTIONS_CHARS_MAX / 10).map(line).collect()
    };
    let length = |lines: &[String]| lines.iter().map(|line| line.chars().count()).sum::<usize>();
    let mut lines = Vec::new();
    for chars in DESCRIPTION_CHARS {
        lines = render(chars);
        if length(&lines) <= room {
            break;
        }
    }
    while length(&lines) > room {
        lines.pop();
    }
    let count = lines.len();
    (lines, count)
}

/// Lists the served files and directories of a skill.
pub(crate) fn list_contents(entry: &CatalogEntry) -> Result<SkillContents, LibraryError> {
    let mut contents = prompt::list_bundled_files(entry)?;
    contents.files.retain(|path, _| is_skill_part(path));
    contents.folders.retain(|path| is_skill_part(path));
    Ok(contents)
}

/// Describes why a skill is invalid, without the paths of this machine that its reason may contain.
fn describe_violations(entry: &CatalogEntry) -> String {
    match entry.list_violations().first() {
        Some(violation) => format!("{}:{}: {}", violation.skill_file, violation.start.line, violation.message),
        None => "it cannot be loaded".to_owned(),
    }
}

/// Returns the SHA-256 digest of the bytes, in the form of the Skills extension.
pub fn sha256_digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// Collapses all whitespace of a text, so that it fits on one line.
pub fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use rep_runtime::ToolKind;
    use serde_json::json;

    use super::*;

    fn make_descriptor(tool: &str, definition: Value) -> ToolDescriptor {
        ToolDescriptor {
            name: format!("skill__{tool}"),
            skill: "skill".to_owned(),
            tool: tool.to_owned(),
            kind: ToolKind::Tool,
            definition,
            session_argument: None,
        }
    }

    #[test]
    fn a_definition_that_the_protocol_does_not_accept_is_a_fault_and_hides_no_other() {
        let good = make_descriptor("good", json!({ "name": "skill__good", "inputSchema": { "type": "object" } }));
        let bad = make_descriptor("bad", json!({ "name": 1, "inputSchema": { "type": "object" } }));
        let list = ToolList::new(
            Vec::new(),
            ToolListing { tools: vec![bad, good], faults: Vec::new() },
            ToolNaming::Qualified,
        );
        assert_eq!(list.protocol_tools.last().unwrap().name, "skill__good");
        assert_eq!(list.descriptors.len(), 1);
        let [fault] = list.faults.as_slice() else { panic!("{:?}", list.faults) };
        assert_eq!((fault.skill.as_str(), fault.tool.as_str()), ("skill", "bad"));
        assert!(fault.message.contains("MCP does not accept"), "{}", fault.message);
    }
}
