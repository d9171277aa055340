//! The catalogue: every skill that was found, and which copy of a name wins.
//!
//! Knows precedence, trust and switches; where to look is `roots`, how to read is `head` and `read`.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rep_check::{Finding, Level, Options as CheckOptions, Profile, Rulebook, rule_for_fault};
use rep_model::yaml::Node;
use rep_model::{FaultKind, Skill, SkillTree, names};

use crate::dependencies::{self, Dependency};
use crate::find::{self, Found};
use crate::roots::{self, Root, Scope};
use crate::search::{self, Hit, Index};
use crate::select::{Request, Selection, Selector};
use crate::store::{Contents, Decisions, Texts, Trust};
use crate::{LibraryError, head, hosts, read};

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
    /// The file with what the user decided about trust and switches; without one, nothing was.
    pub decisions: Option<PathBuf>,
    /// Further folders of skills, from settings.
    pub extra: Vec<Root>,
    /// Where the search index is kept from one process to the next; without one it is made anew.
    pub cache: Option<PathBuf>,
    /// The host whose view is taken instead of the library's own.
    pub host: Option<hosts::View>,
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
    /// Whether it came with the project, so that it needs the user's trust.
    pub is_in_project: bool,
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
    /// The skills it needs, and whether they are there.
    pub dependencies: Vec<Dependency>,
}

impl CatalogEntry {
    /// The finding about a fault of its files, if loading it noticed that fault.
    pub fn finding_of(&self, fault: FaultKind) -> Option<&Finding> {
        let name = rule_for_fault(fault).name;
        self.findings.iter().find(|finding| finding.rule.name == name)
    }

    /// Whether a skill that is in force may be used in the state that has this digest: one of a project's folders only
    /// if that state was trusted, or trust is not asked for.
    pub fn is_trusted_as(&self, options: &Options, digest: &str) -> Result<bool, LibraryError> {
        let Some(project) = options.project.as_ref().filter(|_| options.trust == TrustWanted::Needed) else {
            return Ok(true);
        };
        if !self.is_in_project {
            return Ok(true);
        }
        let decisions = options.decisions.as_deref().map_or_else(|| Ok(Decisions::default()), Decisions::read)?;
        Ok(decisions.of(project, &self.folder, || Some(digest.to_owned())) == Trust::Trusted)
    }

    /// What would make the skill active; `None` if it is.
    pub fn remedy(&self) -> Option<String> {
        let name = &self.qualified_name;
        match self.status {
            Status::Active => None,
            Status::Hidden => Some("remove `disable-model-invocation` to let models call it".to_owned()),
            Status::Shadowed => Some("rename or remove one of the two, or `rep disable` the winner's copy".to_owned()),
            Status::Invalid => Some(format!("`rep check {}` says what is wrong", self.folder.display())),
            Status::Untrusted => Some("look at the skill, then `rep trust`".to_owned()),
            Status::Disabled => Some(format!("`rep enable {name}`, with `--user` where it is off for this user")),
        }
    }
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
    /// Where the search index is kept.
    cache: Option<PathBuf>,
    /// The compiled triggers, made when they are first asked.
    selector: OnceLock<Selector>,
    /// The words of all skills, read when they are first asked.
    index: OnceLock<Index>,
}

impl Catalog {
    /// Looks for skills and decides which copy of each name wins.
    pub fn discover(options: &Options) -> Result<Catalog, LibraryError> {
        let decisions = options.decisions.as_deref().map_or_else(|| Ok(Decisions::default()), Decisions::read)?;
        if let Some(view) = options.host.as_ref().filter(|_| options.paths.is_empty()) {
            let mut catalog = hosts::discover(view, options, &decisions);
            catalog.cache.clone_from(&options.cache);
            dependencies::resolve(&mut catalog);
            return Ok(catalog);
        }
        let mut catalog = Catalog { cache: options.cache.clone(), ..Catalog::default() };
        if options.paths.is_empty() {
            catalog.take_scopes(options, &decisions);
        } else {
            catalog.take_paths(&options.paths)?;
        }
        catalog.resolve(options, &decisions);
        dependencies::resolve(&mut catalog);
        Ok(catalog)
    }

    /// The skills that fit a request, by their triggers, with every point explained.
    pub fn select(&self, request: &Request) -> Selection {
        self.selector.get_or_init(|| Selector::new(self)).select(request)
    }

