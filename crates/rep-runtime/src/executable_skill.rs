//! A skill loaded to be executed, or to be looked at as it would be.
//!
//! To run, a private copy is made first: what the skill declares, its digest and its trust are those of the copy, and the copy is
//! what runs, whatever happens to the skill's own directory meanwhile. The copy is removed when the value is dropped.
#![expect(clippy::disallowed_methods, reason = "paths are resolved before anything runs from them")]

use std::path::{Path, PathBuf};

use rep_check::tools::effective_tools;
use rep_library::store::{Contents, Copy, Texts};
use rep_library::{CatalogEntry, Options, Status, read};
use rep_model::suggestion::nearest_name;
use rep_model::{Document, Frontmatter, Skill};
use serde_json::{Map, Value};

use crate::error::{CallError, ErrorCode};
use crate::grant::Trust;
use crate::plan::command::{CommandCall, CommandError};
use crate::plan::{Call, Plan, PlanError, Work};

/// The most tools that are named when another one was asked for.
const TOOLS_SHOWN_MAX: usize = 12;

/// A skill whose tools and commands can be planned, and run if it was loaded for that.
pub struct ExecutableSkill {
    /// The qualified name.
    pub name: String,
    /// The directory, absolute; that of the copy if it was loaded to run.
    pub folder: PathBuf,
    /// The digest of the directory.
    pub digest: String,
    /// Whether the skill is trusted.
    pub trust: Trust,
    skill: Skill,
    tools: Vec<Value>,
    /// The sections its author wrote.
    document: Option<Document>,
    /// The files it consists of, if it is a single file and not a whole directory.
    files: Option<Vec<String>>,
    /// Why the directory cannot be read completely.
    unreadable: Option<String>,
    /// What runs. Removed with this value.
    copy: Option<Copy>,
    /// The skill's own directory.
    source: PathBuf,
}

impl ExecutableSkill {
    /// Loads a skill of a catalog to look at what it would do. Nothing can be run with it.
    pub fn inspect(entry: &CatalogEntry) -> Result<Self, CallError> {
        let trust = trust_of(entry)?;
        let skill = read::skill(entry)?;
        let document = Document::authored(&skill);
        let is_single_file = entry.skill.tree.is_lone_file;
        let files = is_single_file.then(|| read::files_of_lone_skill(entry, document.as_ref()));
        let (digest, unreadable) = if files.is_some() {
            (String::new(), None)
        } else {
            let contents = Contents::read(&entry.folder, Texts::Left);
            (contents.digest(), contents.unfit)
        };
        Ok(Self {
            name: entry.qualified_name.clone(),
            folder: std::fs::canonicalize(&entry.folder).unwrap_or_else(|_| entry.folder.clone()),
            digest,
            trust,
            tools: effective_tools(&skill).tools,
            skill,
            document,
            files,
            unreadable,
            copy: None,
            source: entry.folder.clone(),
        })
    }

    /// Loads a skill of a catalog to run it, as a private copy below `copies`. Of a skill that is a single file, only that file and
    /// the files it names are copied.
    pub(crate) fn load(entry: &CatalogEntry, options: &Options, copies: &Path) -> Result<Self, CallError> {
        // A skill that is disabled or invalid is refused before anything is copied.
        trust_of(entry)?;
        let unreadable = |reason: String| CallError::skill_unreadable(&entry.qualified_name, &reason);
        let shown = entry.folder.to_string_lossy();
        let (copy, tree, files) = if entry.skill.tree.is_lone_file {
            let document = Document::authored(&read::skill(entry)?);
            let files = read::files_of_lone_skill(entry, document.as_ref());
            let copy = Copy::of_files(&entry.folder, &files, copies).map_err(unreadable)?;
            let tree = read::lone_file(&copy.folder().join(&files[0]), &shown);
            (copy, tree, Some(files))
        } else {
            let copy = Copy::of(&entry.folder, copies).map_err(unreadable)?;
            let tree = read::folder(copy.folder(), &shown, read::Extent::Main)?;
            (copy, tree, None)
        };
        let skill = Skill::parse(tree).0;
        let trust = trust_of_copy(entry, options, files.is_some(), copy.digest())?;
        Ok(Self {
            name: entry.qualified_name.clone(),
            folder: copy.folder().to_owned(),
            digest: copy.digest().to_owned(),
            trust,
            tools: effective_tools(&skill).tools,
            document: Document::authored(&skill),
            skill,
            files,
            unreadable: None,
            copy: Some(copy),
            source: entry.folder.clone(),
        })
    }

    /// Whether the copy that runs and the skill's own directory still have the digest that the call was planned with.
    pub(crate) fn is_unchanged(&self, copies: &Path) -> bool {
        let Some(copy) = &self.copy else { return false };
        let digest_of = |folder: &Path| Contents::read(folder, Texts::Left).digest();
        digest_of(copy.folder()) == self.digest
            && match &self.files {
                None => digest_of(&self.source) == self.digest,
                Some(files) => {
                    Copy::of_files(&self.source, files, copies).is_ok_and(|again| again.digest() == self.digest)
                }
            }
    }

    /// Whether the skill is trusted as a catalog and the user's decisions have it now.
    pub(crate) fn current_trust(&self, entry: &CatalogEntry, options: &Options) -> Result<Trust, CallError> {
        trust_of_copy(entry, options, self.files.is_some(), &self.digest)
    }

    /// The parsed skill.
    pub fn skill(&self) -> &Skill {
        &self.skill
    }

