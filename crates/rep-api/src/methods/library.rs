//! Methods that read a library.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use rep_check::Profile;
use rep_check::render::check_document;
use rep_library::SkillProgress;
use rep_library::answer::QueryError;
use rep_library::budget::{self, TOKENIZER};
use rep_library::check::{CheckSettings, check_groups};
use rep_library::documents::{
    ask_document, prompt_document, query_document, query_miss_document, scan_document, search_document,
    select_document, show_document,
};
use rep_library::prompt::{self, CatalogFormat, FileRefusal, LocationDisplay};
use rep_library::questions::{CommonQuestion, answer_question};
use rep_library::scan::scan_groups;
use rep_library::search::SCORE_MIN;
use rep_library::selection::{DEFAULT_THRESHOLD, SelectionRequest, relative_to_project};
use rep_library::skill_details::SkillDetails;
use rep_library::tools_file::SkillTools;
use serde_json::json;

use super::PendingResult;
use crate::error::{ApiError, ExitClass};
use crate::libraries::WarmLibrary;
use crate::params::Params;
use crate::session::RequestContext;

/// The number of search results without a limit.
const HITS_DEFAULT: usize = 10;
/// The number of skills that a fallback selects at most.
const FALLBACK_SKILLS_MAX: usize = 5;
/// How often progress is sent.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Returns the library that the parameters name.
pub(super) fn open(context: &RequestContext<'_>, params: &mut Params) -> Result<Arc<WarmLibrary>, ApiError> {
    context.session.libraries().open(params, context.session.outbox())
}

pub(super) fn list(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let library = open(context, params)?;
    Ok(Box::new(move |_| library.list()))
}

pub(super) fn show(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let (library, skill) = (open(context, params)?, params.required_text("skill")?);
    Ok(Box::new(move |_| {
        let catalog = library.catalog()?;
        let entry = &catalog.entries[catalog.find_any(&skill)?];
        Ok(show_document(&catalog, entry, &SkillDetails::load(entry)?).into())
    }))
}

pub(super) fn prompt(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let library = open(context, params)?;
    let styles = [
        ("xml", CatalogFormat::Xml),
        ("json", CatalogFormat::Json),
        ("markdown", CatalogFormat::Markdown),
        ("manifest", CatalogFormat::Manifest),
    ];
    let style = params.choice("style", &styles, CatalogFormat::Xml)?;
    let budget = params.count("budget")?;
    let locations = if params.flag("no_location")? { LocationDisplay::Hidden } else { LocationDisplay::Shown };
    Ok(Box::new(move |_| {
        let catalog = library.catalog()?;
        if prompt::list_disclosed(&catalog).next().is_none() {
            return Ok(prompt_document(&catalog, "", None).into());
        }
        let Some(budget) = budget else {
            return Ok(prompt_document(&catalog, &prompt::render_catalog(&catalog, style, locations), None).into());
        };
        let fitted = budget::fit_catalog(&catalog, style, locations, budget).map_err(|small| {
            let message = format!(
                "a budget of {budget} tokens ({TOKENIZER}) is too small for the name of a single skill, which needs {}",
                small.needed
            );
            let error = ApiError::unable("BUDGET_TOO_SMALL", message).with_exit(ExitClass::Findings);
            error.hint(format!("the whole catalog needs {}", small.wanted))
        })?;
        Ok(prompt_document(&catalog, &fitted.text, Some(&fitted)).into())
    }))
}

pub(super) fn read(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let (library, skill) = (open(context, params)?, params.required_text("skill")?);
    let file = params.text("file")?;
    Ok(Box::new(move |_| {
        let catalog = library.catalog()?;
        let entry = &catalog.entries[catalog.find_callable(&skill)?];
        let name = &entry.qualified_name;
        let Some(file) = file else {
            return Ok(json!({ "name": name, "text": prompt::activate_skill(entry)? }).into());
        };
        let bytes = prompt::read_bundled_file(entry, &file)?.map_err(|refusal| match refusal {
            FileRefusal::Outside => {
                let error = ApiError::unable("OUTSIDE", format!("`{file}` is outside the skill's directory"));
                error.with_exit(ExitClass::Refused).hint("only files in the skill's directory can be read")
            }
            FileRefusal::Missing => {
                let error = ApiError::unable("FILE_NOT_FOUND", format!("skill `{name}` has no file `{file}`"));
                error.hint("the text of the skill lists its files")
            }
        })?;
        let size = bytes.len();
        Ok(match String::from_utf8(bytes) {
            Ok(text) => json!({ "name": name, "file": file, "size_bytes": size, "text": text }),
            Err(error) => {
                let blob = STANDARD.encode(error.as_bytes());
                json!({ "name": name, "file": file, "size_bytes": size, "base64": blob })
            }
        }
        .into())
    }))
}

