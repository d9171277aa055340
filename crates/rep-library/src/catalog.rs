//! The catalogue: every skill that was found, and which copy of a name wins.
//!
//! Knows precedence, trust and switches; where to look is `roots`, how to read is `head` and `read`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rep_check::{Finding, Level, Options as CheckOptions, Profile};
use rep_model::yaml::Node;
use rep_model::{Skill, SkillTree, names};

use crate::find::{self, Found};
use crate::roots::{self, Root, Scope};
use crate::store::{self, Decisions, Trust};
use crate::{LibraryError, head, read};

/// Where to look, and what to make of it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Exactly these paths, trusted, instead of discovery.
    pub paths: Vec<PathBuf>,
    /// The project that is worked in.
    pub project: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The administrator's folder; the known places without one.
    pub managed: Option<PathBuf>,
    /// Which scope wins.
    pub precedence: Precedence,
    /// Whether project skills are trusted without asking.
    pub trust: TrustWanted,
    /// What the user decided.
    pub decisions: Decisions,
    /// Further folders of skills, from settings.
    pub extra: Vec<PathBuf>,
}

/// Which scope wins where a name is taken twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precedence {
    /// Managed, project, personal: the specification's order.
    #[default]
    ProjectFirst,
    /// Managed, personal, project: Claude Code's order.
    ClaudeCode,
}

/// Whether project skills need the user's trust.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrustWanted {
    /// They do.
    #[default]
    Needed,
    /// This call trusts them.
    Given,
}

/// What may be done with a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Disclosed to the model.
    Active,
    /// Opted out of model invocation; people may call it.
    Hidden,
    /// Another copy of the name wins.
    Shadowed,
    /// It cannot be loaded.
    Invalid,
    /// Its project is not trusted, or it changed since.
    Untrusted,
    /// The user switched it off.
    Disabled,
}

impl Status {
    /// The word in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Hidden => "hidden",
            Status::Shadowed => "shadowed",
            Status::Invalid => "invalid",
            Status::Untrusted => "untrusted",
            Status::Disabled => "disabled",
        }
    }
}

/// One skill of the catalogue, as far as its frontmatter tells.
pub struct CatalogEntry {
    /// The name, from the frontmatter, else the folder's.
    pub name: String,
    /// The name with its package: `pkg:skill`.
    pub qualified_name: String,
    /// What it does and when to use it.
    pub description: String,
    /// Whose it is.
    pub scope: Scope,
    /// The SKILL.md or `*.uasp.yaml`, absolute.
    pub location: PathBuf,
    /// The folder, absolute.
    pub folder: PathBuf,
    /// What may be done with it.
    pub status: Status,
    /// Why it is not active, in words; empty where it is.
    pub reason: String,
    /// The entry that wins over this one.
    pub shadowed_by: Option<usize>,
    /// What loading noticed.
    pub findings: Vec<Finding>,
    /// The frontmatter or UASP file as read.
    pub skill: Skill,
    /// Whether people may call it by name.
    pub is_user_invocable: bool,
}

/// Every skill that was found: an immutable snapshot.
#[derive(Default)]
pub struct Catalog {
    /// The entries, in order of qualified name; the winner of a name before the others.
    pub entries: Vec<CatalogEntry>,
    /// Where was looked.
    pub roots: Vec<Root>,
    /// What was left out, in words.
    pub notes: Vec<String>,
}

impl Catalog {
    /// Looks for skills and decides which copy of each name wins.
    pub fn discover(options: &Options) -> Result<Catalog, LibraryError> {
        let mut catalog = Catalog::default();
        if options.paths.is_empty() {
            catalog.take_scopes(options);
        } else {
            catalog.take_paths(&options.paths)?;
        }
        catalog.resolve(options);
        Ok(catalog)
    }

    /// The winner of a name, plain or qualified. A plain name also finds a package's skill where only one package has it.
    pub fn get(&self, name: &str) -> Option<&CatalogEntry> {
        let is_callable = |entry: &&CatalogEntry| matches!(entry.status, Status::Active | Status::Hidden);
        let exact = self.entries.iter().filter(is_callable).find(|entry| entry.qualified_name == name);
        exact.or_else(|| {
            let mut matches = self.entries.iter().filter(is_callable).filter(|entry| entry.name == name);
            matches.next().filter(|_| matches.next().is_none())
        })
    }

    fn take_paths(&mut self, paths: &[PathBuf]) -> Result<(), LibraryError> {
        for path in paths {
            let mut found = Vec::new();
            self.notes.extend(find::skills(path, |skill| found.push(skill))?);
            // A folder without skills is an empty library here, not a faulty skill.
            found.retain(|skill| skill.is_lone_file || has_manifest(&skill.path));
            found.sort();
            self.roots.push(Root { path: path.clone(), scope: Scope::Project, package: None, is_in_project: false });
            self.entries.extend(found.iter().map(|skill| load(skill, Scope::Project, None)));
        }
        Ok(())
    }

