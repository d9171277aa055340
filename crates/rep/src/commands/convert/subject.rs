//! The skills a conversion is about, and what becomes of one.

use std::path::{Path, PathBuf};

use rep_convert::convert::{Notice, Report, Stamp, finish};
use rep_convert::extract;
use rep_library::find::{self, Found};
use rep_library::{Status, read};
use rep_model::Document;
use rep_model::uasp::SUFFIX;
use rep_model::{Fault, FaultKind, Manifest, Skill};
use serde_json::Value;

use super::judge::judge;
use super::{Args, Engine, llm};
use crate::exit::Failure;
use crate::output::Output;

/// Which skills are meant.
pub(super) struct Subjects {
    pub(super) found: Vec<Found>,
    /// Whether they were looked for, and not named one by one.
    pub(super) is_sweep: bool,
}

/// A skill that was read.
pub(super) struct Subject {
    pub(super) skill: Skill,
    faults: Vec<Fault>,
}

/// What a conversion came to.
pub(super) struct Converted {
    pub(super) report: Report,
    pub(super) stamp: Stamp,
    /// The text of the file, stamp and all.
    pub(super) text: String,
    /// What is told of the model that was asked, where one was.
    pub(super) model: Option<Value>,
}

impl Converted {
    /// The skill's name, which its file bears.
    pub(super) fn name(&self) -> &str {
        self.report.finished.value["meta"]["name"].as_str().unwrap_or("skill")
    }
}