pub(super) fn search(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let (library, text) = (open(context, params)?, params.required_text("text")?);
    let limit = params.count("limit")?.unwrap_or(HITS_DEFAULT);
    let score_min = params.number("min_score")?.unwrap_or(SCORE_MIN);
    Ok(Box::new(move |_| {
        let catalog = library.catalog()?;
        let mut hits = catalog.search_index().search(&text, limit);
        if hits.first().is_some_and(|hit| hit.score < score_min) {
            hits.clear();
        }
        Ok(search_document(&catalog, &hits).into())
    }))
}

pub(super) fn select(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let (library, text) = (open(context, params)?, params.required_text("text")?);
    let project = library.request.project.clone();
    let files = params.texts("files")?;
    let request = SelectionRequest {
        text,
        files: files.iter().map(|file| relative_to_project(&project, file)).collect(),
        intents: params.texts("intents")?,
        skills: params.texts("skills")?,
        threshold: params.integer("threshold")?.unwrap_or(DEFAULT_THRESHOLD),
        also_scored: params.flag("also_scored")?,
    };
    let is_searched = params.choice("fallback", &[("none", false), ("search", true)], false)?;
    Ok(Box::new(move |_| {
        let catalog = library.catalog()?;
        let selection = catalog.select(&request);
        if let Some(unfound) = selection.unfound.first() {
            if unfound.candidates.is_empty() {
                return Err(catalog.lookup_error(&unfound.name).into());
            }
            let names = unfound.candidates.iter().map(|index| format!("`{}`", catalog.entries[*index].qualified_name));
            let names = names.collect::<Vec<_>>().join(", ");
            let message = format!("`{}` is ambiguous: it exists in {names}", unfound.name);
            return Err(ApiError::unable("AMBIGUOUS", message).hint("name the skill"));
        }
        let is_empty = selection.selected.is_empty();
        let hits = if is_empty && is_searched {
            catalog.search_active(&request.text, FALLBACK_SKILLS_MAX)
        } else {
            Vec::new()
        };
        Ok(select_document(&catalog, &selection.selected, &hits).into())
    }))
}

pub(super) fn query(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let (library, query) = (open(context, params)?, params.required_text("query")?);
    let wants_tokens = params.flag("tokens")?;
    Ok(Box::new(move |_| {
        let catalog = library.catalog()?;
        match library.answers.query(&catalog, &query) {
            Ok(reply) => {
                let mut value = query_document(&reply);
                if wants_tokens {
                    let cost = reply.measure_cost(&catalog)?;
                    value["tokens"] = json!({ "answer": cost.answer, "whole": cost.whole, "tokenizer": TOKENIZER });
                }
                Ok(value.into())
            }
            Err(QueryError::Unreadable(error)) => Err(error.into()),
            Err(miss) => Ok(query_miss_document(&miss).into()),
        }
    }))
}

pub(super) fn ask(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let (library, skill) = (open(context, params)?, params.required_text("skill")?);
    let questions = [
        ("can", Some(CommonQuestion::Can)),
        ("how", Some(CommonQuestion::How)),
        ("when", Some(CommonQuestion::When)),
        ("syntax", Some(CommonQuestion::Syntax)),
    ];
    let question = params.choice("question", &questions, None)?;
    let question = question.ok_or_else(|| ApiError::invalid_params("`question` is missing"))?;
    let about = params.required_text("about")?;
    Ok(Box::new(move |_| {
        let catalog = library.catalog()?;
        let entry = &catalog.entries[catalog.find_callable(&skill)?];
        match answer_question(&library.answers, entry, question, &about) {
            Ok(answer) => Ok(ask_document(&entry.qualified_name, &about, &answer).into()),
            Err(miss) => Err(miss.into()),
        }
    }))
}

