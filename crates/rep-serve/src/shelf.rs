//! One snapshot of the library as it is served: what is asked often is worked out once.

use std::sync::{Arc, OnceLock};

use rep_hosts::is_part;
use rep_library::disclose::{self, Held};
use rep_library::{Catalog, CatalogEntry, LibraryError, Status};
use rmcp::model::{Prompt, Resource, Tool};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::runs::{Offer, Runs};
use crate::{prompts, resources, skills, tools, uri};

/// The largest file that is handed out, which is the largest skill of the Skills extension.
pub(crate) const FILE_BYTES_MAX: u64 = 16 << 20;
/// The longest instructions: one host cuts them there.
const INSTRUCTIONS_CHARS_MAX: usize = 2048;

/// A snapshot, with what was worked out for it.
pub(crate) struct Shelf {
    pub(crate) catalog: Arc<Catalog>,
    /// Its number, which cursors bear.
    pub(crate) mark: u64,
    /// The skills models are told of, in order.
    pub(crate) active: Vec<usize>,
    offers: OnceLock<Vec<Offer>>,
    tools: OnceLock<Vec<Tool>>,
    prompts: OnceLock<Vec<Prompt>>,
    resources: OnceLock<Vec<Resource>>,
    skills: OnceLock<Vec<usize>>,
    /// What `skills/list` said of each entry, for as long as nothing changes.
    described: Vec<OnceLock<Option<Value>>>,
}

impl Shelf {
    pub(crate) fn new(catalog: Arc<Catalog>, mark: u64) -> Self {
        let active = (0..catalog.entries.len()).filter(|index| catalog.entries[*index].status == Status::Active);
        let active = active.collect();
        let described = catalog.entries.iter().map(|_| OnceLock::new()).collect();
        Self {
            catalog,
            mark,
            active,
            offers: OnceLock::new(),
            tools: OnceLock::new(),
            prompts: OnceLock::new(),
            resources: OnceLock::new(),
            skills: OnceLock::new(),
            described,
        }
    }

    /// The skills models are told of.
    pub(crate) fn disclosed(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.active.iter().map(|index| &self.catalog.entries[*index])
    }

    /// The tools of skills that may be called.
    pub(crate) fn offers(&self, runs: Option<&dyn Runs>) -> &[Offer] {
        self.offers.get_or_init(|| runs.map(|runs| runs.offers(&self.catalog)).unwrap_or_default())
    }

    /// Every tool.
    pub(crate) fn tools(&self, runs: Option<&dyn Runs>) -> &[Tool] {
        self.tools.get_or_init(|| {
            let offered =
                self.offers(runs).iter().filter_map(|offer| serde_json::from_value(offer.listed.clone()).ok());
            tools::own().into_iter().chain(offered).collect()
        })
    }

    /// Every prompt.
    pub(crate) fn prompts(&self) -> &[Prompt] {
        self.prompts.get_or_init(|| prompts::all(&self.catalog))
    }

    /// Every file of every skill, as a resource.
    pub(crate) fn resources(&self) -> &[Resource] {
        self.resources.get_or_init(|| resources::all(self))
    }

    /// The skills the Skills extension can serve.
    pub(crate) fn skills(&self) -> &[usize] {
        self.skills.get_or_init(|| {
            let fits = |index: &usize| skills::fits(&self.catalog.entries[*index]);
            self.active.iter().copied().filter(fits).collect()
        })
    }

    /// What `skills/list` says of an entry. Kept only where somebody watches for changes.
    pub(crate) fn described(&self, index: usize, is_watched: bool) -> Option<Value> {
        // A skill that cannot be read just now, or is larger than hosts take, is not in the list.
        let work = || skills::described(&self.catalog.entries[index]).ok().flatten();
        if is_watched { self.described[index].get_or_init(work).clone() } else { work() }
    }

    /// What clients tell their model at the start.
    pub(crate) fn instructions(&self) -> String {
        let count = self.active.len();
        let mut text = format!(
            "{count} agent skills: instructions and files for particular tasks. Before a task, look whether one fits: \
             `search_skills` finds by words, `select_skills` by triggers, `list_skills` lists. `load_skill` gives a \
             skill's instructions, `read_skill_file` one of its files, `query_skill` one exact answer. The same files \
             are resources below `skill://`.\n"
        );
        let mut length = text.chars().count();
        for (told, entry) in self.disclosed().enumerate() {
            let line = format!("- {} ({})\n", one_line(&entry.qualified_name), uri::of_main(entry));
            let rest = format!("… and {} more\n", count - told);
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

/// What a skill holds, without what is no part of it.
pub(crate) fn held(entry: &CatalogEntry) -> Result<Held, LibraryError> {
    let mut held = disclose::held(entry)?;
    held.files.retain(|path, _| is_part(path));
    held.folders.retain(|path| is_part(path));
    Ok(held)
}

/// The digest of some bytes, as the Skills extension writes it.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// Text on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
