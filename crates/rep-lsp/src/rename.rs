//! Renames of skills, of bundled files and of the names of a UASP file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rep_check::{Finding, Level, SkillChecker};
use rep_model::yaml::quote_if_needed;
use rep_model::{Skill, SkillTree};
use serde_json::{Value, json};

use crate::bundle::ParsedSkill;
use crate::client::ClientFeatures;
use crate::edits::WorkspaceEdit;
use crate::file_uri::{encode_path, parse_file_uri};
use crate::message::RpcError;
use crate::navigation::needle_of;
use crate::references::{Reference, ReferenceForm, ReferenceTarget, UaspNameKind};
use crate::scan::{FoundReference, ScanCancelled, WorkspaceScan};
use crate::session::Session;
use crate::view::DocumentView;

/// What happens to the directory of a skill that gets another name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FolderMove {
    /// It keeps its name, because that differs from the skill's or the client renames no files.
    Stays,
    /// The edit renames it.
    ByEdit,
    /// The client renames it itself.
    ByClient,
}

/// A skill that gets another name.
struct SkillRename {
    /// The directory of the skill, or its file.
    location: PathBuf,
    old: String,
    new: String,
    folder: FolderMove,
    /// Whether another skill has the old name, so that it is unclear which one a reference means.
    is_ambiguous: bool,
}

impl Session {
    /// Answers `textDocument/prepareRename`.
    pub(crate) fn prepare_rename(&mut self, params: &Value) -> Option<Value> {
        let view = self.view(params)?;
        let reference = self.reference_at(&view, params)?;
        match &reference.target {
            ReferenceTarget::Skill(name) => {
                self.find_renamed_skill(&view, &reference, name)?;
            }
            ReferenceTarget::Name(..) => {}
            ReferenceTarget::File { .. } | ReferenceTarget::Trigger(_) => return None,
        }
        Some(json!({ "range": view.range(reference.span), "placeholder": view.slice(reference.span) }))
    }

    /// Answers `textDocument/rename`.
    pub(crate) fn rename(&mut self, id: &Value, params: &Value) {
        let new = params.get("newName").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        let found = self.view(params).and_then(|view| {
            let reference = self.reference_at(&view, params)?;
            Some((view, reference))
        });
        let Some((view, reference)) = found else {
            let error = RpcError::new(RpcError::REQUEST_FAILED, "there is nothing to rename here");
            return self.outbox.respond(id, Err(error));
        };
        match &reference.target {
            ReferenceTarget::Name(kind, _) => {
                let result = self.rename_uasp_name(&view, &reference, *kind, &new);
                self.outbox.respond(id, result);
            }
            ReferenceTarget::Skill(old) => match self.plan_skill_rename(&view, &reference, old, &new) {
                Ok(rename) => {
                    let features = self.features.clone();
                    self.spawn_scan(id, &view.path, move |scan| rename.run(scan, &features));
                }
                Err(error) => self.outbox.respond(id, Err(error)),
            },
            ReferenceTarget::File { .. } | ReferenceTarget::Trigger(_) => {
                let message = "rename the file itself; the links to it follow";
                self.outbox.respond(id, Err(RpcError::new(RpcError::REQUEST_FAILED, message)));
            }
        }
    }

