//! `rep explain`: prints the page of a check or extraction rule, or lists all rules.

use anstyle::{AnsiColor, Style};
use rep_check::{LintRule, Profile, ProfileSet, RULES, find_rule, nearest_rule_name};
use rep_convert::extract::rules as extraction;
use rep_model::suggestion::{nearest_name, suggest_name_or};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Explain a rule, or list all rules
///
/// Prints what the rule finds, why it matters, and a valid and an invalid example. Without a rule, prints one line
/// per rule.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep explain name-differs-from-folder
  rep explain                        # list all rules
  rep explain --profile claude-api   # list the rules of one profile
  rep explain never.marker           # a rule named by `rep convert --explain`")]
pub(crate) struct Args {
    /// The rule: the name in brackets in a report, or an extraction rule named by `rep convert --explain`
    rule: Option<String>,
    /// List only the rules of this profile
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Some(name) = &args.rule else { return list_rules(args, output) };
    if let Some(rule) = extraction::find_rule(name) {
        return Ok(explain_extraction(rule, args, output));
    }
    let Some(rule) = find_rule(name) else {
        let failure = Failure::unable("UNKNOWN_RULE", format!("unknown rule `{name}`")).json(args.json);
        let ids = extraction::RULES.iter().map(|rule| rule.id);
        let near = nearest_rule_name(name).or_else(|| nearest_name(name, ids));
        return Err(failure.hint(suggest_name_or(near, "run `rep explain` to see all rules")));
    };
    if args.json {
        output.write_json(&rule_to_json(rule));
    } else {
        let text = render_page(rule, output);
        output.write_data(&text);
    }
    Ok(Exit::Fine)
}

fn explain_extraction(rule: &extraction::ExtractionRule, args: &Args, output: &mut Output) -> Exit {
    if args.json {
        let examples = |(markdown, found): &(&str, &str)| json!({ "markdown": markdown, "finds": found });
        output.write_json(&json!({
            "rule": rule.id,
            "kind": "extraction",
            "section": rule.section,
            "confidence": rule.confidence,
            "default": rule.is_confident(),
            "summary": rule.summary,
            "matches": rule.matches.iter().map(examples).collect::<Vec<_>>(),
            "not_matches": rule.not_matches,
        }));
        return Exit::Fine;
    }
    let heading = AnsiColor::Cyan.on_default().bold();
    let mut text = String::new();
    for line in rule.render_page().lines() {
        text.push_str(&if line.starts_with("# ") { output.style_text(heading, line) } else { line.to_owned() });
        text.push('\n');
    }
    output.write_data(&text);
    Exit::Fine
}

fn list_rules(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let profile = match &args.profile {
        None => None,
        Some(name) => Some(Profile::from_name(name).ok_or_else(|| {
            let all: Vec<&str> = Profile::all().iter().map(|profile| profile.name()).collect();
            let failure = Failure::unable("UNKNOWN_PROFILE", format!("unknown profile `{name}`")).json(args.json);
            failure.hint(format!("the profiles are: {}", all.join(", ")))
        })?),
    };
    let is_wanted = |rule: &&&LintRule| profile.is_none_or(|profile| rule.levels.for_profile(profile).is_some());
    let rules: Vec<&LintRule> = RULES.iter().filter(is_wanted).copied().collect();
    if args.json {
        let values: Vec<serde_json::Value> = rules.iter().map(|rule| rule_to_json(rule)).collect();
        output.write_json(&json!({ "rules": values }));
        return Ok(Exit::Fine);
    }
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for rule in &rules {
        let name = output.style_text(Style::new().bold(), &format!("{:width$}", rule.name));
        text.push_str(&format!("{name}  {}\n", rule.summary));
    }
    output.write_data(&text);
    output.print_message(&format!("{} rules; run `rep explain RULE` for details", rules.len()));
    Ok(Exit::Fine)
}

/// Returns the profiles by level, as in `error: agentskills, portable`.
fn list_levels(rule: &LintRule) -> Vec<(&'static str, Vec<&'static str>)> {
    let names = |profiles: ProfileSet| profiles.iter().map(Profile::name).collect::<Vec<_>>();
    let sets = [("error", rule.levels.error), ("warning", rule.levels.warning), ("info", rule.levels.info)];
    sets.into_iter()
        .filter(|(_, profiles)| !profiles.is_empty())
        .map(|(word, profiles)| (word, names(profiles)))
        .collect()
}

fn render_page(rule: &LintRule, output: &Output) -> String {
    let heading = AnsiColor::Cyan.on_default().bold();
    let mut text = String::new();
    for line in rule.page.trim_end().lines() {
        let line = if line.starts_with('#') { output.style_text(heading, line) } else { line.to_owned() };
        text.push_str(&line);
        text.push('\n');
        if text.lines().count() == 1 {
            text.push_str(&format!("\n{}.\n", rule.summary));
        }
    }
    text.push_str(&format!("\n{}\n", output.style_text(heading, "## Where it applies")));
    for (word, profiles) in list_levels(rule) {
        text.push_str(&format!("- {word}: {}\n", profiles.join(", ")));
    }
    if let Some(level) = rule.levels.automatic {
        text.push_str(&format!("- {} if no profile is named\n", level.name()));
    }
    text.push_str(&format!("\n{}\n", output.style_text(heading, "## Where it comes from")));
    for cite in rule.citations {
        text.push_str(&format!("- {}: {}\n", cite.source, cite.place));
    }
    text
}

fn rule_to_json(rule: &LintRule) -> serde_json::Value {
    let cites: Vec<String> = rule.citations.iter().map(|cite| format!("{}: {}", cite.source, cite.place)).collect();
    let levels: serde_json::Map<String, serde_json::Value> =
        list_levels(rule).into_iter().map(|(word, profiles)| (word.to_owned(), json!(profiles))).collect();
    json!({
        "rule": rule.name,
        "summary": rule.summary,
        "since": rule.since,
        "levels": levels,
        "unasked": rule.levels.automatic.map(rep_check::Level::name),
        "cites": cites,
        "requirements": rule.requirements,
        "page": rule.page,
    })
}
