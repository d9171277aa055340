//! Scans skills on disk: what each one does, and what the rules of the profile `security` report about it.
//!
//! The user's settings count here; what a skill says about itself does not, so allow comments are ignored. A nested skill
//! is part of the skill around it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rep_check::declaration::{NeededDeclaration, add_declaration};
use rep_check::{CheckOptions, Finding, FindingLocation, Level, Profile, SkillChecker, SkillLocator, detect_dialects};
use rep_model::{Fault, FileContent, Skill, TreeEntry};
use rep_scan::{Behaviour, BehaviourKind};
pub use rep_scan::{Capabilities, CapabilityKind};

use crate::LibraryError;
use crate::check::{CheckGroup, read_open_skill};
use crate::decisions::{SkillContents, TextRetention};
use crate::discovery::SkillLocation;
use crate::open_files::OpenFiles;
use crate::parallel::{SkillProgress, for_each_skill};
use crate::skill_reader::ReadExtent;

/// What follows from the levels of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScanVerdict {
    /// Nothing but information.
    Clear,
    /// There is a warning.
    Review,
    /// There is an error.
    Block,
}

impl ScanVerdict {
    /// Returns the name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Review => "review",
            Self::Block => "block",
        }
    }
}

impl ScanVerdict {
    /// Returns what follows from the levels of findings.
    pub fn from_findings(findings: &[Finding]) -> Self {
        match findings.iter().map(|finding| finding.level).max() {
            Some(Level::Error) => ScanVerdict::Block,
            Some(Level::Warning) => ScanVerdict::Review,
            Some(Level::Info) | None => ScanVerdict::Clear,
        }
    }
}

/// A behaviour and its place.
#[derive(Clone, Debug)]
pub struct LocatedBehaviour {
    /// What the skill does.
    pub behaviour: Behaviour,
    /// Where.
    pub place: FindingLocation,
}

/// A scanned skill.
#[derive(Clone)]
pub struct ScannedSkill {
    /// The name that it declares, or else that of its directory.
    pub name: String,
    /// The path for display.
    pub shown: String,
    /// What it does, sorted by file and place.
    pub behaviours: Vec<LocatedBehaviour>,
    /// The findings, sorted by file and place.
    pub findings: Vec<Finding>,
    /// The directory, unless the skill is a single file or was not read from one.
    pub folder: Option<PathBuf>,
    /// What earlier runs of this version did, if there were any.
    pub runs: Option<RunHistory>,
}

/// What earlier runs of a skill did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunHistory {
    /// How many runs there were.
    pub count: usize,
    /// What they were denied, sorted.
    pub denied: Vec<DeniedAction>,
}

/// Something that runs were denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedAction {
    /// The action: `read`, `write`, `connect`, `spawn`, …
    pub action: String,
    /// The path, the host or the program.
    pub target: String,
    /// Whether the scan shows code that does it.
    pub is_expected: bool,
}

impl DeniedAction {
    /// Describes it in words.
    pub fn describe(&self) -> String {
        let more = if self.is_expected { "" } else { ", which the scan does not show" };
        format!("was denied: {} `{}`{more}", self.action, self.target)
    }
}

impl ScannedSkill {
    /// Compares what earlier runs were denied with what the code does.
    pub fn add_runs(&mut self, count: usize, denials: BTreeSet<(String, String)>) {
        let capabilities = self.capabilities();
        let compare = |(action, target): (String, String)| {
            let kind = CapabilityKind::ALL.into_iter().find(|kind| kind.name() == action);
            let is_expected =
                kind.is_some_and(|kind| capabilities.arguments(kind).any(|argument| may_mean(kind, argument, &target)));
            DeniedAction { action, target, is_expected }
        };
        self.runs = Some(RunHistory { count, denied: denials.into_iter().map(compare).collect() });
    }

    /// Returns what follows from the levels of the findings.
    pub fn verdict(&self) -> ScanVerdict {
        ScanVerdict::from_findings(&self.findings)
    }

