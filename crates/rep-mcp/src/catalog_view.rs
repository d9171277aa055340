//! One snapshot of the library as it is served. What clients request often is computed once per snapshot.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use rep_hosts::is_part;
use rep_library::disclose::{self, Held as SkillContents};
use rep_library::{Catalog, CatalogEntry, LibraryError, Status};
use rep_runtime::{Runtime, ToolDescriptor, ToolFault, ToolListing};
use rmcp::model::{Prompt, Resource, Tool};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{library_tools, prompts, resources, skills_extension, uri};

/// The largest file that is served: the largest skill of the Skills extension.
pub(crate) const FILE_BYTES_MAX: u64 = 16 << 20;
/// The longest instructions: one host truncates them there.
const INSTRUCTIONS_CHARS_MAX: usize = 2048;

/// Which skills clients may run tools of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedRuns {
    /// None: tools of skills are not listed and cannot be called.
    None,
    /// All skills.
    All,
    /// The skills with these names.
    Only(BTreeSet<String>),
}

/// A snapshot of the library, with what was computed from it.
pub struct CatalogView {
    /// The skills.
    pub catalog: Arc<Catalog>,
    /// The number of the snapshot, which cursors carry.
    pub generation: u64,
    /// The skills that models see, as positions in the catalog, in order.
    pub active: Vec<usize>,
    runtime: Arc<Runtime>,
    allowed: AllowedRuns,
    tools: OnceLock<ToolList>,
    prompts: OnceLock<Vec<Prompt>>,
    resources: OnceLock<Vec<Resource>>,
    extension_skills: OnceLock<Vec<usize>>,
    /// What `skills/list` says of each entry, while nothing changes on disk.
    described_skills: Vec<OnceLock<Option<Value>>>,
}

/// The tools of a snapshot.
struct ToolList {
    /// What the protocol lists: the server's own tools, then those of skills.
    listed: Vec<Tool>,
    /// The tools of skills.
    descriptors: Vec<ToolDescriptor>,
    /// Tools of skills that cannot be listed.
    faults: Vec<ToolFault>,
}

impl CatalogView {
    pub(crate) fn new(catalog: Arc<Catalog>, generation: u64, runtime: Arc<Runtime>, allowed: AllowedRuns) -> Self {
        let active = (0..catalog.entries.len()).filter(|index| catalog.entries[*index].status == Status::Active);
        let active = active.collect();
        let described_skills = catalog.entries.iter().map(|_| OnceLock::new()).collect();
        Self {
            catalog,
            generation,
            active,
            runtime,
            allowed,
            tools: OnceLock::new(),
            prompts: OnceLock::new(),
            resources: OnceLock::new(),
            extension_skills: OnceLock::new(),
            described_skills,
        }
    }

    /// The same runtime and permissions over another catalog.
    pub(crate) fn next(&self, catalog: Arc<Catalog>) -> Self {
        Self::new(catalog, self.generation + 1, Arc::clone(&self.runtime), self.allowed.clone())
    }

    /// The skills that models see.
    pub(crate) fn active_skills(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.active.iter().map(|index| &self.catalog.entries[*index])
    }

    /// The tools of skills that clients may call.
    pub fn tools(&self) -> &[ToolDescriptor] {
        &self.tool_list().descriptors
    }

    /// The tool of a skill that clients call by a name.
    pub fn tool(&self, name: &str) -> Option<&ToolDescriptor> {
        self.tools().iter().find(|tool| tool.name == name)
    }

    /// The tools of skills that clients may call in principle and that cannot be listed, with the reason.
    pub fn tool_faults(&self) -> &[ToolFault] {
        &self.tool_list().faults
    }

    /// Every tool as the protocol lists it.
    pub(crate) fn listed_tools(&self) -> &[Tool] {
        &self.tool_list().listed
    }

    fn tool_list(&self) -> &ToolList {
        self.tools.get_or_init(|| {
            let listing = match &self.allowed {
                AllowedRuns::None => ToolListing::default(),
                AllowedRuns::All => self.runtime.tools(&self.catalog, &BTreeSet::new()),
                AllowedRuns::Only(skills) => self.runtime.tools(&self.catalog, skills),
            };
            ToolList::new(listing)
        })
    }

