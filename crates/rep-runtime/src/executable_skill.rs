//! A skill loaded for execution or inspection.
//!
//! For execution, a private copy is made first. The declarations, the digest and the trust are those of the
//! copy, and the copy is what runs, whatever happens to the skill's own directory in the meantime. The copy
//! is removed when the value is dropped.
#![expect(clippy::disallowed_methods, reason = "paths are resolved before anything runs from them")]

use std::path::{Path, PathBuf};

use rep_check::tools::effective_tools;
use rep_library::decisions::{PrivateCopy, SkillContents, TextRetention};
use rep_library::mcp_servers::{self, ServerDeclaration, ServerRequirement};
use rep_library::validation::{SkillViolation, ValidationMode, validate_skill};
use rep_library::{CatalogEntry, LibraryOptions, SkillStatus, skill_reader};
use rep_model::suggestion::nearest_name;
use rep_model::{Frontmatter, ResolvedSkillPath, Skill, SkillDocument, resolve_skill_path};
use serde_json::{Map, Value};

use crate::error::{CallError, ErrorCode};
use crate::grant::ExecutionTrust;
use crate::plan::command::{CommandError, CommandPlanInput, DeclarationSource};
use crate::plan::{Plan, PlanError, PlannedWork, ToolPlanInput};
use crate::runtime::ScriptInvocation;

/// The maximum number of tools listed when an unknown one was requested.
const TOOLS_SHOWN_MAX: usize = 12;
/// The maximum number of files examined to suggest a script.
const FILES_EXAMINED_MAX: usize = 2000;

/// A skill whose tools and commands can be planned, and run if it was loaded for that.
pub struct ExecutableSkill {
    /// The qualified name.
    pub name: String,
    /// Declared UASP versions that are not the hash of the content.
    pub version_warnings: Vec<SkillViolation>,
    /// The directory, absolute; that of the copy if it was loaded for execution.
    pub folder: PathBuf,
    /// The digest of the directory.
    pub digest: String,
    /// Whether the skill is trusted.
    pub trust: ExecutionTrust,
    skill: Skill,
    tools: Vec<Value>,
    /// The sections that its author wrote.
    document: Option<SkillDocument>,
    /// The files it consists of, if it is a single file rather than a directory.
    files: Option<Vec<String>>,
    /// Why the directory cannot be read completely.
    unreadable: Option<String>,
    /// The copy that runs. Removed with this value.
    copy: Option<PrivateCopy>,
    /// The skill's own directory.
    source: PathBuf,
}