    /// Scans a skill that is read and parsed. `shown` is its path for display.
    pub fn from_skill(skill: &Skill, shown: &str) -> Self {
        let options =
            CheckOptions { profiles: vec![Profile::Security], ignores_allow_comments: true, ..CheckOptions::default() };
        Self::with_checker(skill, Vec::new(), shown, &SkillChecker::new(options))
    }

    fn with_checker(skill: &Skill, faults: Vec<Fault>, shown: &str, checker: &SkillChecker) -> Self {
        let (scan, findings) = checker.scan_skill(skill, faults);
        let locator = SkillLocator::new(skill);
        let locate = |behaviour: Behaviour| LocatedBehaviour {
            place: locator.locate(&behaviour.file, behaviour.span),
            behaviour,
        };
        Self {
            name: skill.name().unwrap_or(&skill.tree.folder).to_owned(),
            shown: shown.to_owned(),
            behaviours: scan.behaviours.into_iter().map(locate).collect(),
            findings,
            folder: None,
            runs: None,
        }
    }

    /// Describes what the skill does in plain words, the most telling first.
    pub fn describe(&self) -> Vec<String> {
        describe_behaviours(self.behaviours.iter().map(|located| &located.behaviour))
    }

    /// Returns what the skill needs.
    pub fn capabilities(&self) -> Capabilities {
        Capabilities::from_behaviours(self.behaviours.iter().map(|located| &located.behaviour))
    }
}

/// The result of a scan.
#[derive(Clone, Default)]
pub struct ScannedPaths {
    /// The skills, sorted by path.
    pub skills: Vec<ScannedSkill>,
    /// Notes about what the search skipped.
    pub notes: Vec<String>,
}

/// Scans the skills below the paths of each group with its options.
pub fn scan_groups(
    groups: &[CheckGroup],
    progress: &(dyn Fn(SkillProgress) + Sync),
) -> Result<ScannedPaths, LibraryError> {
    let mut all = ScannedPaths::default();
    for group in groups {
        let scanned = scan_paths(&group.paths, &group.options, progress)?;
        all.skills.extend(scanned.skills);
        all.notes.extend(scanned.notes);
    }
    Ok(all)
}

/// Scans the skills below the paths.
pub fn scan_paths(
    paths: &[PathBuf],
    options: &CheckOptions,
    progress: &(dyn Fn(SkillProgress) + Sync),
) -> Result<ScannedPaths, LibraryError> {
    let options = CheckOptions { profiles: vec![Profile::Security], ignores_allow_comments: true, ..options.clone() };
    let checker = SkillChecker::new(options);
    let (mut scanned, notes) =
        for_each_skill(paths, progress, |found| (found.clone(), scan_location(found, &checker)))?;
    scanned.sort_by(|(one, _), (two, _)| one.cmp(two));
    scanned.dedup_by(|(one, _), (two, _)| one.path == two.path);
    Ok(ScannedPaths { skills: scanned.into_iter().map(|(_, skill)| skill).collect(), notes })
}

/// What a skill would have to declare, and where.
#[derive(Clone, Debug)]
pub struct DeclarationPlan {
    /// The name that it declares, or else that of its directory.
    pub name: String,
    /// The path for display.
    pub shown: String,
    /// What follows from its findings.
    pub verdict: ScanVerdict,
    /// The smallest declaration.
    pub needed: NeededDeclaration,
    /// Where it belongs.
    pub place: DeclarationPlace,
}

/// Where a declaration belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclarationPlace {
    /// In the manifest: a Universal skill.
    Manifest {
        /// The file.
        file: PathBuf,
        /// Its content.
        before: Vec<u8>,
        /// Its content with the declaration; `None` if nothing is missing.
        after: Option<String>,
    },
    /// In the user's own grants, because the dialect of the skill has no permissions.
    Grants {
        /// The digest of the directory.
        digest: String,
    },
    /// Nowhere, for a reason.
    Nowhere(String),
}