    /// Renames a name of a UASP file where it is declared and used.
    fn rename_uasp_name(
        &self,
        view: &DocumentView,
        reference: &Reference,
        kind: UaspNameKind,
        new: &str,
    ) -> Result<Value, RpcError> {
        let refuse = |message: String| Err(RpcError::new(RpcError::REQUEST_FAILED, message));
        let is_plain = !new.is_empty() && new.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter));
        if !is_plain || new.starts_with(['-', '.']) {
            return refuse(format!("`{new}` is not a name; use letters, digits, `_`, `-` and `.`"));
        }
        let all = self.references_of(view);
        let taken = ReferenceTarget::Name(kind, new.to_owned());
        if all.iter().any(|one| one.is_definition && one.target == taken && one.target != reference.target) {
            return refuse(format!("the file already declares a {} `{new}`", kind.name()));
        }
        let name = |file: &Path| self.name_file(file);
        let mut edit = WorkspaceEdit::new(&self.features, &name);
        for one in all.iter().filter(|one| one.target == reference.target) {
            edit.replace(&view.path, &view.range(one.span), new);
        }
        Ok(edit.finish())
    }

    /// Returns the skill that a reference names: the document's own for a definition, or else the only one of the name.
    fn find_renamed_skill(&self, view: &DocumentView, reference: &Reference, name: &str) -> Option<(PathBuf, bool)> {
        let is_own = reference.is_definition || view.parsed.skill.name() == Some(name);
        if is_own {
            let location = &view.parsed.location;
            return Some((location.path.clone(), location.is_lone_file));
        }
        let index = view.root.as_ref().and_then(|root| self.indexes.get(root))?;
        let mut found = index.find_by_name(name);
        let skill = found.next().filter(|_| found.next().is_none())?;
        Some((skill.location.path.clone(), skill.location.is_lone_file))
    }

    fn plan_skill_rename(
        &self,
        view: &DocumentView,
        reference: &Reference,
        old: &str,
        new: &str,
    ) -> Result<SkillRename, RpcError> {
        let refuse = |message: String| Err(RpcError::new(RpcError::REQUEST_FAILED, message));
        let Some((location, is_lone_file)) = self.find_renamed_skill(view, reference, old) else {
            return refuse(format!("several skills are named `{old}`; rename one in its own SKILL.md"));
        };
        if let Some(problem) = self.find_name_problem(view, &location, new) {
            return refuse(problem);
        }
        let root = view.root.as_deref();
        let index = root.and_then(|root| self.indexes.get(root));
        let twins =
            index.map_or(0, |index| index.find_by_name(old).filter(|one| one.location.path != location).count());
        if let Some(other) = index.and_then(|index| index.find_by_name(new).find(|one| one.location.path != location)) {
            let shown = root.and_then(|root| other.main.strip_prefix(root).ok()).unwrap_or(&other.main);
            return refuse(format!("the name `{new}` is already used by `{}`", shown.display()));
        }
        let folder_name = location.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let moves_folder = !is_lone_file && folder_name == old && self.features.renames_files;
        if moves_folder && location.with_file_name(new).symlink_metadata().is_ok() {
            return refuse(format!("the directory `{new}` already exists"));
        }
        Ok(SkillRename {
            location,
            old: old.to_owned(),
            new: new.to_owned(),
            folder: if moves_folder { FolderMove::ByEdit } else { FolderMove::Stays },
            is_ambiguous: twins > 0,
        })
    }

    /// Returns what the rules say about a new name, if they call it an error.
    fn find_name_problem(&self, view: &DocumentView, location: &Path, new: &str) -> Option<String> {
        if new.is_empty() || new.contains(['/', '\\', '\n', '\r']) || new == "." || new == ".." {
            return Some(format!("`{new}` is not a name"));
        }
        let root = view.root.as_deref();
        let mut loaded = self.bundles.values().flat_map(|bundle| &bundle.members);
        let loaded = loaded.find(|member| member.parsed.location.path == location);
        let parsed = match loaded {
            Some(member) => Arc::clone(&member.parsed),
            None => self.read_indexed(root?, location)?,
        };
        let shared = self.checkers.checker_for(&parsed.location, root);
        find_new_problem(&parsed, &shared.checker, new)
    }

    fn read_indexed(&self, root: &Path, location: &Path) -> Option<Arc<ParsedSkill>> {
        let skill = self.indexes.get(root)?.skills.get(location)?;
        Some(Arc::new(ParsedSkill::read(&skill.location, &self.open)))
    }

    /// Returns the URI of a file, and the version if it is open.
    pub(crate) fn name_file(&self, file: &Path) -> (String, Option<i64>) {
        (self.uri_of(file), self.documents.get(file).map(|document| document.version))
    }

    /// Answers `workspace/willRenameFiles`: the links to a renamed file follow, and a renamed directory renames its
    /// skill.
    pub(crate) fn will_rename_files(&mut self, id: &Value, params: &Value) {
        let files = params.get("files").and_then(Value::as_array).into_iter().flatten();
        let path = |file: &Value, key: &str| parse_file_uri(file.get(key)?.as_str()?);
        let moved: Vec<(PathBuf, PathBuf)> =
            files.filter_map(|file| Some((path(file, "oldUri")?, path(file, "newUri")?))).collect();
        let Some((first, _)) = moved.first() else {
            return self.outbox.respond(id, Ok(Value::Null));
        };
        let root = self.root_of(first).map(Path::to_owned);
        let index = root.as_ref().and_then(|root| self.indexes.get(root));
        let renames: Vec<SkillRename> = moved
            .iter()
            .filter_map(|(from, to)| {
                let skill = index?.skills.get(from).filter(|skill| !skill.location.is_lone_file)?;
                let folder_name = from.file_name()?.to_str()?;
                let new = to.file_name()?.to_str()?;
                let twins = index?.find_by_name(&skill.name).count();
                (skill.name == folder_name && new != folder_name).then(|| SkillRename {
                    location: from.clone(),
                    old: skill.name.clone(),
                    new: new.to_owned(),
                    folder: FolderMove::ByClient,
                    is_ambiguous: twins > 1,
                })
            })
            .collect();
        let features = self.features.clone();
        let around = first.clone();
        self.spawn_scan(id, &around, move |scan| move_files(scan, &features, &moved, &renames));
    }
}

