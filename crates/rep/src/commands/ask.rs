//! `rep ask`: the common questions, as compositions of queries.

use anstyle::Style;
use clap::ValueEnum;
use rep_check::render::visible;
use rep_library::answer::{Answers, Miss};
use rep_library::ask::{self, Question, Told, Verdict};
use serde_json::{Value, json};

use super::query::missed;
use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// Ask a skill one of the common questions
#[derive(clap::Args)]
#[command(
    after_help = "`can` looks for a prohibition, then for duties and decisions; `how` for a command, a reference entry or a workflow; `when` for decisions; `syntax` for reference entries and commands. The queries that were asked are told. Words are compared without their endings; no model is involved, so silence means only that the skill does not say.\n\nExamples:\n  rep ask stripe can \"use the Charges API\"\n  rep ask agent-browser how click\n  rep ask stripe when \"recurring revenue\"\n  rep ask mermaid syntax parallel"
)]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// The question
    #[arg(value_enum)]
    question: Word,
    /// What it is about
    #[arg(required = true, value_name = "X")]
    about: Vec<String>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Word {
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
    let (catalog, index) = args.library.one(&args.skill, output).map_err(|failure| failure.json(args.json))?;
    let question = match args.question {
        Word::Can => Question::Can,
        Word::How => Question::How,
        Word::When => Question::When,
        Word::Syntax => Question::Syntax,
    };
    let about = args.about.join(" ");
    let entry = &catalog.entries[index];
    let told = match ask::ask(&Answers::default(), entry, question, &about) {
        Ok(told) => told,
        Err(Miss::Unreadable(error)) => return Err(Failure::from(error).json(args.json)),
        Err(miss) if args.json => {
            output.json(&missed(&miss));
            return Ok(Exit::Findings);
        }
        Err(miss) => return Err(Failure::unable(miss.code(), miss.message())),
    };
    if args.json {
        output.json(&value(&entry.qualified_name, &about, &told));
    } else {
        print(&about, &told, output);
    }
    Ok(if told.verdict == Verdict::Silent { Exit::Findings } else { Exit::Fine })
}

fn value(skill: &str, about: &str, told: &Told) -> Value {
    let grounds = told.grounds.iter().map(|ground| {
        let mut value = json!({ "path": ground.path, "value": ground.value });
        if let Some(line) = ground.line {
            value["line"] = json!(line);
        }
        value
    });
    json!({
        "skill": skill,
        "about": about,
        "answer": told.verdict.name(),
        "because": grounds.collect::<Vec<_>>(),
        "queries": told.queries,
        "origin": told.origin.name(),
    })
}

fn print(about: &str, told: &Told, output: &mut Output) {
    let first = match told.verdict {
        Verdict::No => "no",
        Verdict::Guided => "not forbidden, but mind:",
        Verdict::Found => "",
        Verdict::Silent => "the skill does not say",
    };
    let mut text = String::new();
    if !first.is_empty() {
        text.push_str(&format!("{}\n", output.styled(Style::new().bold(), first)));
    }
    for ground in &told.grounds {
        let line = ground.line.map(|line| format!(", line {line}")).unwrap_or_default();
        let place = format!("({}{line})", ground.path);
        text.push_str(&format!("{}\n", output.styled(Style::new().dimmed(), &visible(&place))));
        for line in shown(&ground.value).lines() {
            text.push_str(&format!("  {}\n", visible(line)));
        }
    }
    output.data(&text);
    output.say(&format!("asked about `{}`: {}", visible(about), visible(&told.queries.join("  "))));
}

/// A value for people: text as it is, mappings as `key: value` lines.
fn shown(value: &Value) -> String {
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
