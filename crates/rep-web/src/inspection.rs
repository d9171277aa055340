//! What is known about every skill after its files were read: findings, tokens, tools and scripts.
//!
//! Reading a large library takes seconds, so a thread of its own reads it once per snapshot. A page waits for it only
//! briefly, and shows what is known until then.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rep_check::{CheckOptions, Level};
use rep_library::CatalogEntry;
use rep_library::check::{CheckSettings, check_entry};
use rep_library::skill_details::SkillDetails;
use rep_mcp::CatalogView;

use super::{PageRequest, layout};

/// How long a page waits for skills that are not read yet.
const WAIT_MAX: Duration = Duration::from_millis(250);

/// What is known about a skill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InspectedSkill {
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) infos: usize,
    /// The tokens of its catalog entry, of its instructions and of its other files.
    pub(super) tokens: [usize; 3],
    pub(super) has_tools: bool,
    pub(super) has_scripts: bool,
}

impl InspectedSkill {
    /// Returns the number of findings.
    pub(super) fn findings(self) -> usize {
        self.errors + self.warnings + self.infos
    }

    /// Returns the tokens of all tiers.
    pub(super) fn total_tokens(self) -> usize {
        self.tokens.iter().sum()
    }
}

/// The inspected skills of the newest snapshot.
#[derive(Default)]
pub(super) struct SkillInspections {
    state: Arc<InspectionState>,
}

#[derive(Default)]
struct InspectionState {
    progress: Mutex<InspectionProgress>,
    changed: Condvar,
}

#[derive(Default)]
struct InspectionProgress {
    /// The snapshot and the settings, or `None` before the first inspection.
    subject: Option<InspectionSubject>,
    skills: Vec<Option<InspectedSkill>>,
    /// The number of skills that were passed, including those that are withheld.
    passed: usize,
}

/// What an inspection is valid for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct InspectionSubject {
    generation: u64,
    /// The settings of the check, as text: they can change while the skills do not.
    settings: String,
}

/// The inspected skills of a snapshot at one moment.
pub(super) struct InspectedLibrary {
    skills: Vec<Option<InspectedSkill>>,
    /// The number of skills that are not read yet.
    pub(super) remaining: usize,
}

impl InspectedLibrary {
    /// Returns what is known about an entry of the catalog.
    pub(super) fn get(&self, index: usize) -> Option<InspectedSkill> {
        self.skills.get(index).copied().flatten()
    }
}

impl SkillInspections {
    /// Returns what is known about the skills of the request's snapshot, and starts to read them if nobody has.
    pub(super) fn inspect(&self, request: &PageRequest) -> InspectedLibrary {
        let view = &request.view;
        let project = request.dashboard.server.runtime().options().library.project.clone();
        let options = project.as_ref().map(|folder| resolve_options(folder.clone()));
        let subject = InspectionSubject { generation: view.generation, settings: format!("{options:?}") };
        let withheld: Vec<bool> =
            view.catalog.entries.iter().map(|entry| layout::is_withheld(request, entry)).collect();
        let mut progress = self.state.progress.lock();
        if progress.subject.as_ref() != Some(&subject) {
            let skills = vec![None; view.catalog.entries.len()];
            *progress = InspectionProgress { subject: Some(subject.clone()), skills, passed: 0 };
            let (state, view) = (Arc::clone(&self.state), Arc::clone(view));
            std::thread::spawn(move || state.read_all(&subject, &view, options.flatten().as_ref(), &withheld));
        }
        let until = Instant::now() + WAIT_MAX;
        while progress.passed < progress.skills.len() {
            if self.state.changed.wait_until(&mut progress, until).timed_out() {
                break;
            }
        }
        let remaining = progress.skills.len() - progress.passed;
        InspectedLibrary { skills: progress.skills.clone(), remaining }
    }
}

impl InspectionState {
    /// Reads all skills, unless a newer inspection starts.
    fn read_all(
        &self,
        subject: &InspectionSubject,
        view: &CatalogView,
        options: Option<&CheckOptions>,
        withheld: &[bool],
    ) {
        for (index, (entry, is_withheld)) in view.catalog.entries.iter().zip(withheld).enumerate() {
            // Nothing is said about the text of an untrusted skill.
            let inspected = (!is_withheld).then(|| inspect_skill(entry, options));
            let mut progress = self.progress.lock();
            if progress.subject.as_ref() != Some(subject) {
                return;
            }
            progress.skills[index] = inspected;
            progress.passed += 1;
            self.changed.notify_all();
        }
    }
}

/// Returns the settings of checks in a directory, or `None` if they are invalid.
fn resolve_options(folder: PathBuf) -> Option<CheckOptions> {
    CheckSettings { folder, ..CheckSettings::default() }.resolve().ok()
}

/// Reads and checks a skill. Without a project, the settings are those of the skill's directory.
fn inspect_skill(entry: &CatalogEntry, options: Option<&CheckOptions>) -> InspectedSkill {
    let own = options.is_none().then(|| resolve_options(entry.folder.clone())).flatten();
    let mut inspected = InspectedSkill::default();
    let findings = options.or(own.as_ref()).map(|options| check_entry(entry, options).findings);
    for finding in findings.into_iter().flatten() {
        match finding.level {
            Level::Error => inspected.errors += 1,
            Level::Warning => inspected.warnings += 1,
            Level::Info => inspected.infos += 1,
        }
    }
    // A skill that cannot be read has no tokens; its findings say why.
    if let Ok(details) = SkillDetails::load(entry) {
        let cost = &details.footprint;
        inspected.tokens = [cost.catalogue, cost.activation.unwrap_or(0), cost.resources];
        inspected.has_tools = !details.tools.tools.is_empty();
        inspected.has_scripts = details.files.iter().any(|file| file.kind == "script" || file.is_executable);
    }
    inspected
}