/// The skills that are meant: those named, or all there are.
pub(super) fn subjects(args: &Args, output: &mut Output) -> Result<Subjects, Failure> {
    let mut found = Vec::new();
    if args.is_all && args.library.places.paths.is_empty() {
        let catalog = args.library.discover(output)?;
        let active = catalog.entries.iter().filter(|entry| matches!(entry.status, Status::Active | Status::Hidden));
        found.extend(active.filter(|entry| !entry.skill.tree.is_lone_file).map(|entry| Found {
            shown: entry.folder.to_string_lossy().into_owned(),
            path: entry.folder.clone(),
            is_lone_file: false,
            is_linked: false,
        }));
    }
    if args.is_all {
        for path in &args.library.places.paths {
            below(path, &mut found, output)?;
        }
    }
    for named in &args.files {
        let path = Path::new(named);
        let is_path = named.contains('/') || path.is_file() || named == "." || named == "..";
        if is_path && (args.is_all || args.library.places.paths.is_empty()) {
            below(path, &mut found, output)?;
        } else {
            let (catalog, index) = match args.library.one(named, output) {
                Ok(both) => both,
                // No skill is called so, and the folder that is holds several.
                Err(failure) if failure.code == "AMBIGUOUS" && path.is_dir() => {
                    below(path, &mut found, output)?;
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            let entry = &catalog.entries[index];
            let is_lone_file = entry.skill.tree.is_lone_file;
            let path = if is_lone_file { entry.location.clone() } else { entry.folder.clone() };
            found.push(Found { shown: find::shown(&path), path, is_lone_file, is_linked: false });
        }
    }
    let is_sweep = args.is_all || found.len() > args.files.len();
    if is_sweep {
        let inside: Vec<Found> = found.iter().filter(|one| !one.is_lone_file).flat_map(nested).collect();
        found.extend(inside);
    }
    found.sort();
    found.dedup_by(|one, two| one.path == two.path);
    Ok(Subjects { found, is_sweep })
}

fn below(path: &Path, found: &mut Vec<Found>, output: &mut Output) -> Result<(), Failure> {
    for note in find::skills(path, |one| found.push(one))? {
        output.warn(&note);
    }
    Ok(())
}

/// The skills inside a skill. A folder that cannot be read is told of when it is converted.
fn nested(found: &Found) -> Vec<Found> {
    let tree = read::folder(&found.path, &found.shown, read::Extent::Main);
    tree.map(|tree| find::nested(found, &tree)).unwrap_or_default()
}

/// Reads a skill that was found.
pub(super) fn read(found: &Found) -> Result<Subject, Failure> {
    let tree = if found.is_lone_file {
        read::lone_file(&found.path, &found.shown)
    } else {
        read::folder(&found.path, &found.shown, read::Extent::Main)?
    };
    let (skill, faults) = Skill::parse(tree);
    Ok(Subject { skill, faults })
}

impl Subject {
    /// The Markdown, or why there is none.
    pub(super) fn manifest(&self, shown: &str) -> Result<&Manifest, Failure> {
        if let Some(manifest) = &self.skill.manifest {
            return Ok(manifest);
        }
        if let Some(fault) = self.faults.iter().find(|fault| fault.file.eq_ignore_ascii_case("SKILL.md")) {
            let failure = Failure::unable("UNREADABLE", format!("`{shown}/{}`: {}", fault.file, fault.message));
            return Err(failure.hint(fault.help.clone()));
        }
        if self.skill.uasp.is_empty() {
            let failure = Failure::unable("NOT_A_SKILL", format!("`{shown}` holds no skill"));
            return Err(failure.hint(format!("name a SKILL.md, a `*{SUFFIX}`, or a folder that holds one")));
        }
        let failure = Failure::unable("NOT_MARKDOWN", format!("`{shown}` has no SKILL.md to convert"));
        Err(failure.hint(format!("a `*{SUFFIX}` is structured already; `--to markdown` makes a SKILL.md of it")))
    }

    /// What of the Markdown could not be read as it was meant.
    fn notices(&self) -> Vec<Notice> {
        let frontmatter = [
            FaultKind::EncodingNotUtf8,
            FaultKind::FrontmatterMissing,
            FaultKind::FrontmatterNotMapping,
            FaultKind::FrontmatterUnclosed,
        ];
        let is_told = |fault: &&Fault| {
            let is_grave = fault.kind.is_yaml() || frontmatter.contains(&fault.kind);
            is_grave && fault.file.eq_ignore_ascii_case("SKILL.md")
        };
        let notice = |fault: &Fault| {
            let line = self.skill.source(&fault.file).map_or(1, |source| source.position(fault.span.start).line);
            Notice { at: None, message: format!("SKILL.md:{line}: {}", fault.message), help: fault.help.clone() }
        };
        self.faults.iter().filter(is_told).map(notice).collect()
    }
}

/// Converts a skill by rule.
pub(super) fn by_rule(found: &Found) -> Result<(Subject, Converted), Failure> {
    let subject = read(found)?;
    subject.manifest(&found.shown)?;
    let document = extract::extract(&subject.skill);
    let converted = convert(&subject.skill, subject.notices(), &document, Engine::Rules, None);
    Ok((subject, converted))
}

/// Converts a skill with the engine that is asked for.
pub(super) fn by_engine(found: &Found, args: &Args, output: &mut Output) -> Result<(Subject, Converted), Failure> {
    let engine = args.engine();
    if engine == Engine::Rules {
        return by_rule(found);
    }
    let subject = read(found)?;
    subject.manifest(&found.shown)?;
    let errors = |document: &Value| errors(&subject.skill, document);
    let (document, model) = llm::extract(&subject.skill, &args.model, engine, &errors, output)?;
    let converted = convert(&subject.skill, subject.notices(), &document, engine, model);
    Ok((subject, converted))
}

/// What makes a document no valid file, in words.
pub(super) fn errors(skill: &Skill, document: &Value) -> Vec<String> {
    let finished = finish(document);
    let name = finished.value["meta"]["name"].as_str().unwrap_or("skill").to_owned();
    let judged = judge(&finished.yaml, &name, Some(&skill.tree));
    judged.error_notices().iter().map(|error| format!("{}; {}", error.line(), error.help)).collect()
}

/// Finishes, judges and stamps what an engine made of a skill.
pub(super) fn convert(
    skill: &Skill,
    notices: Vec<Notice>,
    document: &Document,
    engine: Engine,
    model: Option<Value>,
) -> Converted {
    let finished = finish(&document.value);
    let version = |value: &Value| value["meta"]["version"].as_str().unwrap_or_default().to_owned();
    let content = version(&finished.value);
    let facts = match engine {
        Engine::Rules => content.clone(),
        Engine::Llm | Engine::Hybrid => version(&finish(&extract::extract(skill).value).value),
    };
    let name = finished.value["meta"]["name"].as_str().unwrap_or("skill").to_owned();
    let judged = judge(&finished.yaml, &name, Some(&skill.tree));
    let (file, source) = match &skill.manifest {
        Some(manifest) => (skill.tree.shown_path(manifest.file), manifest.source.text()),
        None => (skill.tree.shown.clone(), ""),
    };
    let stamp = Stamp::new(engine.name(), source.as_bytes(), &facts, &content);
    let text = stamp.put(&finished.yaml);
    let warnings = notices.into_iter().chain(judged.warning_notices()).collect();
    let report = Report::new((&file, source, engine.name()), document, finished, (judged.error_notices(), warnings));
    Converted { report, stamp, text, model }
}

/// The UASP file that lies beside a skill's Markdown, or would.
pub(super) fn beside(found: &Found, subject: &Subject, name: &str) -> PathBuf {
    let own = format!("{name}{SUFFIX}");
    let files: Vec<&str> = subject.skill.uasp.iter().map(|file| file.file.as_str()).collect();
    let file = files.iter().find(|file| **file == own).or(files.first()).copied().unwrap_or(&own);
    found.path.join(file)
}