    fn take_scopes(&mut self, options: &Options) {
        let mut roots = roots::of_managed(options.managed.as_deref());
        if let Some(project) = &options.project {
            roots.extend(roots::of_project(project, &mut self.notes));
        }
        let extra =
            |path: &PathBuf| Root { path: path.clone(), scope: Scope::Personal, package: None, is_in_project: false };
        roots.extend(options.extra.iter().map(extra));
        if let Some(home) = &options.home {
            roots.extend(roots::of_home(home));
        }
        for root in &roots {
            for found in below(&root.path, &mut self.notes) {
                let mut entry = load(&found, root.scope, root.package.as_deref());
                if root.is_in_project {
                    trust(&mut entry, options);
                }
                self.entries.push(entry);
            }
        }
        self.roots = roots;
    }

    /// Decides between entries of the same name, and orders all.
    fn resolve(&mut self, options: &Options) {
        let rank = |scope: Scope| match (options.precedence, scope) {
            (_, Scope::Managed) => 0,
            (Precedence::ProjectFirst, Scope::Project) | (Precedence::ClaudeCode, Scope::Personal) => 1,
            (Precedence::ProjectFirst, Scope::Personal) | (Precedence::ClaudeCode, Scope::Project) => 2,
            (_, Scope::Package) => 3,
        };
        for entry in &mut self.entries {
            let project = options.project.as_deref();
            if let Some(place) = options.decisions.disabled(project, &entry.qualified_name)
                && matches!(entry.status, Status::Active | Status::Hidden)
            {
                entry.status = Status::Disabled;
                entry.reason = format!("switched off {place}");
            }
        }
        // The sort is stable, so that within a scope the first root wins.
        let is_out = |entry: &CatalogEntry| matches!(entry.status, Status::Invalid | Status::Untrusted);
        self.entries.sort_by(|one, two| {
            let key = |entry: &CatalogEntry| (entry.qualified_name.clone(), is_out(entry), rank(entry.scope));
            key(one).cmp(&key(two))
        });
        let mut winners: BTreeMap<String, usize> = BTreeMap::new();
        for index in 0..self.entries.len() {
            if is_out(&self.entries[index]) {
                continue;
            }
            let name = self.entries[index].qualified_name.clone();
            match winners.get(&name) {
                None => {
                    winners.insert(name, index);
                }
                Some(winner) => self.shadow(index, *winner),
            }
        }
    }

    fn shadow(&mut self, index: usize, winner: usize) {
        let (scope, location) = (self.entries[winner].scope, self.entries[winner].location.display().to_string());
        let entry = &mut self.entries[index];
        let why = if entry.scope == scope {
            format!("both are {} skills and that folder comes first", scope.name())
        } else {
            format!("{} skills win over {} ones", scope.name(), entry.scope.name())
        };
        entry.status = Status::Shadowed;
        entry.shadowed_by = Some(winner);
        entry.reason = format!("`{location}` wins: {why}");
    }
}

fn has_manifest(folder: &Path) -> bool {
    let own = format!("{}{}", read::folder_name(folder), rep_model::uasp::SUFFIX);
    ["SKILL.md", own.as_str()].iter().any(|file| folder.join(file).is_file())
}

/// The skills below a root. One that is not there holds none.
fn below(root: &Path, notes: &mut Vec<String>) -> Vec<Found> {
    if !root.is_dir() {
        return Vec::new();
    }
    let mut found = Vec::new();
    match find::skills(root, |skill| found.push(skill)) {
        Ok(left_out) => notes.extend(left_out),
        Err(error) => notes.push(error.to_string()),
    }
    found.retain(|skill| skill.is_lone_file || has_manifest(&skill.path));
    found.sort();
    found
}

/// The rules that matter for loading, and how bad they are then: lenient, as the client guide asks.
const LOADING: [(&str, Level); 22] = [
    ("byte-order-mark", Level::Warning),
    ("description-empty", Level::Error),
    ("description-missing", Level::Error),
    ("description-not-text", Level::Error),
    ("description-too-long", Level::Warning),
    ("encoding-not-utf8", Level::Warning),
    ("file-too-large", Level::Error),
    ("file-unreadable", Level::Error),
    ("frontmatter-missing", Level::Error),
    ("frontmatter-not-mapping", Level::Error),
    ("frontmatter-unclosed", Level::Error),
    ("name-characters", Level::Warning),
    ("name-differs-from-folder", Level::Warning),
    ("name-empty", Level::Warning),
    ("name-missing", Level::Warning),
    ("name-not-text", Level::Warning),
    ("name-too-long", Level::Warning),
    ("name-uppercase", Level::Warning),
    ("skill-md-not-a-file", Level::Error),
    ("yaml-invalid", Level::Error),
    ("yaml-too-complex", Level::Error),
    ("yaml-value-unquoted", Level::Warning),
];