/// Returns what is newly wrong with a skill if it gets a name: the message of a rule about names.
fn find_new_problem(parsed: &ParsedSkill, checker: &SkillChecker, new: &str) -> Option<String> {
    let find = |skill: &Skill, faults| -> Vec<Finding> {
        let is_about_names = |finding: &Finding| {
            let rule = finding.rule.name;
            (rule.starts_with("name-")
                || rule == "uasp-name-hyphens"
                || finding.data_path.as_deref() == Some("meta.name"))
                && finding.level == Level::Error
        };
        checker.collect_findings(skill, faults).into_iter().filter(is_about_names).collect()
    };
    let known = find(&parsed.skill, parsed.faults.clone());
    let (renamed, faults) = Skill::parse(rename_in_tree(parsed, new));
    let problems = find(&renamed, faults);
    let is_new = |finding: &&Finding| !known.iter().any(|other| other.rule.name == finding.rule.name);
    problems.iter().find(is_new).map(|finding| format!("{}: {}", finding.message, finding.help))
}

/// Returns the tree of a skill with another name and directory.
fn rename_in_tree(parsed: &ParsedSkill, new: &str) -> SkillTree {
    let mut tree = parsed.skill.tree.clone();
    new.clone_into(&mut tree.folder);
    let front = parsed.skill.manifest.as_ref().zip(parsed.skill.frontmatter().and_then(rep_model::Frontmatter::name));
    let of_front = front.map(|(manifest, name)| (manifest.file.to_owned(), &manifest.source, name.span()));
    let of_uasp = || {
        let uasp = parsed.skill.uasp.first()?;
        Some((uasp.file.clone(), &uasp.source, uasp.view()?.name()?.span()))
    };
    if let Some((file, source, span)) = of_front.or_else(of_uasp) {
        let mut text = source.text().to_owned();
        text.replace_range(span.range(), &quote_if_needed(new));
        let content = rep_model::FileContent::Bytes(text.into_bytes());
        if let Some(rep_model::TreeEntry::File { content: old, .. }) = tree.entries.get_mut(&file) {
            *old = content;
        }
    }
    tree
}

impl SkillRename {
    /// Finds everything that refers to the skill, and changes it.
    fn run(&self, scan: &WorkspaceScan, features: &ClientFeatures) -> Result<Result<Value, RpcError>, ScanCancelled> {
        let name = |file: &Path| name_in_scan(scan, file);
        let mut edit = WorkspaceEdit::new(features, &name);
        self.add_edits(scan, &mut edit)?;
        if self.folder == FolderMove::ByEdit {
            let old_file = format!("{}{}", self.old, rep_model::uasp::FILE_SUFFIX);
            let new_file = format!("{}{}", self.new, rep_model::uasp::FILE_SUFFIX);
            let own = self.location.join(&old_file);
            if own.symlink_metadata().is_ok() || scan.open.get(&own).is_some() {
                edit.rename(&own, &self.location.join(new_file));
            }
            edit.rename(&self.location, &self.location.with_file_name(&self.new));
        }
        Ok(Ok(edit.finish()))
    }

