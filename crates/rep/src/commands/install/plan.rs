//! What an installation changes: which folder, which link, and what the lock file says afterwards. Nothing is written here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rep_package::files;
use rep_package::journal::Step;
use rep_package::lock::{Installed, Lock, Put};
use rep_storage::time;

use crate::exit::Failure;
use crate::installed::{Scope, real, relative};
use crate::sources::Offered;

/// How skills are wanted.
pub(super) struct Wanted<'a> {
    pub(super) hosts: &'a [String],
    pub(super) copies: bool,
    pub(super) is_forced: bool,
}

/// What will be done.
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) lock: Lock,
    pub(super) skills: Vec<Planned>,
}

/// One skill, as it will be.
pub(super) struct Planned {
    pub(super) name: String,
    /// `installed`, `updated` or `already installed`.
    pub(super) state: &'static str,
    pub(super) installed: Installed,
}

/// A folder of skills.
struct Root {
    /// As it is written.
    path: PathBuf,
    /// With links followed.
    real: PathBuf,
    /// Whether a copy was put there before, which stays one.
    has_copy: bool,
}

impl Plan {
    pub(super) fn make(
        offered: &[Offered],
        wanted: &Wanted<'_>,
        scope: &Scope,
        lock: Lock,
        now: SystemTime,
    ) -> Result<Self, Failure> {
        let mut plan = Self { steps: Vec::new(), lock, skills: Vec::new() };
        for one in offered {
            plan.add(one, wanted, scope, now)?;
        }
        Ok(plan)
    }

    /// Whether anything is to be done.
    pub(super) fn has_changes(&self) -> bool {
        self.skills.iter().any(|skill| skill.state != "already installed")
    }

    fn add(&mut self, one: &Offered, wanted: &Wanted<'_>, scope: &Scope, now: SystemTime) -> Result<(), Failure> {
        let before = self.lock.get(&one.name).filter(|before| !before.is_foreign);
        let mut hosts = before.as_ref().map(|before| before.hosts.clone()).unwrap_or_default();
        hosts.extend(wanted.hosts.iter().filter(|host| !hosts.contains(host)).cloned().collect::<Vec<String>>());
        let roots = roots(&one.name, wanted.hosts, before.as_ref(), scope)?;
        let store = roots.iter().find(|root| root.path == scope.shared()).unwrap_or(&roots[0]);
        let digest = files::digest(&one.files);
        let (mut places, mut steps) = (Vec::new(), Vec::new());
        for root in &roots {
            let target = root.path.join(&one.name);
            let is_copy = std::ptr::eq(root, store) || wanted.copies || root.has_copy;
            let link = (!is_copy).then(|| relative(&root.real, &store.real.join(&one.name)));
            places.push(Put {
                path: scope.shown(&target),
                link: link.as_ref().map(|link| link.to_string_lossy().into_owned()),
            });
            if is_there(&target, &one.files, link.as_deref()) {
                continue;
            }
            if !wanted.is_forced {
                free(&target, one, before.as_ref(), scope)?;
            }
            steps.push(match link {
                Some(link) => Step::Link(target, link),
                None => Step::Folder(target, one.files.clone()),
            });
        }
        let mut installed = Installed {
            origin: one.origin.clone(),
            computed_hash: files::computed_hash(&one.files),
            digest,
            files: files::digests(&one.files),
            hosts,
            places,
            at: time::text(now),
            is_foreign: false,
        };
        let state = match &before {
            None => "installed",
            Some(before) if steps.is_empty() && is_same(before, &installed) => {
                installed.at.clone_from(&before.at);
                "already installed"
            }
            Some(_) => "updated",
        };
        self.lock.put(&one.name, &installed);
        self.steps.extend(steps);
        self.skills.push(Planned { name: one.name.clone(), state, installed });
        Ok(())
    }
}

fn is_same(before: &Installed, after: &Installed) -> bool {
    Installed { at: after.at.clone(), ..before.clone() } == *after
}

/// The folders a skill goes to: those of the hosts that are wanted, and those it was put in before. Two that are one are one.
fn roots(name: &str, hosts: &[String], before: Option<&Installed>, scope: &Scope) -> Result<Vec<Root>, Failure> {
    let mut found: BTreeMap<PathBuf, Root> = BTreeMap::new();
    let mut order = Vec::new();
    let old = before.into_iter().flat_map(|before| &before.places);
    let old = old.filter_map(|put| Some((scope.place(name, put)?.parent()?.to_owned(), put.link.is_none())));
    let new = hosts.iter().filter_map(|host| Some((scope.folder(host)?, false)));
    for (path, has_copy) in old.chain(new) {
        let Some(real) = real(&path).filter(|_| scope.is_inside(&path)) else {
            let message = format!("`{}` leads out of the project, and nothing is put there", path.display());
            return Err(Failure::refused("OUTSIDE", message)
                .hint("put a folder in the place of the link, or install with --scope personal"));
        };
        if !found.contains_key(&real) {
            order.push(real.clone());
            found.insert(real.clone(), Root { path, real, has_copy });
        }
    }
    if order.is_empty() {
        return Err(Failure::unable("NO_FOLDER", "none of these hosts has a folder for skills in this scope"));
    }
    Ok(order.into_iter().filter_map(|real| found.remove(&real)).collect())
}

/// Whether a place already is as it will be.
fn is_there(target: &Path, wanted: &[rep_package::place::Placed], link: Option<&Path>) -> bool {
    match (link, std::fs::symlink_metadata(target)) {
        (_, Err(_)) => false,
        (Some(link), Ok(_)) => std::fs::read_link(target).is_ok_and(|to| to == link),
        (None, Ok(data)) => {
            data.is_dir() && files::read_all(target).is_ok_and(|found| files::digest(&found) == files::digest(wanted))
        }
    }
}

/// Refuses where something is in the way that is not ours, or that somebody changed since.
fn free(target: &Path, one: &Offered, before: Option<&Installed>, scope: &Scope) -> Result<(), Failure> {
    if std::fs::symlink_metadata(target).is_err() {
        return Ok(());
    }
    let shown = scope.shown(target);
    let own =
        before.filter(|before| before.places.iter().any(|put| scope.place(&one.name, put).as_deref() == Some(target)));
    let Some(own) = own else {
        // The same bytes in another form: nothing is lost.
        let is_same = files::read_all(target).is_ok_and(|found| files::digest(&found) == files::digest(&one.files));
        if is_same {
            return Ok(());
        }
        let message = format!("there is another `{}` at `{shown}`, which was not installed by rep", one.name);
        let failure = Failure::unable("COLLISION", message);
        return Err(failure.hint("--force replaces it; or give one of the two another name"));
    };
    let changed = scope
        .problems(&one.name, own)
        .into_iter()
        .find(|problem| problem.kind != "missing" && problem.path.starts_with(&shown));
    match changed {
        None => Ok(()),
        Some(problem) => {
            let message = format!("`{}` changed since it was installed: {}", problem.path, problem.message);
            Err(Failure::unable("CHANGED", message).hint("keep the changes elsewhere; --force overwrites them"))
        }
    }
}
