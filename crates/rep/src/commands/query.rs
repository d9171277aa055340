//! `rep query`: prints one exact value from a skill.

use rep_library::Catalog;
use rep_library::answer::{QueryEngine, QueryError};
use rep_library::budget::TOKENIZER;
use rep_library::documents::{query_document, query_miss_document};
use rep_model::DocumentOrigin;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::library::{self, LibraryArgs};
use crate::output::Output;

/// Get one exact value from a skill
///
/// A query is `skill:path?key=value`. The skill is a name, or a path with a slash. Paths in it follow keys, and the `name` or `id` of list items. Filters select list
/// items; `*` matches any text. Markdown skills are converted first, and answers cite their source lines.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep query git-worktrees:commands.add
  rep query 'sql-review:decisions?when=*NULL*'
  rep query ./skills/sql-review:constraints.never
  rep query changelog-notes:constraints.never --tokens")]
pub(crate) struct Args {
    /// The query; an empty path returns the whole skill
    ///
    /// Write `%26`, `%3D`, `%3F`, `%2A` and `%25` for `&`, `=`, `?`, `*` and `%`.
    query: String,
    #[command(flatten)]
    library: LibraryArgs,
    /// Accepted for consistency; the output is always JSON
    #[arg(long)]
    json: bool,
    /// Compare the token cost of the answer with that of the whole file
    #[arg(long)]
    tokens: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, query) = find_skill_of_query(args, output).map_err(|failure| failure.json(true))?;
    match QueryEngine::default().query(&catalog, &query) {
        Ok(reply) => {
            let mut value = query_document(&reply);
            if args.tokens {
                let cost = reply.measure_cost(&catalog)?;
                value["tokens"] = json!({ "answer": cost.answer, "whole": cost.whole, "tokenizer": TOKENIZER });
            }
            output.write_json(&value);
            library::report_version_warnings(&reply.version_warnings, output);
            report_origin(reply.origin, &reply.skill, output);
            Ok(Exit::Fine)
        }
        Err(QueryError::Unreadable(error)) => Err(Failure::from(error).json(true)),
        Err(miss) => {
            output.write_json(&query_miss_document(&miss));
            if let QueryError::UnknownPath { skill, origin, .. } = &miss {
                report_origin(*origin, skill, output);
            }
            if let QueryError::Invalid { skill, violations } = &miss {
                output.print_failure(&Failure::invalid_skill(skill, violations));
            }
            if let QueryError::UnknownSkill { name, candidates } = &miss {
                output.print_failure(&match candidates.as_slice() {
                    [] => library::missing_skill(&catalog, name),
                    _ => Failure::unable("AMBIGUOUS", format!("`{name}` could be {}", candidates.join(", "))),
                });
            }
            Ok(Exit::Findings)
        }
    }
}

/// Discovers the library. A skill that is named by its path becomes the library, and its name replaces the path.
fn find_skill_of_query(args: &Args, output: &mut Output) -> Result<(Catalog, String), Failure> {
    match args.query.split_once(':') {
        Some((skill, rest)) if args.library.is_path(skill) => {
            let (catalog, index) = args.library.find_any_skill(skill, output)?;
            let query = format!("{}:{rest}", catalog.entries[index].qualified_name);
            Ok((catalog, query))
        }
        _ => Ok((args.library.discover_catalog(output)?, args.query.clone())),
    }
}

/// Reports that an answer from Markdown is based only on high-confidence facts.
fn report_origin(origin: DocumentOrigin, skill: &str, output: &mut Output) {
    match origin {
        DocumentOrigin::Authored => {}
        DocumentOrigin::Extracted => output.print_message(&format!(
            "`{skill}` is Markdown: answered from high-confidence facts only; \
             run `rep convert {skill} --explain --include-doubtful` to see all"
        )),
    }
}
