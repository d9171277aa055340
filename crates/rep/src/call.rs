//! A skill and one of its tools, as a command names them: `SKILL` or `SKILL:TOOL`.

use std::path::{Path, PathBuf};

use rep_check::tools;
use rep_library::store::{Contents, Copy, Texts};
use rep_library::{CatalogEntry, Options, Status, read};
use rep_model::{Frontmatter, Skill};
use rep_runtime::{Call, Plan, PlanError, Trust};
use serde_json::Value;

use crate::exit::Failure;
use crate::library::{LibraryArgs, data_folder};
use crate::output::Output;

/// The most tools that are named to who asked for another one.
const TOOLS_SHOWN_MAX: usize = 12;

/// A skill, and perhaps one of its tools.
pub(crate) struct Called {
    /// The skill's qualified name.
    pub(crate) name: String,
    /// Its folder, absolute; that of the copy where it was taken in to run.
    pub(crate) folder: PathBuf,
    /// The digest of the folder.
    pub(crate) digest: String,
    /// Whether it is trusted.
    pub(crate) trust: Trust,
    /// Its effective tools.
    pub(crate) tools: Vec<Value>,
    /// The tool that was named, in `tools`.
    pub(crate) tool: Option<usize>,
    skill: Skill,
    /// What runs, where it was taken in to run. Removed with this.
    copy: Option<Copy>,
}

/// Finds what a word names. Whole, it is a skill; else what stands behind its last colon is a tool.
pub(crate) fn find(library: &LibraryArgs, word: &str, output: &mut Output) -> Result<Called, Failure> {
    let whole = match library.any(word, output) {
        Ok((catalog, index)) => return Called::of(&catalog.entries[index]),
        Err(failure) => failure,
    };
    let Some((skill, tool)) = word.rsplit_once(':').filter(|(skill, tool)| !skill.is_empty() && !tool.is_empty())
    else {
        return Err(whole);
    };
    let (catalog, index) = library.any(skill, output)?;
    let mut called = Called::of(&catalog.entries[index])?;
    called.tool = Some(called.position(tool)?);
    Ok(called)
}

/// The folder patterns are relative to: the one that is named, or the project around the working folder. Absolute, links resolved.
pub(crate) fn workspace(given: Option<&Path>, library: &LibraryArgs) -> Result<PathBuf, Failure> {
    let folder = given.map_or_else(|| library.project(), |folder| Ok(folder.to_owned()))?;
    let real = std::fs::canonicalize(&folder).ok().filter(|real| real.is_dir());
    real.ok_or_else(|| Failure::unable("UNREADABLE", format!("the workspace `{}` is no folder", folder.display())))
}

impl Called {
    /// Takes in a skill of a catalogue.
    pub(crate) fn of(entry: &CatalogEntry) -> Result<Self, Failure> {
        let shown = &entry.qualified_name;
        let trust = trust(entry)?;
        let skill = read::skill(entry)?;
        if skill.front().is_none() {
            let failure = Failure::unable("NO_TOOLS", format!("`{shown}` has no frontmatter, and so no tools"));
            return Err(failure.hint("only a folder with a SKILL.md can declare tools; `rep exec SKILL COMMAND --dry-run` shows what a command may do"));
        }
        let contents = Contents::read(&entry.folder, Texts::Left);
        if let Some(reason) = contents.unfit {
            return Err(unfit(shown, &reason));
        }
        Ok(Self {
            name: entry.qualified_name.clone(),
            folder: std::fs::canonicalize(&entry.folder).unwrap_or_else(|_| entry.folder.clone()),
            digest: contents.digest(),
            trust,
            tools: tools::effective_tools(&skill).tools,
            tool: None,
            skill,
            copy: None,
        })
    }

    /// Takes in a skill of a catalogue to run it: a private copy, made now. What it declares, its digest and its trust
    /// are those of the copy, and the copy is what runs, whatever becomes of the skill's folder meanwhile.
    pub(crate) fn held(entry: &CatalogEntry, options: &Options) -> Result<Self, Failure> {
        let mut called = Self::of(entry)?;
        // A folder of ours, which no tool sees: in a folder for temporary files one could change what another runs.
        let place = data_folder()?.join("copies");
        let copy = Copy::of(&entry.folder, &place).map_err(|reason| unfit(&called.name, &reason))?;
        let tree = read::folder(copy.folder(), &entry.folder.to_string_lossy(), read::Extent::Main)?;
        called.skill = Skill::parse(tree).0;
        if called.skill.front().is_none() {
            return Err(Failure::refused("SKILL_CHANGED", format!("`{}` changed while it was read", called.name)));
        }
        called.tools = tools::effective_tools(&called.skill).tools;
        copy.digest().clone_into(&mut called.digest);
        copy.folder().clone_into(&mut called.folder);
        if called.trust == Trust::Trusted && !entry.is_trusted_as(options, copy.digest())? {
            called.trust = Trust::Untrusted("it changed, or came, since this project was trusted".to_owned());
        }
        called.copy = Some(copy);
        Ok(called)
    }

    /// What the skill declares.
    pub(crate) fn front(&self) -> &Frontmatter {
        self.skill.front().expect("a skill without a frontmatter is refused where it is found")
    }

    /// A tool's place in `tools` by its name.
    pub(crate) fn position(&self, name: &str) -> Result<usize, Failure> {
        if let Some(index) = self.tools.iter().position(|tool| tool_name(tool) == name) {
            return Ok(index);
        }
        let failure = Failure::unable("TOOL_NOT_FOUND", format!("`{}` has no tool `{name}`", self.name));
        let scored = self.tools.iter().map(|tool| (strsim::jaro_winkler(name, tool_name(tool)), tool_name(tool)));
        Err(match scored.max_by(|one, two| one.0.total_cmp(&two.0)) {
            Some((score, near)) if score > 0.75 => failure.hint(format!("did you mean `{near}`?")),
            Some(_) => {
                let all: Vec<&str> = self.tools.iter().take(TOOLS_SHOWN_MAX).map(tool_name).collect();
                failure.hint(format!("its tools: {}", all.join(", ")))
            }
            None => failure.hint("it declares no tools"),
        })
    }

    /// The plan of a call of one of its tools.
    pub(crate) fn plan(&self, tool: usize, workspace: &Path, input: Value) -> Result<Plan, PlanError> {
        Plan::of(Call {
            skill: &self.name,
            digest: &self.digest,
            folder: &self.folder,
            front: self.front(),
            tool: &self.tools[tool],
            workspace,
            input,
        })
    }
}

/// Whether a skill of a catalogue is trusted; one that is switched off or broken is refused.
pub(crate) fn trust(entry: &CatalogEntry) -> Result<Trust, Failure> {
    let shown = &entry.qualified_name;
    match entry.status {
        Status::Active | Status::Hidden | Status::Shadowed => Ok(Trust::Trusted),
        Status::Untrusted => Ok(Trust::Untrusted(entry.reason.clone())),
        Status::Disabled => {
            let failure = Failure::refused("DISABLED", format!("the skill `{shown}` is switched off"));
            Err(failure.hint(format!("`rep enable {shown}` switches it on")))
        }
        Status::Invalid => {
            let failure = Failure::unable("INVALID_SKILL", format!("`{shown}` cannot be used: {}", entry.reason));
            Err(failure.hint("`rep check` says more"))
        }
    }
}

/// A skill that cannot be taken in.
pub(crate) fn unfit(skill: &str, reason: &str) -> Failure {
    Failure::refused("UNFIT", format!("`{skill}` cannot be taken in as a whole: {reason}"))
}

/// The name of a tool.
pub(crate) fn tool_name(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or("?")
}