    /// The best skills for a text, by what they say, best first.
    pub fn search(&self, text: &str, limit: usize) -> Vec<Hit> {
        self.index().search(text, limit)
    }

    /// What [`Catalog::search`] asks: the words of every skill that can be found.
    pub fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::open(self, search::is_findable, self.cache.as_deref()))
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

    /// What lies where a skill of this name would, and was passed over because it is none: the path, and why.
    pub fn passed_over(&self, name: &str) -> Vec<(PathBuf, String)> {
        let name = name.rsplit(':').next().unwrap_or(name);
        let is_word = !name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "." && name != "..";
        let candidates = self.roots.iter().filter(|_| is_word).map(|root| root.path.join(name));
        let mut found: Vec<(PathBuf, String)> = Vec::new();
        for path in candidates {
            let is_taken = || {
                let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                self.entries.iter().any(|entry| entry.folder == real)
            };
            if let Some(reason) = no_skill(&path).filter(|_| !is_taken()) {
                found.push((path, reason));
            }
        }
        found
    }

    fn take_paths(&mut self, paths: &[PathBuf]) -> Result<(), LibraryError> {
        for path in paths {
            let mut found = Vec::new();
            self.notes.extend(find::skills(path, |skill| found.push(skill))?);
            found.sort();
            let root = Root { path: path.clone(), scope: Scope::Project, package: None, is_in_project: false };
            self.entries.extend(load_all(&found, &root, |_| {}));
            self.roots.push(root);
        }
        Ok(())
    }

    fn take_scopes(&mut self, options: &Options, decisions: &Decisions) {
        let mut roots = roots::of_managed(options.managed.as_deref());
        if let Some(project) = &options.project {
            roots.extend(roots::of_project(project, &mut self.notes));
        }
        roots.extend(options.extra.iter().cloned());
        if let Some(home) = &options.home {
            roots.extend(roots::of_home(home));
        }
        // A root may itself be a skill, so that roots and skills are told apart.
        let (mut seen_roots, mut seen) = (Seen::default(), BTreeSet::new());
        for root in &roots {
            if !seen_roots.is_first(root, &root.path) {
                continue;
            }
            let found = below(&root.path, &mut self.notes);
            let entries = load_all(&found, root, |entry| {
                if root.is_in_project {
                    trust(entry, options, decisions);
                }
            });
            // A skill that two paths of one scope lead to is one skill.
            let key = |entry: &CatalogEntry| (entry.location.clone(), root.scope, root.package.clone());
            self.entries.extend(entries.into_iter().filter(|entry| seen.insert(key(entry))));
        }
        self.roots = roots;
    }

    /// Marks what the user switched off.
    pub(crate) fn switch_off(&mut self, options: &Options, decisions: &Decisions) {
        let disabled = decisions.disabled(options.project.as_deref());
        for entry in &mut self.entries {
            if let Some(place) = disabled.get(entry.qualified_name.as_str())
                && matches!(entry.status, Status::Active | Status::Hidden)
            {
                entry.status = Status::Disabled;
                entry.reason = format!("switched off {place}");
            }
        }
    }

    /// Decides between entries of the same name, and orders all.
    fn resolve(&mut self, options: &Options, decisions: &Decisions) {
        let rank = |scope: Scope| match (options.precedence, scope) {
            (_, Scope::Managed) => 0,
            (Precedence::ProjectFirst, Scope::Project) | (Precedence::ClaudeCode, Scope::Personal) => 1,
            (Precedence::ProjectFirst, Scope::Personal) | (Precedence::ClaudeCode, Scope::Project) => 2,
            (_, Scope::Package) => 3,
        };
        self.switch_off(options, decisions);
        // The sort is stable, so that within a scope the first root wins.
        let is_out = |entry: &CatalogEntry| matches!(entry.status, Status::Invalid | Status::Untrusted);
        let key = |at: &usize| (is_out(&self.entries[*at]), rank(self.entries[*at].scope));
        let name = |at: &usize| &self.entries[*at].qualified_name;
        // Entries are large: their places are sorted, and each is moved once.
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by(|one, two| name(one).cmp(name(two)).then_with(|| key(one).cmp(&key(two))));
        let mut unsorted: Vec<Option<CatalogEntry>> = std::mem::take(&mut self.entries).into_iter().map(Some).collect();
        self.entries = order.into_iter().filter_map(|at| unsorted[at].take()).collect();
        // Entries of one name stand together, those that can win before those that cannot.
        let mut winner = 0;
        for index in 0..self.entries.len() {
            if self.entries[index].qualified_name != self.entries[winner].qualified_name {
                winner = index;
            }
            if index != winner && !is_out(&self.entries[index]) {
                self.shadow(index, winner);
            }
        }
        self.drop_own_shadows();
    }

    /// Takes out what lost against itself: one folder that two scopes reach, say through a link from the home.
    fn drop_own_shadows(&mut self) {
        let is_own = |entry: &CatalogEntry| {
            let winner = entry.shadowed_by.and_then(|index| self.entries.get(index));
            winner.is_some_and(|winner| winner.location == entry.location)
        };
        let dropped: Vec<bool> = self.entries.iter().map(is_own).collect();
        if !dropped.contains(&true) {
            return;
        }
        let mut places = Vec::with_capacity(dropped.len());
        let mut kept = 0;
        for is_dropped in &dropped {
            places.push(kept);
            kept += usize::from(!is_dropped);
        }
        for entry in &mut self.entries {
            entry.shadowed_by = entry.shadowed_by.map(|index| places[index]);
        }
        let mut kept = dropped.iter().map(|is_dropped| !is_dropped);
        self.entries.retain(|_| kept.next().unwrap_or(true));
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

/// The folders that were seen, by what they are and not by what they are called: a link, or another spelling where
/// case does not matter, leads to the same folder, and no skill collides with itself.
#[derive(Default)]
struct Seen(BTreeSet<(u64, u64, Scope, Option<String>)>);

impl Seen {
    /// Whether a path of a root is the first to lead to what it leads to. Scopes are kept apart, for each has its own trust.
    fn is_first(&mut self, root: &Root, path: &Path) -> bool {
        std::fs::metadata(path)
            .map_or(true, |data| self.0.insert((data.dev(), data.ino(), root.scope, root.package.clone())))
    }
}

/// Why what lies at a path is no skill; `None` where nothing lies there.
fn no_skill(path: &Path) -> Option<String> {
    let data = std::fs::symlink_metadata(path).ok()?;
    if data.is_symlink() && std::fs::metadata(path).is_err() {
        return Some("it is a link that leads nowhere".to_owned());
    }
    if !path.is_dir() {
        return Some("it is no folder".to_owned());
    }
    let listing = match std::fs::read_dir(path) {
        Ok(listing) => listing,
        Err(error) => return Some(format!("it cannot be read: {}", crate::error::words(&error))),
    };
    let names = listing.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let near = names.filter(|name| name.eq_ignore_ascii_case("SKILL.md")).min();
    Some(match near {
        Some(near) => format!("its file is called `{near}`, and hosts look for `SKILL.md`"),
        None => "it has no `SKILL.md`".to_owned(),
    })
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

fn loading_rules() -> &'static Rulebook {
    static RULES: OnceLock<Rulebook> = OnceLock::new();
    RULES.get_or_init(|| {
        Rulebook::new(CheckOptions {
            profiles: vec![Profile::AgentSkills, Profile::Uasp],
            select: LOADING.iter().map(|(rule, _)| (*rule).to_owned()).collect(),
            levels: LOADING.iter().map(|(rule, level)| ((*rule).to_owned(), Some(*level))).collect(),
            ..CheckOptions::default()
        })
    })
}

/// Fewer skills than this are loaded before anybody notices, and a second thread would only cost more.
const PARALLEL_MIN: usize = 4096;

/// Loads what was found below a root, in the order it was found in, and lets `then` look at each. What turns out to be no skill is
/// left out: a folder without skills is an empty library here, not a faulty skill.
fn load_all(found: &[Found], root: &Root, then: impl Fn(&mut CatalogEntry) + Sync) -> Vec<CatalogEntry> {
    let real_root = std::fs::canonicalize(&root.path).ok();
    let one = |found: &Found| {
        let mut entry = load(found, root, real_root.as_deref())?;
        then(&mut entry);
        Some(entry)
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    if found.len() < PARALLEL_MIN || workers == 1 {
        return found.iter().filter_map(one).collect();
    }
    std::thread::scope(|scope| {
        let part = |part: &[Found]| part.iter().filter_map(one).collect::<Vec<CatalogEntry>>();
        let parts = found.chunks(found.len().div_ceil(workers));
        let handles: Vec<_> = parts.map(|found| scope.spawn(move || part(found))).collect();
        let joined = handles.into_iter().map(|handle| match handle.join() {
            Ok(entries) => entries,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    })
}

/// The folder of a skill, resolved. Below a root without links this is the root's real path and the rest, so that the system is not
/// asked about every part of every path.
fn real_folder(found: &Found, folder: &Path, root: &Root, real_root: Option<&Path>) -> PathBuf {
    let below = real_root.filter(|_| !found.is_linked).zip(folder.strip_prefix(&root.path).ok());
    match below {
        Some((real, rest)) if !rest.as_os_str().is_empty() => real.join(rest),
        Some((real, _)) => real.to_owned(),
        None => std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()),
    }
}

/// Loads one skill as far as its frontmatter, or its UASP file, goes; `None` where there is neither.
pub(crate) fn load(found: &Found, root: &Root, real_root: Option<&Path>) -> Option<CatalogEntry> {
    let folder = if found.is_lone_file { found.path.parent().unwrap_or(Path::new(".")) } else { &found.path };
    let (tree, file) = if found.is_lone_file {
        let file = found.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        (read::lone_file(&found.path, &found.shown), file)
    } else if let Some(tree) = head::tree(&found.path, &found.shown, "SKILL.md") {
        (tree, "SKILL.md".to_owned())
    } else {
        let own = format!("{}{}", read::folder_name(&found.path), rep_model::uasp::SUFFIX);
        (uasp_tree(found, &own)?, own)
    };
    let (mut skill, faults) = Skill::parse(tree);
    let findings = loading_rules().findings(&skill, faults);
    // What the tree held is in the parsed skill; a library of many has no room for it twice.
    skill.tree.entries.clear();
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
    let folder = real_folder(found, folder, root, real_root);
    Some(CatalogEntry {
        qualified_name: root.package.as_ref().map_or_else(|| name.clone(), |package| format!("{package}:{name}")),
        name,
        description,
        scope: root.scope,
        is_in_project: root.is_in_project,
        location: folder.join(file),
        folder,
        status,
        reason,
        shadowed_by: None,
        findings,
        is_user_invocable: is_switch(&skill, "user-invocable", true),
        dependencies: Vec::new(),
        skill,
    })
}

fn uasp_tree(found: &Found, file: &str) -> Option<SkillTree> {
    let path = found.path.join(file);
    if !path.is_file() {
        return None;
    }
    let mut tree = read::lone_file(&path, &format!("{}/{file}", found.shown));
    tree.is_lone_file = false;
    Some(tree)
}

/// What the model is told: the description, and a `when_to_use` that is text behind it.
fn description(skill: &Skill) -> String {
    if let Some(front) = skill.front() {
        let own = front.description().map(|text| names::strip(text.value)).unwrap_or_default();
        let more = front.text("when_to_use").map(|text| names::strip(text.value)).unwrap_or_default();
        return if more.is_empty() { own.to_owned() } else { format!("{own} {more}") };
    }
    let of_uasp = skill.uasp.iter().find_map(|uasp| uasp.view()?.description());
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
pub(crate) fn trust(entry: &mut CatalogEntry, options: &Options, decisions: &Decisions) {
    let Some(project) = &options.project else { return };
    if options.trust == TrustWanted::Given || !matches!(entry.status, Status::Active | Status::Hidden) {
        return;
    }
    entry.reason = match decisions.of(project, &entry.folder, || digest(&entry.folder)) {
        Trust::Trusted => return,
        Trust::Changed => {
            "it changed, or came, since this project was trusted; `rep trust --diff` shows how".to_owned()
        }
        Trust::Never => "this project is not trusted; look at its skills, then `rep trust`".to_owned(),
    };
    entry.status = Status::Untrusted;
}

/// The digest that trust is bound to, where the folder can be taken in as a whole.
fn digest(folder: &Path) -> Option<String> {
    let contents = Contents::read(folder, Texts::Left);
    contents.unfit.is_none().then(|| contents.digest())
}
