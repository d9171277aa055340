//! Predicts what a host itself would list: its folders, in its order, with its own way with faulty skills.
//!
//! What a host does is data (`table`), each fact with its source and date; `walk` finds folders as a host does, and
//! `reading` makes an entry of one. `bench/hosts.sh` compares the predictions with the hosts that run without a network.

mod known;
mod plugins;
mod reading;
mod table;
mod targets;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rep_model::suggestion::nearest_by_name;

use crate::catalog::{self, Catalog, CatalogEntry, Options, Status, TrustWanted};
use crate::roots::{Root, Scope};
use crate::store::Decisions;

pub use known::{KnownHost, UnknownHost};
pub use table::HOSTS;
pub use targets::{Target, shared_folder};

/// Where a fact comes from.
#[derive(Debug)]
pub struct Source {
    /// The document, or the version that was run.
    pub text: &'static str,
    /// The day it was looked at.
    pub checked: &'static str,
}

/// What is known of a host, and from where.
#[derive(Debug)]
pub struct Fact<T> {
    /// What is so.
    pub value: T,
    /// Who says it.
    pub source: &'static Source,
}

/// A host that finds skills in folders.
#[derive(Debug)]
pub struct Host {
    /// What `--host` takes.
    pub id: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// Other names `--host` takes.
    pub aliases: &'static [&'static str],
    /// The folders it reads; where a name is taken twice, the earlier folder's copy wins.
    pub folders: &'static [Folder],
    /// How it searches a folder.
    pub walk: Fact<Walk>,
    /// How far up it looks where there is no repository.
    pub outside: Fact<Outside>,
    /// What it makes of two skills of one name.
    pub collisions: Fact<Collisions>,
    /// Where it takes the name from.
    pub naming: Fact<Naming>,
    /// What it makes of a description.
    pub description: Fact<Describing>,
    /// What it makes of a file that is not as it should be.
    pub file: Fact<Filing>,
    /// Whether `disable-model-invocation` keeps a skill from the model.
    pub honours_opt_out: Fact<bool>,
    /// Whether it lists a project's skills only where the user trusts the project.
    pub asks_for_trust: Fact<bool>,
    /// Where its own listing is known to differ from the prediction.
    pub differs: &'static [Difference],
}

/// A folder of a host.
#[derive(Debug)]
pub struct Folder {
    /// Below what.
    pub at: At,
    /// The path from there.
    pub path: &'static str,
    /// Who says so.
    pub source: &'static Source,
}

/// What a folder's path starts from.
#[derive(Debug)]
pub enum At {
    /// The root of the file system: the administrator's.
    Machine,
    /// The working folder, then every folder above it up to the repository's.
    Upward,
    /// The working folder alone.
    Here,
    /// Every folder below the working folder.
    Nested,
    /// The home.
    Home,
    /// The home, but not where this variable is set.
    HomeWithout(&'static str),
    /// What a variable names, else this folder of the home.
    Variable(&'static str, &'static str),
    /// What a variable names, and nothing without it.
    VariableOnly(&'static str),
    /// Each folder of this folder below a variable's value or the home: extensions.
    EachIn(&'static str, &'static str),
    /// Each enabled plugin of Claude Code, whose settings are in what a variable names, else this folder of the home.
    Plugins(&'static str, &'static str),
}

/// How a folder is searched.
#[derive(Debug)]
pub struct Walk {
    /// The most folders between the root and a skill's own, with that one; 0 is the root itself.
    pub depth_max: usize,
    /// Whether the root itself may be a skill.
    pub takes_root: bool,
    /// Whether skills are looked for inside skills.
    pub enters_skills: bool,
    /// Whether folders whose name starts with a dot are entered.
    pub enters_hidden: bool,
}

/// How far up a host looks where there is no repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// Not at all.
    Stays,
    /// To the root of the file system.
    Climbs,
}

/// What becomes of two skills of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collisions {
    /// The earlier folder's is listed.
    FirstWins,
    /// All are listed.
    AllListed,
    /// One is listed, and which one changes from run to run.
    AnyWins,
}

/// What becomes of a field that is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// The skill is passed over.
    Skips,
    /// The value is taken as it is written.
    Keeps,
    /// Something else stands in: the folder's name, or the body's beginning.
    Replaces,
}

/// What becomes of each way in which a field can be other than text.
#[derive(Debug)]
pub struct Field {
    /// The field is not there.
    pub missing: Odd,
    /// It has no value.
    pub null: Odd,
    /// It is an empty text.
    pub empty: Odd,
    /// It is a number or a truth value.
    pub number: Odd,
    /// It is a list or a mapping.
    pub list: Odd,
}