    /// What the skill declares.
    pub fn frontmatter(&self) -> Option<&Frontmatter> {
        self.skill.front()
    }

    /// The frontmatter and the effective tools, if it can declare tools at all.
    pub fn tools(&self) -> Result<(&Frontmatter, &[Value]), CallError> {
        if let Some(reason) = &self.unreadable {
            return Err(CallError::skill_unreadable(&self.name, reason));
        }
        let Some(front) = self.skill.front() else {
            let message = format!("`{}` has no frontmatter, and so no tools", self.name);
            return Err(CallError::unable(ErrorCode::NoTools, message).with_remedy("only a folder with a SKILL.md can declare tools; `rep exec SKILL COMMAND --dry-run` shows what a command may do"));
        };
        Ok((front, &self.tools))
    }

    /// The sections its author wrote. What was extracted from prose is not a contract, and is never executed.
    pub fn document(&self) -> Result<&Document, CallError> {
        if let Some(document) = &self.document {
            return Ok(document);
        }
        let name = &self.name;
        if self.skill.manifest.is_none() {
            let error = CallError::unable(ErrorCode::ValidationFailed, format!("`{name}` holds no structure"));
            return Err(error.with_remedy("`rep check` says what is wrong"));
        }
        let message = format!("`{name}` has no `*.uasp.yaml`: its commands are read out of prose, and are not run");
        Err(CallError::unable(ErrorCode::NoCommands, message)
            .with_remedy("`rep convert SKILL.md --to uasp --out NAME.uasp.yaml` writes one to look over"))
    }

    /// The position of a tool in [`Self::tools`].
    pub fn tool_index(&self, name: &str) -> Result<usize, CallError> {
        let (_, tools) = self.tools()?;
        if let Some(index) = tools.iter().position(|tool| tool_name(tool) == name) {
            return Ok(index);
        }
        let error = CallError::unable(ErrorCode::ToolNotFound, format!("`{}` has no tool `{name}`", self.name));
        Err(match nearest_name(name, tools.iter().map(tool_name)) {
            Some(near) => error.with_remedy(format!("did you mean `{near}`?")),
            None if tools.is_empty() => error.with_remedy("it declares no tools"),
            None => {
                let all: Vec<&str> = tools.iter().take(TOOLS_SHOWN_MAX).map(tool_name).collect();
                error.with_remedy(format!("its tools: {}", all.join(", ")))
            }
        })
    }

    /// Plans a call of a tool, by its position.
    pub fn plan_tool(&self, index: usize, workspace: &Path, input: Value) -> Result<Plan, PlanError> {
        let front = self.skill.front().ok_or_else(|| PlanError::new("tools", "is missing", "declare a tool"))?;
        Plan::of(Call {
            skill: &self.name,
            digest: &self.digest,
            folder: &self.folder,
            front,
            tool: &self.tools[index],
            workspace,
            input,
        })
    }

    /// Plans one of its commands. `variable` looks up the caller's environment.
    pub(crate) fn plan_command(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        workspace: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Result<Plan, CommandError>, CallError> {
        let document = self.document()?;
        let is_file = |path: &str| {
            let is_named = self.files.as_ref().is_none_or(|files| files.iter().any(|file| file == path));
            let real = std::fs::canonicalize(self.folder.join(path)).ok();
            is_named && real.is_some_and(|real| real.starts_with(&self.folder) && real.is_file())
        };
        let plan = Plan::of_command(&CommandCall {
            skill: &self.name,
            digest: &self.digest,
            folder: &self.folder,
            front: self.skill.front().map(|front| &front.root),
            file: self.skill.uasp.iter().find_map(|file| file.view().and(file.root.as_ref())),
            document,
            name,
            workspace,
            arguments,
            variable,
            is_file: &is_file,
        });
        Ok(plan.map(|mut plan| {
            if let Work::Command(command) = &mut plan.work {
                command.files.clone_from(&self.files);
            }
            plan
        }))
    }
}

/// Whether a skill of a catalog is trusted; one that is disabled or invalid is refused.
fn trust_of(entry: &CatalogEntry) -> Result<Trust, CallError> {
    let shown = &entry.qualified_name;
    match entry.status {
        Status::Active | Status::Hidden | Status::Shadowed => Ok(Trust::Trusted),
        Status::Untrusted => Ok(Trust::Untrusted(entry.reason.clone())),
        Status::Disabled => {
            let error = CallError::refused(ErrorCode::Disabled, format!("the skill `{shown}` is switched off"));
            Err(error.with_remedy(format!("`rep enable {shown}` switches it on")))
        }
        Status::Invalid => {
            let message = format!("`{shown}` cannot be used: {}", entry.reason);
            Err(CallError::unable(ErrorCode::InvalidSkill, message).with_remedy("`rep check` says more"))
        }
    }
}

/// Whether a copy of a skill is trusted, by its digest.
fn trust_of_copy(
    entry: &CatalogEntry,
    options: &Options,
    is_single_file: bool,
    digest: &str,
) -> Result<Trust, CallError> {
    // What was trusted is a directory, and a single file is not all of it.
    let is_trusted = if is_single_file { !entry.is_in_project } else { entry.is_trusted_as(options, digest)? };
    Ok(match trust_of(entry)? {
        Trust::Trusted if !is_trusted => {
            Trust::Untrusted("it changed, or came, since this project was trusted".to_owned())
        }
        trust => trust,
    })
}

/// The name of a tool.
pub fn tool_name(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or("?")
}
