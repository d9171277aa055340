//! `rep explain`: a rule's page, or the catalogue of rules.

use anstyle::{AnsiColor, Style};
use rep_check::{Profile, ProfileSet, RULES, Rule, nearest, rule};
use serde_json::json;

use crate::exit::{Exit, Failure, did_you_mean};
use crate::output::Output;

/// Explain a rule, or list all rules
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  rep explain name-differs-from-folder\n  rep explain                 every rule, a line each\n  rep explain --json          the same for programs"
)]
pub(crate) struct Args {
    /// The rule, as it stands in brackets in a report
    rule: Option<String>,
    /// Only the rules of this profile
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Some(name) = &args.rule else { return catalogue(args, output) };
    let Some(rule) = rule(name) else {
        let failure = Failure::unable("UNKNOWN_RULE", format!("there is no rule `{name}`")).json(args.json);
        return Err(failure.hint(did_you_mean(nearest(name), "`rep explain` lists the rules")));
    };
    if args.json {
        output.json(&value(rule));
    } else {
        let text = page(rule, output);
        output.data(&text);
    }
    Ok(Exit::Fine)
}

fn catalogue(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let profile = match &args.profile {
        None => None,
        Some(name) => Some(Profile::named(name).ok_or_else(|| {
            let all: Vec<&str> = Profile::all().iter().map(|profile| profile.name()).collect();
            let failure = Failure::unable("UNKNOWN_PROFILE", format!("there is no profile `{name}`")).json(args.json);
            failure.hint(format!("the profiles are: {}", all.join(", ")))
        })?),
    };
    let is_wanted = |rule: &&&Rule| profile.is_none_or(|profile| rule.levels.of(profile).is_some());
    let rules: Vec<&Rule> = RULES.iter().filter(is_wanted).copied().collect();
    if args.json {
        let values: Vec<serde_json::Value> = rules.iter().map(|rule| value(rule)).collect();
        output.json(&json!({ "rules": values }));
        return Ok(Exit::Fine);
    }
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for rule in &rules {
        let name = output.styled(Style::new().bold(), &format!("{:width$}", rule.name));
        text.push_str(&format!("{name}  {}\n", rule.summary));
    }
    output.data(&text);
    output.say(&format!("{} rules; `rep explain RULE` shows a page", rules.len()));
    Ok(Exit::Fine)
}

/// Where a rule applies, as words: `error: agentskills, portable`.
fn levels(rule: &Rule) -> Vec<(&'static str, Vec<&'static str>)> {
    let names = |profiles: ProfileSet| profiles.iter().map(Profile::name).collect::<Vec<_>>();
    let sets = [("error", rule.levels.error), ("warning", rule.levels.warning), ("info", rule.levels.info)];
    sets.into_iter()
        .filter(|(_, profiles)| !profiles.is_empty())
        .map(|(word, profiles)| (word, names(profiles)))
        .collect()
}

fn page(rule: &Rule, output: &Output) -> String {
    let heading = AnsiColor::Cyan.on_default().bold();
    let mut text = String::new();
    for line in rule.page.trim_end().lines() {
        let line = if line.starts_with('#') { output.styled(heading, line) } else { line.to_owned() };
        text.push_str(&line);
        text.push('\n');
        if text.lines().count() == 1 {
            text.push_str(&format!("\n{}.\n", rule.summary));
        }
    }
    text.push_str(&format!("\n{}\n", output.styled(heading, "## Where it applies")));
    for (word, profiles) in levels(rule) {
        text.push_str(&format!("- {word}: {}\n", profiles.join(", ")));
    }
    if let Some(level) = rule.levels.unasked {
        text.push_str(&format!("- {} where no profile was named\n", level.name()));
    }
    text.push_str(&format!("\n{}\n", output.styled(heading, "## Where it comes from")));
    for cite in rule.cites {
        text.push_str(&format!("- {}: {}\n", cite.source, cite.place));
    }
    text
}

fn value(rule: &Rule) -> serde_json::Value {
    let cites: Vec<String> = rule.cites.iter().map(|cite| format!("{}: {}", cite.source, cite.place)).collect();
    let levels: serde_json::Map<String, serde_json::Value> =
        levels(rule).into_iter().map(|(word, profiles)| (word.to_owned(), json!(profiles))).collect();
    json!({
        "rule": rule.name,
        "summary": rule.summary,
        "since": rule.since,
        "levels": levels,
        "unasked": rule.levels.unasked.map(rep_check::Level::name),
        "cites": cites,
        "requirements": rule.requirements,
        "page": rule.page,
    })
}