/// Where a name comes from.
#[derive(Debug)]
pub enum Naming {
    /// The folder.
    Folder,
    /// The frontmatter, and it must be the folder's name.
    SameAsFolder,
    /// The frontmatter, with the longest that is taken and whether spaces become hyphens.
    Frontmatter(Field, Option<usize>, Spaces),
}

/// What becomes of spaces in names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spaces {
    /// They stay.
    Stay,
    /// They become hyphens.
    Hyphens,
}

/// What becomes of a description.
#[derive(Debug)]
pub struct Describing {
    /// What becomes of one that is not text.
    pub field: Field,
    /// What stands in for it.
    pub substitute: Substitute,
    /// What becomes of a long one.
    pub longest: Longest,
    /// What is put between it and `when_to_use`, where that is shown.
    pub joins_when: Option<&'static str>,
    /// Whether a skill without one is kept from the model though it is listed.
    pub hides_missing: bool,
}

/// What stands in for a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Substitute {
    /// Nothing.
    Nothing,
    /// The first line of the body.
    FirstLine,
    /// The first line of the body that is no heading.
    FirstParagraph,
}

/// What becomes of a long description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Longest {
    /// It stays.
    Any,
    /// It is cut to so many characters, these being the last.
    Cut(usize, &'static str),
    /// A skill with more characters is passed over.
    Skips(usize),
}

/// What becomes of a file that is not as it should be.
#[derive(Debug)]
pub struct Filing {
    /// YAML with an unquoted `: ` in a value.
    pub unquoted_colon: Odd,
    /// YAML with a bracket that is never closed.
    pub unclosed_bracket: Odd,
    /// No frontmatter, or one that is never closed.
    pub unfenced: Odd,
    /// A byte order mark before the frontmatter.
    pub byte_order_mark: Odd,
    /// A SKILL.md that is a link.
    pub link: Odd,
}

/// A known difference between a host's own listing and the prediction.
#[derive(Debug)]
pub struct Difference {
    /// A word `bench/hosts-differs.txt` calls it by.
    pub key: &'static str,
    /// What differs.
    pub text: &'static str,
}

/// Whose view is taken, and from where.
#[derive(Clone, Debug)]
pub struct View {
    /// The host.
    pub host: &'static Host,
    /// The folder the host is started in.
    pub folder: PathBuf,
    /// The repository around it.
    pub repository: Option<PathBuf>,
    /// What the environment says of the host's variables.
    pub variables: BTreeMap<String, PathBuf>,
    /// Whether the answer is only looked at. Then the host's own trust counts and the user's decisions here do not;
    /// what is handed to a model stays behind them, whichever host's view is taken.
    pub is_prediction: bool,
}

impl Host {
    /// The host of a name or alias.
    pub fn find(name: &str) -> Option<&'static Host> {
        HOSTS.iter().find(|host| host.id == name || host.aliases.contains(&name))
    }

    /// The id nearest to a name that is none.
    pub fn near(name: &str) -> Option<&'static str> {
        let named =
            HOSTS.iter().flat_map(|host| std::iter::once(&host.id).chain(host.aliases).map(|near| (*near, host.id)));
        nearest_by_name(&name.to_ascii_lowercase(), named, |(near, _)| near).map(|(_, id)| id)
    }

    /// The variables of the environment that move its folders.
    pub fn variables(&self) -> BTreeSet<&'static str> {
        let of = |folder: &Folder| match folder.at {
            At::HomeWithout(name)
            | At::Variable(name, _)
            | At::VariableOnly(name)
            | At::EachIn(name, _)
            | At::Plugins(name, _) => Some(name),
            At::Machine | At::Upward | At::Here | At::Nested | At::Home => None,
        };
        self.folders.iter().filter_map(of).collect()
    }
}

/// What the host would list.
pub(crate) fn discover(view: &View, options: &Options, decisions: &Decisions) -> Catalog {
    let mut catalog = Catalog::default();
    for folder in view.host.folders {
        catalog.roots.extend(roots(view, folder, options, &mut catalog.notes));
    }
    let mut seen = BTreeSet::new();
    for root in &catalog.roots {
        for found in walk::skills(&root.path, &view.host.walk.value, &mut catalog.notes) {
            // A skill that two folders lead to is one skill.
            let is_first = std::fs::metadata(&found.path).map_or(true, |data| seen.insert((data.dev(), data.ino())));
            if is_first && let Some(mut entry) = reading::entry(&found, root, view.host) {
                if root.is_in_project {
                    hold_back(&mut entry, view, options, decisions);
                }
                catalog.entries.push(entry);
            }
        }
    }
    if !view.is_prediction {
        catalog.switch_off(options, decisions);
    }
    resolve(&mut catalog, view.host);
    catalog
}