pub(super) fn tools(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let (library, skill) = (open(context, params)?, params.required_text("skill")?);
    Ok(Box::new(move |_| {
        let catalog = library.catalog()?;
        let entry = &catalog.entries[catalog.find_callable(&skill)?];
        Ok(SkillTools::load(&entry.folder)?.to_json().into())
    }))
}

/// Returns the paths that a check or a scan names, or else those of the library, or its project. The document shows them as
/// the client named them.
fn parse_checked_paths(library: &WarmLibrary, params: &mut Params) -> Result<Vec<PathBuf>, ApiError> {
    let mut paths: Vec<_> = params.texts("paths")?.into_iter().map(PathBuf::from).collect();
    if paths.is_empty() {
        paths.clone_from(&library.request.paths);
    }
    if paths.is_empty() {
        paths.push(library.request.project.clone());
    }
    Ok(paths)
}

pub(super) fn check(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let library = open(context, params)?;
    let paths = parse_checked_paths(&library, params)?;
    let profiles = params.texts("profiles")?.into_iter().map(|name| {
        Profile::from_name(&name).ok_or_else(|| {
            let names: Vec<&str> = Profile::all().iter().map(|profile| profile.name()).collect();
            let error = ApiError::invalid_params(format!("unknown profile `{name}`"));
            error.hint(format!("the profiles are: {}", names.join(", ")))
        })
    });
    let settings = CheckSettings {
        folder: context.session.libraries().working_folder().to_owned(),
        profiles: profiles.collect::<Result<_, _>>()?,
        select: params.texts("select")?,
        ignore: params.texts("ignore")?,
        strict_schema: params.flag("strict_schema")?,
        ..CheckSettings::default()
    };
    let wants_progress = params.flag("progress")?;
    Ok(Box::new(move |context| {
        let groups = settings.resolve_each(&paths)?;
        let progress = CheckProgress::new(context, wants_progress, "checking");
        let (report, _) = check_groups(&groups, None, &|step| progress.tell(step))?;
        if context.cancel.is_cancelled() {
            return Err(ApiError::cancelled());
        }
        Ok(check_document(&report.into_report()).into())
    }))
}

pub(super) fn scan(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let library = open(context, params)?;
    let paths = parse_checked_paths(&library, params)?;
    let folder = context.session.libraries().working_folder().to_owned();
    let wants_progress = params.flag("progress")?;
    Ok(Box::new(move |context| {
        let groups = CheckSettings { folder, ..CheckSettings::default() }.resolve_each(&paths)?;
        let progress = CheckProgress::new(context, wants_progress, "scanning");
        let scanned = scan_groups(&groups, &|step| progress.tell(step))?;
        if context.cancel.is_cancelled() {
            return Err(ApiError::cancelled());
        }
        Ok(scan_document(&scanned.skills).into())
    }))
}

/// Tells the client how many skills were found, and how many of them are checked or scanned.
struct CheckProgress<'a> {
    context: &'a RequestContext<'a>,
    wants_progress: bool,
    /// What happens to the skills.
    activity: &'static str,
    /// The number of skills that were found and done, and when the client heard of it.
    state: Mutex<(u64, u64, Instant)>,
}

impl<'a> CheckProgress<'a> {
    fn new(context: &'a RequestContext<'a>, wants_progress: bool, activity: &'static str) -> Self {
        Self { context, wants_progress, activity, state: Mutex::new((0, 0, Instant::now())) }
    }

    fn tell(&self, step: SkillProgress) {
        if !self.wants_progress {
            return;
        }
        let mut state = self.state.lock();
        let (found, done, told) = &mut *state;
        match step {
            SkillProgress::Found => *found += 1,
            SkillProgress::Done => *done += 1,
        }
        if (*found, *done) == (1, 0) || told.elapsed() >= PROGRESS_INTERVAL {
            *told = Instant::now();
            let progress = json!({ "id": self.context.id, "state": self.activity, "found": found, "done": done });
            self.context.session.outbox().notify("progress", &progress);
        }
    }
}
