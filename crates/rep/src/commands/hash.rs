//! `rep hash`: the content version of a UASP file.

use std::path::PathBuf;

use rep_library::read;
use rep_model::uasp::Uasp;
use rep_model::yaml::{Node, Value};
use rep_model::{Fault, FaultKind, Skill, Span, UaspFile, hash};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::write;
use rep_library::find::{self, Found};

/// Compute the content version of a UASP file
#[derive(clap::Args)]
#[command(
    after_help = "The version is the first eight digits of a SHA-256 over the file's content without `meta.version`; comments, key order and quoting do not count.\n\nExamples:\n  rep hash stripe.uasp.yaml\n  rep hash stripe.uasp.yaml --write     store it in the file\n  rep hash stripe.uasp.yaml --check     exit 1 where the stored one is stale"
)]
pub(crate) struct Args {
    /// The `*.uasp.yaml` file, or the folder that holds it
    file: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Store the computed version in the file
    #[arg(long)]
    write: bool,
    /// Exit 1 where the stored version is not the computed one
    #[arg(long, conflicts_with = "write")]
    check: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    hash(args, output).map_err(|failure| failure.json(args.json))
}

fn hash(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (path, uasp) = load(&args.file)?;
    let shown = find::shown(&path);
    let place = |span: Span| {
        let position = uasp.source.position(span.start);
        format!("{shown}:{}:{}", position.line, position.column)
    };
    let Some(root) = &uasp.root else {
        let failure = Failure::unable("INVALID_YAML", format!("`{shown}` is no readable YAML"));
        return Err(failure.hint(format!("`rep check {shown}` says where")));
    };
    let sha256 = hash::sha256(root).map_err(|fault| {
        Failure::unable("NOT_HASHABLE", format!("{}: {}", place(fault.span), fault.message)).hint(fault.help)
    })?;
    let computed = &sha256[..8];
    let declared = Uasp(root).version().map(|version| version.value);
    let is_match = declared == Some(computed);
    if args.write && !is_match {
        let text = stored(&uasp, root, computed);
        let again = rep_model::yaml::parse(&text, 0).root;
        let kept = again.as_ref().and_then(|root| hash::sha256(root).ok());
        let is_stored =
            again.as_ref().and_then(|root| Uasp(root).version()).is_some_and(|version| version.value == computed);
        if kept.as_deref() != Some(&sha256) || !is_stored {
            let failure = Failure::unable(
                "NOT_STORED",
                format!("the version cannot be stored in `{shown}` without changing its content"),
            );
            return Err(failure.hint("write `version` as a plain quoted text, without an anchor or a tag"));
        }
        write::replace(&path, uasp.source.text().as_bytes(), &text)?;
        output.say(&format!("stored {computed} in `{shown}`"));
    }
    let declared_after = if args.write { Some(computed) } else { declared };
    if args.json {
        let value = json!({
            "declared": declared_after,
            "computed": computed,
            "sha256": sha256,
            "match": args.write || is_match,
        });
        output.json(&value);
    } else {
        output.data(&format!("{computed}\n"));
        match declared {
            Some(declared) if !is_match && !args.write => {
                output.say(&format!("`{shown}` declares {declared}; `rep hash --write {shown}` stores {computed}"));
            }
            None if !args.write => {
                output.say(&format!("`{shown}` declares no version; `rep hash --write {shown}` stores it"));
            }
            _ => {}
        }
    }
    Ok(if args.check && !is_match { Exit::Findings } else { Exit::Fine })
}