/// The roots a folder of the table stands for here.
fn roots(view: &View, folder: &Folder, options: &Options, notes: &mut Vec<String>) -> Vec<Root> {
    let root =
        |scope: Scope, path: PathBuf| Root { is_in_project: scope == Scope::Project, path, scope, package: None };
    let home = options.home.as_deref();
    let below = |variable: &str, default: &str| {
        view.variables.get(variable).cloned().or_else(|| home.map(|home| home.join(default)))
    };
    let personal =
        |base: Option<PathBuf>| base.map(|base| root(Scope::Personal, base.join(folder.path))).into_iter().collect();
    match folder.at {
        At::Machine => {
            vec![root(Scope::Managed, options.managed.clone().unwrap_or_else(|| PathBuf::from(folder.path)))]
        }
        At::Here => vec![root(Scope::Project, view.folder.join(folder.path))],
        At::Upward => upward(view).into_iter().map(|above| root(Scope::Project, above.join(folder.path))).collect(),
        At::Nested => {
            let nested = crate::roots::nested(&view.folder, &[folder.path], notes);
            nested.into_iter().map(|path| root(Scope::Project, path)).collect()
        }
        At::Home => personal(home.map(Path::to_owned)),
        At::HomeWithout(name) => personal(home.filter(|_| !view.variables.contains_key(name)).map(Path::to_owned)),
        At::Variable(name, default) => personal(below(name, default)),
        At::VariableOnly(name) => personal(view.variables.get(name).cloned()),
        At::Plugins(name, default) => {
            let enabled = below(name, default).map(|config| plugins::enabled(&config)).unwrap_or_default();
            let of = |(name, path): (String, PathBuf)| Root {
                package: Some(name),
                ..root(Scope::Package, path.join(folder.path))
            };
            enabled.into_iter().map(of).collect()
        }
        At::EachIn(name, within) => {
            let base = below(name, "").map(|base| base.join(within));
            let mut each: Vec<PathBuf> =
                base.into_iter().flat_map(std::fs::read_dir).flatten().flatten().map(|entry| entry.path()).collect();
            each.sort();
            each.into_iter().map(|path| root(Scope::Package, path.join(folder.path))).collect()
        }
    }
}

/// The working folder and those above it, as far as the host looks.
fn upward(view: &View) -> Vec<PathBuf> {
    let all = view.folder.ancestors().map(Path::to_owned);
    match (&view.repository, view.host.outside.value) {
        (Some(repository), _) => all.take_while(|folder| folder.starts_with(repository)).collect(),
        (None, Outside::Stays) => all.take(1).collect(),
        (None, Outside::Climbs) => all.collect(),
    }
}

/// Holds back a project's skill: in a prediction where the host would, else where the user has not trusted it here.
fn hold_back(entry: &mut CatalogEntry, view: &View, options: &Options, decisions: &Decisions) {
    if !view.is_prediction {
        catalog::trust(entry, options, decisions);
    } else if view.host.asks_for_trust.value
        && options.trust == TrustWanted::Needed
        && matches!(entry.status, Status::Active | Status::Hidden)
    {
        entry.status = Status::Untrusted;
        entry.reason =
            format!("{} lists it only where it was told to trust the project; `--trust` supposes so", view.host.name);
    }
}

/// Decides between entries of the same name as the host does, and orders all.
fn resolve(catalog: &mut Catalog, host: &Host) {
    let is_out = |entry: &CatalogEntry| matches!(entry.status, Status::Invalid | Status::Untrusted);
    catalog.entries.sort_by(|one, two| (&one.qualified_name, is_out(one)).cmp(&(&two.qualified_name, is_out(two))));
    if host.collisions.value == Collisions::AllListed {
        return;
    }
    let mut winner = None;
    for index in 0..catalog.entries.len() {
        let entry = &catalog.entries[index];
        if is_out(entry) {
            continue;
        }
        match winner.filter(|winner: &usize| catalog.entries[*winner].qualified_name == entry.qualified_name) {
            None => winner = Some(index),
            Some(winner) => {
                let location = catalog.entries[winner].location.display().to_string();
                let why = match host.collisions.value {
                    Collisions::AnyWins => "lists only one of them, and not always the same",
                    _ => "reads that folder first",
                };
                let entry = &mut catalog.entries[index];
                entry.status = Status::Shadowed;
                entry.shadowed_by = Some(winner);
                entry.reason = format!("`{location}` wins: {} {why}", host.name);
            }
        }
    }
}
