//! `rep ask`: answers common questions by combining queries.

use anstyle::Style;
use clap::ValueEnum;
use rep_check::render::escape_invisible;
use rep_library::answer::{QueryEngine, QueryError};
use rep_library::documents::{ask_document, query_miss_document};
use rep_library::questions::{self, CommonQuestion, QuestionAnswer, QuestionVerdict};
use serde_json::Value;

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// Ask a skill a common question, without a model
///
/// `can` looks for prohibitions, requirements and decisions; `how` for commands, reference entries and workflows;
/// `when` for decisions; `syntax` for reference entries and commands. The output includes the queries used. No
/// answer means only that the skill does not say.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep ask git-worktrees can \"remove the folder by hand\"
  rep ask git-worktrees how add
  rep ask sql-review when \"an UPDATE has no WHERE\"
  rep ask git-worktrees syntax move")]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// The question
    #[arg(value_enum)]
    question: AskQuestionChoice,
    /// The subject of the question
    #[arg(required = true, value_name = "SUBJECT")]
    about: Vec<String>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AskQuestionChoice {
    /// Can I do X?
    Can,
    /// How do I do X?
    How,
    /// What should I do when X?
    When,
    /// What is the syntax of X?
    Syntax,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = args.library.find_skill(&args.skill, output).map_err(|failure| failure.json(args.json))?;
    let question = match args.question {
        AskQuestionChoice::Can => CommonQuestion::Can,
        AskQuestionChoice::How => CommonQuestion::How,
        AskQuestionChoice::When => CommonQuestion::When,
        AskQuestionChoice::Syntax => CommonQuestion::Syntax,
    };
    let about = args.about.join(" ");
    let entry = &catalog.entries[index];
    let told = match questions::answer_question(&QueryEngine::default(), entry, question, &about) {
        Ok(told) => told,
        Err(QueryError::Unreadable(error)) => return Err(Failure::from(error).json(args.json)),
        Err(miss) if args.json => {
            output.write_json(&query_miss_document(&miss));
            return Ok(Exit::Findings);
        }
        Err(QueryError::Invalid { skill, violations }) => return Err(Failure::invalid_skill(&skill, &violations)),
        Err(miss) => return Err(Failure::unable(miss.code(), miss.message())),
    };
    if args.json {
        output.write_json(&ask_document(&entry.qualified_name, &about, &told));
    } else {
        print_answer(&about, &told, output);
    }
    Ok(if told.verdict == QuestionVerdict::Silent { Exit::Findings } else { Exit::Fine })
}

fn print_answer(about: &str, told: &QuestionAnswer, output: &mut Output) {
    let first = match told.verdict {
        QuestionVerdict::No => "no",
        QuestionVerdict::Guided => "not forbidden, but note:",
        QuestionVerdict::Found => "",
        QuestionVerdict::Silent => "the skill does not say",
    };
    let mut text = String::new();
    if !first.is_empty() {
        text.push_str(&format!("{}\n", output.style_text(Style::new().bold(), first)));
    }
    for ground in &told.evidence {
        let line = ground.line.map(|line| format!(", line {line}")).unwrap_or_default();
        let place = format!("({}{line})", ground.path);
        text.push_str(&format!("{}\n", output.style_text(Style::new().dimmed(), &escape_invisible(&place))));
        for line in render_value(&ground.value).lines() {
            text.push_str(&format!("  {}\n", escape_invisible(line)));
        }
    }
    output.write_data(&text);
    output.print_message(&format!(
        "asked about `{}`: {}",
        escape_invisible(about),
        escape_invisible(&told.queries.join("  "))
    ));
}

/// Renders a value for people: text unchanged, mappings as `key: value` lines.
fn render_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(map) => {
            let line = |(key, value): (&String, &Value)| match value {
                Value::String(text) if text.trim_end().contains('\n') => {
                    format!("{key}:\n  {}", text.trim_end().replace('\n', "\n  "))
                }
                Value::String(text) => format!("{key}: {}", text.trim_end()),
                other => format!("{key}: {other}"),
            };
            map.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}