    fn add_edits(&self, scan: &WorkspaceScan, edit: &mut WorkspaceEdit<'_>) -> Result<(), ScanCancelled> {
        let target = ReferenceTarget::Skill(self.old.clone());
        let found = scan.find(&self.old, &|one, parsed| {
            let is_own = parsed.location.path == self.location;
            match &one.target {
                target_of if *target_of == target && one.is_definition => is_own,
                target_of if *target_of == target => is_own || !self.is_ambiguous,
                ReferenceTarget::File { path, .. } => {
                    self.folder != FolderMove::Stays && !is_own && path.starts_with(&self.location)
                }
                _ => false,
            }
        })?;
        let new_folder = self.location.with_file_name(&self.new);
        for one in &found {
            match &one.reference.target {
                ReferenceTarget::File { path, .. } => {
                    let below = path.strip_prefix(&self.location).unwrap_or(Path::new(""));
                    edit.replace(&one.file, &one.range, &write_path(one, &one.file, &new_folder.join(below)));
                }
                _ => edit.replace(&one.file, &one.range, &self.new),
            }
        }
        Ok(())
    }
}

/// Changes the links to files that the client is about to rename, and the names of skills whose directory is renamed.
fn move_files(
    scan: &WorkspaceScan,
    features: &ClientFeatures,
    moved: &[(PathBuf, PathBuf)],
    renames: &[SkillRename],
) -> Result<Result<Value, RpcError>, ScanCancelled> {
    let name = |file: &Path| name_in_scan(scan, file);
    let mut edit = WorkspaceEdit::new(features, &name);
    for rename in renames {
        rename.add_edits(scan, &mut edit)?;
    }
    let new_path = |path: &Path| {
        moved.iter().find_map(|(from, to)| path.strip_prefix(from).ok().map(|below| join_below(to, below)))
    };
    for (from, to) in moved.iter().filter(|(from, _)| !renames.iter().any(|rename| rename.location == *from)) {
        let is_wanted = |one: &Reference, parsed: &ParsedSkill| match &one.target {
            // A directory that moves with everything in it keeps the links between its files.
            ReferenceTarget::File { path, .. } => path.starts_with(from) && !parsed.folder().starts_with(from),
            _ => false,
        };
        let needle = needle_of(&ReferenceTarget::File { path: from.clone(), fragment: None });
        for one in scan.find(&needle, &is_wanted)? {
            let ReferenceTarget::File { path, .. } = &one.reference.target else { continue };
            let file = new_path(&one.file).unwrap_or_else(|| one.file.clone());
            let Some(target) = new_path(path) else { continue };
            edit.replace(&one.file, &one.range, &write_path(&one, &file, &target));
        }
        // The relative links of a file that moves to another directory.
        if from.parent() != to.parent() && from.is_file() {
            let is_link = |one: &Reference, _: &ParsedSkill| {
                one.form == ReferenceForm::Link
                    && matches!(&one.target, ReferenceTarget::File { path, .. } if new_path(path).is_none())
            };
            let own = scan.find_around(from, &is_link);
            for one in own.iter().filter(|one| one.file == *from && !one.written.starts_with('#')) {
                let ReferenceTarget::File { path, .. } = &one.reference.target else { continue };
                edit.replace(&one.file, &one.range, &write_path(one, to, path));
            }
        }
    }
    Ok(Ok(edit.finish()))
}

fn join_below(to: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { to.to_owned() } else { to.join(below) }
}

fn name_in_scan(scan: &WorkspaceScan, file: &Path) -> (String, Option<i64>) {
    (scan.uri(file), scan.documents.get(file).map(|(_, version)| *version))
}

/// Writes a path as a reference of a file writes it.
fn write_path(one: &FoundReference, file: &Path, target: &Path) -> String {
    let path = match one.reference.form {
        ReferenceForm::Link => encode_path(&relative_path(file.parent().unwrap_or(file), target)),
        ReferenceForm::SkillPath | ReferenceForm::Word => relative_path(&one.skill_folder, target),
    };
    let prefix = if one.written.starts_with("./") && !path.starts_with("..") { "./" } else { "" };
    format!("{prefix}{path}")
}

/// Returns the path from a directory to a file, with `/` and `..`.
fn relative_path(from: &Path, to: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(one, two)| one == two).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - shared);
    let down = to[shared..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_up_and_down() {
        let relative = |from: &str, to: &str| relative_path(Path::new(from), Path::new(to));
        assert_eq!(relative("/s/pdf", "/s/pdf/references/a.md"), "references/a.md");
        assert_eq!(relative("/s/pdf/references", "/s/pdf/scripts/x.py"), "../scripts/x.py");
        assert_eq!(relative("/s/pdf", "/s/other/SKILL.md"), "../other/SKILL.md");
    }
}