/// Computes what the skills below the paths of each group would have to declare.
pub fn plan_declarations(
    groups: &[CheckGroup],
    progress: &(dyn Fn(SkillProgress) + Sync),
) -> Result<(Vec<DeclarationPlan>, Vec<String>), LibraryError> {
    let (mut all, mut all_notes) = (Vec::new(), Vec::new());
    for group in groups {
        let options =
            CheckOptions { profiles: vec![Profile::Security], ignores_allow_comments: true, ..group.options.clone() };
        let checker = SkillChecker::new(options);
        let (mut plans, notes) =
            for_each_skill(&group.paths, progress, |found| (found.clone(), plan_declaration(found, &checker)))?;
        plans.sort_by(|(one, _), (two, _)| one.cmp(two));
        plans.dedup_by(|(one, _), (two, _)| one.path == two.path);
        all.extend(plans.into_iter().map(|(_, plan)| plan));
        all_notes.extend(notes);
    }
    Ok((all, all_notes))
}

fn plan_declaration(found: &SkillLocation, checker: &SkillChecker) -> DeclarationPlan {
    let (skill, faults) = read_open_skill(found, &OpenFiles::default(), ReadExtent::Everything);
    let (scan, findings) = checker.scan_skill(&skill, faults);
    let capabilities = scan.capabilities();
    let is_universal = detect_dialects(&skill).contains(&Profile::Universal);
    let place = if is_universal {
        plan_manifest(found, &skill, &capabilities)
    } else if found.is_lone_file {
        DeclarationPlace::Nowhere("a skill that is a single file has no directory to grant permissions to".to_owned())
    } else {
        let contents = SkillContents::read(&found.path, TextRetention::DigestsOnly);
        match contents.unfit {
            Some(reason) => DeclarationPlace::Nowhere(reason),
            None => DeclarationPlace::Grants { digest: contents.digest() },
        }
    };
    DeclarationPlan {
        name: skill.name().unwrap_or(&skill.tree.folder).to_owned(),
        shown: found.shown.clone(),
        verdict: ScanVerdict::from_findings(&findings),
        needed: NeededDeclaration::from_capabilities(&capabilities),
        place,
    }
}

fn plan_manifest(found: &SkillLocation, skill: &Skill, capabilities: &Capabilities) -> DeclarationPlace {
    let Some(manifest) = skill.manifest.as_ref().filter(|manifest| !manifest.is_lossy && !manifest.is_guessed) else {
        return DeclarationPlace::Nowhere("its SKILL.md has errors; `rep check` shows them".to_owned());
    };
    match add_declaration(skill, capabilities) {
        Ok(after) => {
            let Some(TreeEntry::File { content: FileContent::Bytes(before), .. }) =
                skill.tree.entries.get(manifest.file)
            else {
                return DeclarationPlace::Nowhere("its SKILL.md cannot be read".to_owned());
            };
            DeclarationPlace::Manifest { file: found.path.join(manifest.file), before: before.clone(), after }
        }
        Err(reason) => DeclarationPlace::Nowhere(reason),
    }
}

fn scan_location(found: &SkillLocation, checker: &SkillChecker) -> ScannedSkill {
    let (skill, faults) = read_open_skill(found, &OpenFiles::default(), ReadExtent::Everything);
    let folder = (!found.is_lone_file).then(|| found.path.clone());
    ScannedSkill { folder, ..ScannedSkill::with_checker(&skill, faults, &found.shown, checker) }
}