fn loading_options() -> &'static CheckOptions {
    static OPTIONS: std::sync::OnceLock<CheckOptions> = std::sync::OnceLock::new();
    OPTIONS.get_or_init(|| CheckOptions {
        profiles: vec![Profile::AgentSkills, Profile::Uasp],
        select: LOADING.iter().map(|(rule, _)| (*rule).to_owned()).collect(),
        levels: LOADING.iter().map(|(rule, level)| ((*rule).to_owned(), Some(*level))).collect(),
        ..CheckOptions::default()
    })
}

/// Loads one skill as far as its frontmatter, or its UASP file, goes.
fn load(found: &Found, scope: Scope, package: Option<&str>) -> CatalogEntry {
    let folder = if found.is_lone_file { found.path.parent().unwrap_or(Path::new(".")) } else { &found.path };
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let own = format!("{}{}", read::folder_name(&found.path), rep_model::uasp::SUFFIX);
    let (tree, file) = if found.is_lone_file {
        let file = found.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        (read::lone_file(&found.path, &found.shown), file)
    } else if found.path.join("SKILL.md").is_file() {
        (head::tree(&found.path, &found.shown, "SKILL.md"), "SKILL.md".to_owned())
    } else {
        (uasp_tree(found, &own), own)
    };
    let (skill, faults) = Skill::parse(tree);
    let findings = rep_check::check(&skill, faults, loading_options()).findings;
    let name = skill.name().filter(|name| !name.is_empty()).map_or_else(|| skill.tree.folder.clone(), str::to_owned);
    let name = names::nfkc(&name);
    let description = description(&skill);
    let error = findings.iter().find(|finding| finding.level == Level::Error);
    let (status, reason) = match error {
        Some(finding) => (Status::Invalid, finding.message.clone()),
        None if is_switch(&skill, "disable-model-invocation", false) => {
            (Status::Hidden, "`disable-model-invocation` is set: people call it, models do not".to_owned())
        }
        None => (Status::Active, String::new()),
    };
    CatalogEntry {
        qualified_name: package.map_or_else(|| name.clone(), |package| format!("{package}:{name}")),
        name,
        description,
        scope,
        location: folder.join(file),
        folder,
        status,
        reason,
        shadowed_by: None,
        findings,
        is_user_invocable: is_switch(&skill, "user-invocable", true),
        skill,
    }
}

fn uasp_tree(found: &Found, file: &str) -> SkillTree {
    let mut tree = read::lone_file(&found.path.join(file), &format!("{}/{file}", found.shown));
    tree.is_lone_file = false;
    tree
}

/// What the model is told: the description, and a `when_to_use` that is text behind it.
fn description(skill: &Skill) -> String {
    if let Some(front) = skill.front() {
        let own = front.description().map(|text| names::strip(text.value)).unwrap_or_default();
        let more = front.text("when_to_use").map(|text| names::strip(text.value)).unwrap_or_default();
        return if more.is_empty() { own.to_owned() } else { format!("{own} {more}") };
    }
    let of_uasp = skill.uasp.iter().find_map(|uasp| uasp.view()?.meta("description"));
    of_uasp.map(|text| names::strip(text.value).to_owned()).unwrap_or_default()
}

/// A boolean field, read as hosts read it: `true`, `yes`, `on` and `1` are true.
pub(crate) fn is_switch(skill: &Skill, field: &str, default: bool) -> bool {
    let text = skill.front().and_then(|front| front.get(field)).and_then(Node::text);
    match text.map(str::to_ascii_lowercase).as_deref() {
        Some("true" | "yes" | "on" | "1") => true,
        Some("false" | "no" | "off" | "0") => false,
        _ => default,
    }
}

/// Holds back a project's skill that the user has not trusted as it is.
fn trust(entry: &mut CatalogEntry, options: &Options) {
    let Some(project) = &options.project else { return };
    if options.trust == TrustWanted::Given || !matches!(entry.status, Status::Active | Status::Hidden) {
        return;
    }
    entry.reason = match options.decisions.of(project, &entry.folder, || store::digest(&entry.folder)) {
        Trust::Trusted => return,
        Trust::Changed => {
            "it changed, or came, since this project was trusted; look at it, then `rep trust`".to_owned()
        }
        Trust::Never => "this project is not trusted; look at its skills, then `rep trust`".to_owned(),
    };
    entry.status = Status::Untrusted;
}
