//! A skill with structure, whose commands can be run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rep_library::store::{Contents, Copy, Texts};
use rep_library::{CatalogEntry, Options, read};
use rep_model::{Document, Origin};
use rep_model::{Resolved, Skill, resolve};
use rep_runtime::plan::Work;
use rep_runtime::plan::command::{CommandCall, CommandError};
use rep_runtime::{Plan, Trust};
use serde_json::{Map, Value};

use crate::call;
use crate::exit::{Exit, Failure};
use crate::library::data_folder;

/// The most files that a skill in one file may bring along.
const FILES_MAX: usize = 1000;

/// A skill in sections, as its author wrote them.
pub(crate) struct Structured {
    /// The skill's qualified name.
    pub(crate) name: String,
    /// What it says.
    pub(crate) document: Document,
    /// Whether it is trusted.
    pub(crate) trust: Trust,
    folder: PathBuf,
    digest: String,
    skill: Skill,
    /// The files it consists of, where it is not a whole folder.
    files: Option<Vec<String>>,
    /// What runs, where it was taken in to run. Removed with this.
    copy: Option<Copy>,
}

impl Structured {
    /// Takes in a skill of a catalogue, to look at what it would do.
    pub(crate) fn of(entry: &CatalogEntry) -> Result<Self, Failure> {
        let trust = call::trust(entry)?;
        let skill = read::skill(entry)?;
        let document = authored(&skill, &entry.qualified_name)?;
        let folder = std::fs::canonicalize(&entry.folder).unwrap_or_else(|_| entry.folder.clone());
        let files = entry.skill.tree.is_lone_file.then(|| named(entry, Some(&document)));
        let digest = match files {
            Some(_) => String::new(),
            None => Contents::read(&entry.folder, Texts::Left).digest(),
        };
        Ok(Self { name: entry.qualified_name.clone(), document, trust, folder, digest, skill, files, copy: None })
    }

    /// Takes in a skill of a catalogue to run it: a private copy, made now. What it says, its digest and its trust are those
    /// of the copy, and the copy is what runs. Of a skill that is one file, only that file and what it names is copied.
    pub(crate) fn held(entry: &CatalogEntry, options: &Options) -> Result<Self, Failure> {
        let mut held = Self::of(entry)?;
        let unfit = |reason: String| call::unfit(&entry.qualified_name, &reason);
        let shown = entry.folder.to_string_lossy();
        let tree = if let Some(files) = &held.files {
            let copy = Copy::of_files(&entry.folder, files, &data_folder()?.join("copies")).map_err(unfit)?;
            let file = copy.folder().join(&files[0]);
            let tree = read::lone_file(&file, &shown);
            held.copy = Some(copy);
            tree
        } else {
            let copy = Copy::of(&entry.folder, &data_folder()?.join("copies")).map_err(unfit)?;
            let tree = read::folder(copy.folder(), &shown, read::Extent::Main)?;
            held.copy = Some(copy);
            tree
        };
        held.skill = Skill::parse(tree).0;
        held.document = authored(&held.skill, &held.name)?;
        if let Some(copy) = &held.copy {
            copy.digest().clone_into(&mut held.digest);
            copy.folder().clone_into(&mut held.folder);
        }
        let is_trusted = match held.files {
            // What was trusted is a folder, and this is not all of it.
            Some(_) => !entry.is_in_project,
            None => entry.is_trusted_as(options, &held.digest)?,
        };
        if held.trust == Trust::Trusted && !is_trusted {
            held.trust = Trust::Untrusted("it changed, or came, since this project was trusted".to_owned());
        }
        Ok(held)
    }

    /// The digest of what runs.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// The plan of one of its commands.
    pub(crate) fn plan(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        workspace: &std::path::Path,
    ) -> Result<Plan, CommandError> {
        let is_file = |path: &str| {
            let is_named = self.files.as_ref().is_none_or(|files| files.iter().any(|file| file == path));
            let real = std::fs::canonicalize(self.folder.join(path)).ok();
            is_named && real.is_some_and(|real| real.starts_with(&self.folder) && real.is_file())
        };
        let mut plan = Plan::of_command(&CommandCall {
            skill: &self.name,
            digest: &self.digest,
            folder: &self.folder,
            front: self.skill.front().map(|front| &front.root),
            file: self.skill.uasp.iter().find_map(|file| file.view().and(file.root.as_ref())),
            document: &self.document,
            name,
            workspace,
            arguments,
            variable: &|name| std::env::var(name).ok(),
            is_file: &is_file,
        })?;
        if let Work::Command(command) = &mut plan.work {
            command.files.clone_from(&self.files);
        }
        Ok(plan)
    }
}

/// The sections its author wrote. What a rule read out of prose is no contract, and is not run.
fn authored(skill: &Skill, name: &str) -> Result<Document, Failure> {
    let Some(document) = rep_convert::document_of(skill) else {
        let failure = Failure::unable("VALIDATION_FAILED", format!("`{name}` holds no structure"));
        return Err(failure.hint("`rep check` says what is wrong"));
    };
    if document.origin == Origin::Extracted {
        let message = format!("`{name}` has no `*.uasp.yaml`: its commands are read out of prose, and are not run");
        let failure = Failure::unable("NO_COMMANDS", message);
        return Err(failure.hint("`rep convert SKILL.md --to uasp --out NAME.uasp.yaml` writes one to look over"));
    }
    Ok(document)
}

/// The files of a skill that is one file.
pub(crate) fn files(entry: &CatalogEntry, skill: &Skill) -> Vec<String> {
    named(entry, rep_convert::document_of(skill).as_ref())
}

/// The files of a skill that is one file: itself, and what its templates and commands start. What else lies beside it, in a home or
/// a project, is not the skill's; names that begin with a dot never are.
fn named(entry: &CatalogEntry, document: Option<&Document>) -> Vec<String> {
    let own = entry.location.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (templates, commands) =
        document.map(|document| (&document.sections.templates, &document.sections.commands)).unzip();
    let paths = templates.into_iter().flatten().filter_map(|template| template.path.as_deref());
    let syntaxes = commands.into_iter().flatten().filter_map(|command| command.syntax.as_deref());
    let words = syntaxes.flat_map(str::split_whitespace);
    let inside = |path: &str| match resolve("", path) {
        Resolved::Inside(path) if path.split('/').any(|part| part.starts_with('.')) => None,
        Resolved::Inside(path) if path.contains('/') || path.contains('.') => Some(path),
        _ => None,
    };
    let named: BTreeSet<String> = paths.chain(words.filter(|word| word.contains('/'))).filter_map(inside).collect();
    std::iter::once(own).chain(named).take(FILES_MAX).collect()
}

/// What a command that has no plan is told as: not found, or not to be run.
pub(crate) fn failure(error: CommandError) -> Failure {
    let exit = match error.code {
        "PATH_NOT_FOUND" => Exit::Findings,
        "USAGE" => Exit::Unable,
        _ => Exit::Refused,
    };
    Failure { exit, ..Failure::refused(error.code, error.message).hint(error.remedy) }
}