    pub(crate) fn prompts(&self) -> &[Prompt] {
        self.prompts.get_or_init(|| prompts::list(&self.catalog))
    }

    pub(crate) fn resources(&self) -> &[Resource] {
        self.resources.get_or_init(|| resources::list(self))
    }

    /// The skills of the Skills extension.
    pub(crate) fn extension_skills(&self) -> &[usize] {
        self.extension_skills.get_or_init(|| {
            let active = self.active.iter().copied();
            active.filter(|index| skills_extension::can_serve(&self.catalog.entries[*index])).collect()
        })
    }

    /// What `skills/list` says of an entry. Computed anew each time unless changes on disk are watched.
    pub(crate) fn described_skill(&self, index: usize, is_watched: bool) -> Option<Value> {
        // A skill that cannot be read, or is too large, is not in the list.
        let describe = || skills_extension::describe_skill(&self.catalog.entries[index]).ok().flatten();
        if is_watched { self.described_skills[index].get_or_init(describe).clone() } else { describe() }
    }

    /// The instructions that clients give to their model at the start.
    pub(crate) fn instructions(&self) -> String {
        let count = self.active.len();
        let mut text = format!(
            "{count} agent skills: instructions and files for particular tasks. Before a task, look whether one fits: \
             `search_skills` finds by words, `select_skills` by triggers, `list_skills` lists. `load_skill` gives a \
             skill's instructions, `read_skill_file` one of its files, `query_skill` one exact answer. The same files \
             are resources below `skill://`.\n"
        );
        let mut length = text.chars().count();
        for (listed, entry) in self.active_skills().enumerate() {
            let line = format!("- {} ({})\n", one_line(&entry.qualified_name), uri::main_file_uri(entry));
            let rest = format!("… and {} more\n", count - listed);
            if length + line.chars().count() + rest.chars().count() > INSTRUCTIONS_CHARS_MAX {
                text.push_str(&rest);
                break;
            }
            length += line.chars().count();
            text.push_str(&line);
        }
        text
    }
}

impl ToolList {
    /// Builds the tools of the protocol. A definition that the protocol does not accept is a fault.
    fn new(listing: ToolListing) -> Self {
        let ToolListing { tools, mut faults } = listing;
        let mut list =
            Self { listed: library_tools::list(), descriptors: Vec::with_capacity(tools.len()), faults: Vec::new() };
        for descriptor in tools {
            match serde_json::from_value(descriptor.definition.clone()) {
                Ok(tool) => {
                    list.listed.push(tool);
                    list.descriptors.push(descriptor);
                }
                Err(error) => faults.push(ToolFault {
                    message: format!("MCP does not accept its definition: {error}"),
                    skill: descriptor.skill,
                    tool: descriptor.tool,
                }),
            }
        }
        list.faults = faults;
        list
    }
}

/// Lists the files and directories of a skill that are served.
pub(crate) fn list_contents(entry: &CatalogEntry) -> Result<SkillContents, LibraryError> {
    let mut contents = disclose::held(entry)?;
    contents.files.retain(|path, _| is_part(path));
    contents.folders.retain(|path| is_part(path));
    Ok(contents)
}

/// The SHA-256 digest of some bytes, in the form of the Skills extension.
pub fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// A text with all whitespace collapsed, on one line.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use rep_runtime::ToolKind;
    use serde_json::json;

    use super::*;

    fn descriptor(tool: &str, definition: Value) -> ToolDescriptor {
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
        let good = descriptor("good", json!({ "name": "skill__good", "inputSchema": { "type": "object" } }));
        let bad = descriptor("bad", json!({ "name": 1, "inputSchema": { "type": "object" } }));
        let list = ToolList::new(ToolListing { tools: vec![bad, good], faults: Vec::new() });
        assert_eq!(list.listed.last().unwrap().name, "skill__good");
        assert_eq!(list.descriptors.len(), 1);
        let [fault] = list.faults.as_slice() else { panic!("{:?}", list.faults) };
        assert_eq!((fault.skill.as_str(), fault.tool.as_str()), ("skill", "bad"));
        assert!(fault.message.contains("MCP does not accept"), "{}", fault.message);
    }
}