/// Loads the one UASP file a path stands for.
fn load(path: &std::path::Path) -> Result<(PathBuf, UaspFile), Failure> {
    let mut found: Vec<Found> = Vec::new();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // Any YAML file may be hashed, whatever it is called.
    if path.is_file() {
        let tree = read::lone_file(path, &find::shown(path));
        let entry = tree.entries.into_values().next();
        let mut renamed = rep_model::SkillTree { is_lone_file: true, ..rep_model::SkillTree::default() };
        let file =
            if name.ends_with(rep_model::uasp::SUFFIX) { name } else { format!("{name}{}", rep_model::uasp::SUFFIX) };
        renamed.entries.extend(entry.map(|entry| (file, entry)));
        return one(path.to_owned(), Skill::parse(renamed));
    }
    find::skills(path, |skill| found.push(skill))?;
    let [only] = found.as_slice() else {
        let failure = Failure::unable("AMBIGUOUS", format!("`{}` holds {} skills", find::shown(path), found.len()));
        return Err(failure.hint("name the `*.uasp.yaml` file"));
    };
    let tree = if only.is_lone_file {
        read::lone_file(&only.path, &only.shown)
    } else {
        read::folder(&only.path, &only.shown, read::Extent::Folder)?
    };
    let file = tree.entries.keys().find(|file| file.ends_with(rep_model::uasp::SUFFIX) && !file.contains('/')).cloned();
    let path = match (&file, only.is_lone_file) {
        (Some(file), false) => only.path.join(file),
        (_, true) | (None, false) => only.path.clone(),
    };
    one(path, Skill::parse(tree))
}

fn one(path: PathBuf, (mut skill, faults): (Skill, Vec<Fault>)) -> Result<(PathBuf, UaspFile), Failure> {
    let shown = find::shown(&path);
    let is_broken = |kind: FaultKind| kind.is_yaml() && !matches!(kind, FaultKind::YamlAnchor | FaultKind::YamlTag);
    if let Some(fault) = faults.iter().find(|fault| is_broken(fault.kind)) {
        let position = skill.source(&fault.file).map(|source| source.position(fault.span.start));
        let place =
            position.map_or_else(|| shown.clone(), |position| format!("{shown}:{}:{}", position.line, position.column));
        return Err(Failure::unable("INVALID_YAML", format!("{place}: {}", fault.message)).hint(fault.help.clone()));
    }
    let unreadable =
        [FaultKind::EncodingNotUtf8, FaultKind::FileIrregular, FaultKind::FileTooLarge, FaultKind::FileUnreadable];
    if let Some(fault) = faults.iter().find(|fault| unreadable.contains(&fault.kind)) {
        return Err(Failure::unable("UNREADABLE", format!("`{shown}`: {}", fault.message)));
    }
    match skill.uasp.pop() {
        Some(uasp) => Ok((path, uasp)),
        None => Err(Failure::unable("NOT_UASP", format!("`{shown}` has no `*.uasp.yaml`")).hint("name the file")),
    }
}

/// The text with the version stored: its own bytes replaced, or an entry put first in `meta`.
fn stored(uasp: &UaspFile, root: &Node, version: &str) -> String {
    let text = uasp.source.text();
    let Some(meta) = root.entry("meta") else { return text.to_owned() };
    let quoted = format!("\"{version}\"");
    if let Some(entry) = meta.value.entry("version") {
        let (span, gap) = match entry.value.span {
            // A key without a value has nothing to replace but the place behind its colon.
            span if span.start == span.end => {
                let colon =
                    text[entry.key.span.end..].find(':').map_or(entry.key.span.end, |at| entry.key.span.end + at + 1);
                (Span::at(colon), " ")
            }
            span => (span, ""),
        };
        return format!("{}{gap}{quoted}{}", &text[..span.start], &text[span.end..]);
    }
    let Value::Mapping { entries, is_flow } = &meta.value.value else { return text.to_owned() };
    let Some(first) = entries.first() else {
        let inside = meta.value.span.start + 1;
        return format!("{}version: {quoted}{}", &text[..inside], &text[inside..]);
    };
    let at = first.key.span.start;
    let between = if *is_flow {
        ", ".to_owned()
    } else {
        let (line, _) = uasp.source.line_at(at);
        format!("\n{}", " ".repeat(at - line))
    };
    format!("{}version: {quoted}{between}{}", &text[..at], &text[at..])
}