/// Whether an argument of a behaviour may be what a run was denied: a path, a host with a port, or a program.
fn may_mean(kind: CapabilityKind, argument: &str, target: &str) -> bool {
    let (argument, target) = match kind {
        CapabilityKind::Connect => {
            (argument.split(':').next().unwrap_or(argument), target.split(':').next().unwrap_or(target))
        }
        // The record often does not know which program it was.
        CapabilityKind::Spawn if target.contains(' ') => return true,
        CapabilityKind::Spawn => (argument, target.rsplit('/').next().unwrap_or(target)),
        _ => (argument.trim_start_matches(['~', '/']), target),
    };
    let mut rest = target;
    let parts: Vec<&str> = argument.split('*').collect();
    for (index, part) in parts.iter().enumerate() {
        // What comes before a path of a behaviour may be the workspace or the home directory.
        let at = match (index, kind) {
            (0, CapabilityKind::Read | CapabilityKind::Write) if rest != *part => {
                rest.find(&format!("/{part}")).map(|at| at + 1).or_else(|| rest.starts_with(part).then_some(0))
            }
            (0, _) => rest.starts_with(part).then_some(0),
            _ => rest.find(part),
        };
        let Some(at) = at else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || argument.ends_with('*')
}

/// The maximum number of arguments of one kind in a description.
const SHOWN_MAX: usize = 8;

/// Describes behaviours in plain words: `reads your SSH keys`, `` sends data to `203.0.113.7` ``, `` starts `bash` ``.
pub fn describe_behaviours<'a>(behaviours: impl IntoIterator<Item = &'a Behaviour>) -> Vec<String> {
    let mut by_kind: BTreeMap<BehaviourKind, BTreeSet<&str>> = BTreeMap::new();
    let mut private: BTreeSet<&str> = BTreeSet::new();
    for behaviour in behaviours {
        match rep_scan::private_data(&behaviour.argument) {
            Some(what) if behaviour.kind == BehaviourKind::Read => {
                private.insert(what);
            }
            _ => {}
        }
        by_kind.entry(behaviour.kind).or_default().insert(&behaviour.argument);
    }
    let sent = by_kind.get(&BehaviourKind::Send).cloned().unwrap_or_default();
    if let Some(hosts) = by_kind.get_mut(&BehaviourKind::Connect) {
        hosts.retain(|host| !sent.contains(host));
    }
    let owned = |what: &str| {
        if what.starts_with("a ") || what.starts_with("the ") { what.to_owned() } else { format!("your {what}") }
    };
    let mut lines: Vec<String> = private.into_iter().map(|what| format!("reads {}", owned(what))).collect();
    let line = |(kind, words): (BehaviourKind, &str)| {
        let all = by_kind.get(&kind).filter(|all| !all.is_empty())?;
        let shown: Vec<String> = all.iter().take(SHOWN_MAX).map(|argument| describe_argument(argument)).collect();
        let more = if all.len() > SHOWN_MAX { format!(" and {} more", all.len() - SHOWN_MAX) } else { String::new() };
        Some(format!("{words} {}{more}", shown.join(", ")))
    };
    let kinds = [
        (BehaviourKind::Secret, "reads the secrets"),
        (BehaviourKind::Send, "sends data to"),
        (BehaviourKind::Connect, "connects to"),
        (BehaviourKind::Persist, "arranges to be started again by"),
        (BehaviourKind::Privilege, "raises its privileges with"),
        (BehaviourKind::Install, "installs"),
        (BehaviourKind::Run, "starts"),
        (BehaviourKind::Read, "reads"),
        (BehaviourKind::Write, "writes"),
        (BehaviourKind::Delete, "removes"),
        (BehaviourKind::Env, "reads the variables"),
    ];
    lines.extend(kinds.into_iter().filter_map(line));
    lines
}

/// An argument in words: what is not known is said.
fn describe_argument(argument: &str) -> String {
    if argument == "*" { "what is only known at run time".to_owned() } else { format!("`{argument}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denied_target_is_compared_with_the_arguments_of_behaviours() {
        let cases = [
            (CapabilityKind::Read, "~/.ssh/id_rsa", "/home/u/.ssh/id_rsa", true),
            (CapabilityKind::Read, "data/in.txt", "data/in.txt", true),
            (CapabilityKind::Read, "data/in.txt", "/w/data/in.txt", true),
            (CapabilityKind::Write, "out/*.txt", "out/a.txt", true),
            (CapabilityKind::Write, "out/*.txt", "in/a.txt", false),
            (CapabilityKind::Read, "data/in.txt", "data/in.txt.bak", false),
            (CapabilityKind::Connect, "api.example.org", "api.example.org:443", true),
            (CapabilityKind::Connect, "*", "203.0.113.7:80", true),
            (CapabilityKind::Connect, "api.example.org", "evil.example.net:443", false),
            (CapabilityKind::Spawn, "curl", "/usr/bin/curl", true),
            (CapabilityKind::Spawn, "curl", "/usr/bin/nc", false),
            (CapabilityKind::Spawn, "curl", "a child process", true),
        ];
        for (kind, argument, target, expected) in cases {
            assert_eq!(may_mean(kind, argument, target), expected, "{argument} {target}");
        }
    }
}