impl ExecutableSkill {
    /// Loads a skill of a catalog for inspection. It cannot be run.
    pub fn inspect(entry: &CatalogEntry) -> Result<Self, CallError> {
        let trust = determine_trust(entry)?;
        let (skill, validation) = skill_reader::read_validated_skill(entry)?;
        refuse_violations(entry, validation.violations)?;
        let document = SkillDocument::from_skill(&skill);
        let is_single_file = entry.skill.tree.is_lone_file;
        let files = is_single_file.then(|| skill_reader::list_lone_skill_files(entry, document.as_ref()));
        let (digest, unreadable) = if files.is_some() {
            (String::new(), None)
        } else {
            let contents = SkillContents::read(&entry.folder, TextRetention::DigestsOnly);
            (contents.digest(), contents.unfit)
        };
        Ok(Self {
            name: entry.qualified_name.clone(),
            version_warnings: validation.version_warnings,
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

    /// Loads a skill of a catalog for execution, as a private copy below `copies`. For a skill that is a
    /// single file, only that file and the files it names are copied.
    pub(crate) fn load(entry: &CatalogEntry, options: &LibraryOptions, copies: &Path) -> Result<Self, CallError> {
        // A disabled or invalid skill is refused before anything is copied.
        determine_trust(entry)?;
        let unreadable = |reason: String| CallError::skill_unreadable(&entry.qualified_name, &reason);
        let shown = entry.folder.to_string_lossy();
        let (copy, tree, files) = if entry.skill.tree.is_lone_file {
            let document = SkillDocument::from_skill(&skill_reader::read_skill(entry)?);
            let files = skill_reader::list_lone_skill_files(entry, document.as_ref());
            let copy = PrivateCopy::from_files(&entry.folder, &files, copies).map_err(unreadable)?;
            let tree = skill_reader::read_lone_file(&copy.folder().join(&files[0]), &shown);
            (copy, tree, Some(files))
        } else {
            let copy = PrivateCopy::from_folder(&entry.folder, copies).map_err(unreadable)?;
            let tree = skill_reader::read_folder(copy.folder(), &shown, skill_reader::ReadExtent::Main)?;
            (copy, tree, None)
        };
        // The copy is what runs, so the copy is validated.
        let (skill, faults) = Skill::parse(tree);
        let validation = validate_skill(&skill, faults);
        if entry.validation == ValidationMode::Enforced {
            refuse_violations(entry, validation.violations)?;
        }
        let trust = determine_copy_trust(entry, options, files.is_some(), copy.digest())?;
        Ok(Self {
            name: entry.qualified_name.clone(),
            version_warnings: validation.version_warnings,
            folder: copy.folder().to_owned(),
            digest: copy.digest().to_owned(),
            trust,
            tools: effective_tools(&skill).tools,
            document: SkillDocument::from_skill(&skill),
            skill,
            files,
            unreadable: None,
            copy: Some(copy),
            source: entry.folder.clone(),
        })
    }

    /// Returns whether the copy and the skill's own directory still have the digest that the call was planned
    /// with.
    pub(crate) fn is_unchanged(&self, copies: &Path) -> bool {
        let Some(copy) = &self.copy else { return false };
        let digest_of = |folder: &Path| SkillContents::read(folder, TextRetention::DigestsOnly).digest();
        digest_of(copy.folder()) == self.digest
            && match &self.files {
                None => digest_of(&self.source) == self.digest,
                Some(files) => PrivateCopy::from_files(&self.source, files, copies)
                    .is_ok_and(|again| again.digest() == self.digest),
            }
    }

    /// Returns whether the skill is trusted according to a catalog and the user's current decisions.
    pub(crate) fn current_trust(
        &self,
        entry: &CatalogEntry,
        options: &LibraryOptions,
    ) -> Result<ExecutionTrust, CallError> {
        determine_copy_trust(entry, options, self.files.is_some(), &self.digest)
    }

    /// Returns the parsed skill.
    pub fn skill(&self) -> &Skill {
        &self.skill
    }

    /// Returns the frontmatter.
    pub fn frontmatter(&self) -> Option<&Frontmatter> {
        self.skill.frontmatter()
    }

    /// Returns the frontmatter and the effective tools, or an error if the skill cannot declare tools.
    pub fn require_tools(&self) -> Result<(&Frontmatter, &[Value]), CallError> {
        if let Some(reason) = &self.unreadable {
            return Err(CallError::skill_unreadable(&self.name, reason));
        }
        let Some(front) = self.skill.frontmatter() else {
            let message = format!("`{}` has no frontmatter and therefore no tools", self.name);
            return Err(CallError::unable(ErrorCode::NoTools, message).with_remedy("only a directory with a SKILL.md can declare tools; `rep exec SKILL COMMAND --dry-run` shows what a command may do"));
        };
        Ok((front, &self.tools))
    }

    /// Returns the sections that its author wrote. Commands extracted from Markdown are never executed.
    pub fn require_document(&self) -> Result<&SkillDocument, CallError> {
        if let Some(document) = &self.document {
            return Ok(document);
        }
        let name = &self.name;
        if self.skill.manifest.is_none() {
            let error =
                CallError::unable(ErrorCode::ValidationFailed, format!("`{name}` contains no structured sections"));
            return Err(error.with_remedy("`rep check` shows what is wrong"));
        }
        let message = format!("`{name}` has no `*.uasp.yaml`; commands extracted from Markdown are never executed");
        Err(CallError::unable(ErrorCode::NoCommands, message)
            .with_remedy("`rep convert SKILL.md --to uasp --out NAME.uasp.yaml` writes one for review"))
    }

    /// Returns the MCP servers that the skill declares itself.
    pub fn own_servers(&self) -> Result<Vec<ServerDeclaration>, CallError> {
        let Some(front) = self.skill.frontmatter() else { return Ok(Vec::new()) };
        mcp_servers::list_skill_servers(front, &self.name).map_err(|error| {
            let message = format!("`extensions.mcp_servers` of `{}` cannot be used: {}", self.name, error.message);
            CallError::unable(ErrorCode::InvalidSkill, message).with_remedy(error.remedy)
        })
    }

    /// Returns the MCP servers, or single tools of them, that the skill's tools may call: those that it requires, and
    /// those that it declares.
    pub fn required_servers(&self) -> Result<Vec<ServerRequirement>, CallError> {
        let mut required = self.skill.frontmatter().map(mcp_servers::list_required_servers).unwrap_or_default();
        for server in self.own_servers()? {
            if required.iter().all(|one| one.server != server.name) {
                required.push(ServerRequirement { server: server.name, tool: None });
            }
        }
        Ok(required)
    }

    /// Returns the index of a tool in the effective tools.
    pub fn tool_index(&self, name: &str) -> Result<usize, CallError> {
        let (_, tools) = self.require_tools()?;
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

    /// Plans a call of a tool, by its index.
    pub fn plan_tool(&self, index: usize, workspace: &Path, input: Value) -> Result<Plan, PlanError> {
        let front = self.skill.frontmatter().ok_or_else(|| PlanError::new("tools", "is missing", "declare a tool"))?;
        Plan::from_tool(ToolPlanInput {
            skill: &self.name,
            digest: &self.digest,
            folder: &self.folder,
            front,
            tool: &self.tools[index],
            workspace,
            input,
        })
    }

    /// Plans a script that the skill bundles.
    pub(crate) fn plan_script(&self, script: &ScriptInvocation, workspace: &Path) -> Result<Plan, CallError> {
        if let Some(reason) = &self.unreadable {
            return Err(CallError::skill_unreadable(&self.name, reason));
        }
        let path = self.find_script(&script.path)?;
        let source = DeclarationSource {
            skill: &self.name,
            digest: &self.digest,
            folder: &self.folder,
            front: self.skill.frontmatter().map(|front| &front.root),
            file: self.skill.uasp.iter().find_map(|file| file.view().and(file.root.as_ref())),
            workspace,
        };
        Plan::from_script(&source, &path, &script.arguments, self.files.clone()).map_err(|error| {
            let message = format!("`{}` of `{}` cannot be run: {error}", path, self.name);
            CallError::unable(ErrorCode::InvalidSkill, message).with_remedy(error.remedy)
        })
    }

    /// Returns the normalized path of a file of the skill, or an error that names the nearest scripts.
    fn find_script(&self, written: &str) -> Result<String, CallError> {
        let inside = match resolve_skill_path("", written) {
            ResolvedSkillPath::Inside(path) if !path.is_empty() && !path.chars().any(char::is_control) => path,
            _ => {
                let message = format!("`{written}` is not inside the skill `{}`", self.name);
                let error = CallError::unable(ErrorCode::InvalidArgument, message);
                return Err(error.with_remedy("name a file of the skill, relative to its directory"));
            }
        };
        if self.is_own_file(&inside) {
            return Ok(inside);
        }
        let error = CallError::unable(ErrorCode::PathNotFound, format!("skill `{}` has no file `{inside}`", self.name));
        let scripts = self.list_scripts();
        // The directory is easily forgotten.
        let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let same_name = scripts.iter().find(|script| base(script) == base(&inside)).map(String::as_str);
        Err(match same_name.or_else(|| nearest_name(&inside, scripts.iter().map(String::as_str))) {
            Some(near) => error.with_remedy(format!("did you mean `{near}`?")),
            None if scripts.is_empty() => error.with_remedy("it bundles no scripts"),
            None => {
                let shown: Vec<&str> = scripts.iter().take(TOOLS_SHOWN_MAX).map(String::as_str).collect();
                error.with_remedy(format!("its scripts: {}", shown.join(", ")))
            }
        })
    }

    /// Returns whether a path is a file of the skill that a run can see. Links to the outside do not count.
    fn is_own_file(&self, path: &str) -> bool {
        let is_named = self.files.as_ref().is_none_or(|files| files.iter().any(|file| file == path));
        let real = std::fs::canonicalize(self.folder.join(path)).ok();
        is_named && real.is_some_and(|real| real.starts_with(&self.folder) && real.is_file())
    }

    /// Lists the files that look like scripts, sorted, up to a limit. For messages only.
    fn list_scripts(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = std::collections::VecDeque::from([self.folder.clone()]);
        let mut seen = 0;
        while let Some(folder) = folders.pop_front() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                seen += 1;
                if seen > FILES_EXAMINED_MAX {
                    return found;
                }
                let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
                if kind.is_dir() && entry.file_name() != ".git" {
                    folders.push_back(path);
                } else if kind.is_file()
                    && path.extension().and_then(|ending| ending.to_str()).is_some_and(is_script_extension)
                    && let Ok(own) = path.strip_prefix(&self.folder)
                {
                    found.push(own.to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        found.retain(|path| self.is_own_file(path));
        found
    }

    /// Plans a command. `variable` looks up the caller's environment.
    pub(crate) fn plan_command(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        workspace: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Result<Plan, CommandError>, CallError> {
        let document = self.require_document()?;
        let is_file = |path: &str| self.is_own_file(path);
        let plan = Plan::from_command(&CommandPlanInput {
            skill: &self.name,
            digest: &self.digest,
            folder: &self.folder,
            front: self.skill.frontmatter().map(|front| &front.root),
            file: self.skill.uasp.iter().find_map(|file| file.view().and(file.root.as_ref())),
            document,
            name,
            workspace,
            arguments,
            variable,
            is_file: &is_file,
        });
        Ok(plan.map(|mut plan| {
            if let PlannedWork::Command(command) = &mut plan.work {
                command.files.clone_from(&self.files);
            }
            plan
        }))
    }
}

/// Returns whether a skill of a catalog is trusted; a disabled or invalid one is refused.
fn determine_trust(entry: &CatalogEntry) -> Result<ExecutionTrust, CallError> {
    let shown = &entry.qualified_name;
    match entry.status {
        SkillStatus::Active | SkillStatus::Hidden | SkillStatus::Shadowed => Ok(ExecutionTrust::Trusted),
        SkillStatus::Untrusted => Ok(ExecutionTrust::Untrusted(entry.reason.clone())),
        SkillStatus::Disabled => {
            let error = CallError::refused(ErrorCode::Disabled, format!("the skill `{shown}` is disabled"));
            Err(error.with_remedy(format!("enable it with `rep enable {shown}`")))
        }
        SkillStatus::Invalid => Err(CallError::validation_failed(shown, entry.list_violations())),
    }
}

/// Returns an error if a skill has violations.
fn refuse_violations(entry: &CatalogEntry, violations: Vec<SkillViolation>) -> Result<(), CallError> {
    if violations.is_empty() {
        return Ok(());
    }
    Err(CallError::validation_failed(&entry.qualified_name, violations))
}

/// Returns whether a copy of a skill is trusted, by its digest.
fn determine_copy_trust(
    entry: &CatalogEntry,
    options: &LibraryOptions,
    is_single_file: bool,
    digest: &str,
) -> Result<ExecutionTrust, CallError> {
    // Trust applies to a directory, and a single file is not all of it.
    let is_trusted =
        if is_single_file { !entry.is_in_project } else { entry.is_trusted_with_digest(options, digest)? };
    Ok(match determine_trust(entry)? {
        ExecutionTrust::Trusted if !is_trusted => {
            ExecutionTrust::Untrusted("it was added or changed after this project was trusted".to_owned())
        }
        trust => trust,
    })
}

/// Returns whether files with this extension are scripts.
fn is_script_extension(ending: &str) -> bool {
    matches!(ending, "sh" | "bash" | "py" | "js" | "mjs" | "cjs" | "ts" | "mts" | "rb" | "pl")
}

/// Returns the name of a tool.
pub fn tool_name(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or("?")
}
