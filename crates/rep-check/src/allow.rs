//! Silences written in a skill: `# rep: allow(rule) reason` in YAML, `<!-- rep: allow(rule) reason -->` in Markdown.
//!
//! A silence holds for its file. It must give a reason, and one that silences nothing is itself a finding.

use rep_model::{Skill, Span};

use crate::report::Finding;
use crate::rule::Rule;
use crate::rules::{ALLOW_UNKNOWN, ALLOW_UNUSED, ALLOW_WITHOUT_REASON, rule};

const MARK: &str = "rep: allow(";

struct Silence {
    file: String,
    span: Span,
    rule: String,
    reason: String,
}

/// Removes what is silenced, and adds what is wrong with the silences through `judge`.
pub(crate) fn apply(
    skill: &Skill,
    findings: &mut Vec<Finding>,
    is_judged: impl Fn(&'static Rule) -> bool,
    judge: impl Fn(&'static Rule, String, Span, String, String) -> Option<Finding>,
) {
    let silences = silences(skill);
    let mut complaints = Vec::new();
    for Silence { file, span, rule: name, reason } in silences {
        let mut complain = |rule: &'static Rule, message: String, help: String| {
            complaints.extend(judge(rule, file.clone(), span, message, help));
        };
        let Some(silenced) = rule(&name) else {
            let help = crate::rules::nearest(&name)
                .map_or_else(|| "`rep explain` lists the rules".to_owned(), |near| format!("did you mean `{near}`?"));
            complain(ALLOW_UNKNOWN, format!("there is no rule `{name}`"), help);
            continue;
        };
        if reason.is_empty() {
            let help = format!("say why: `{MARK}{name}) because …`");
            complain(ALLOW_WITHOUT_REASON, format!("`{name}` is silenced without a reason"), help);
            continue;
        }
        let before = findings.len();
        findings.retain(|finding| !(finding.rule.name == name && finding.place.file == file));
        // A rule that was not looked at may well be needed under another profile.
        if findings.len() == before && is_judged(silenced) {
            complain(ALLOW_UNUSED, format!("nothing here needs `{name}` silenced"), "remove the comment".to_owned());
        }
    }
    findings.extend(complaints);
}

fn silences(skill: &Skill) -> Vec<Silence> {
    let mut silences = Vec::new();
    if let Some(manifest) = skill.manifest.as_ref().filter(|manifest| manifest.source.text().contains(MARK)) {
        let comments = manifest.front.as_ref().map(|front| front.comments.as_slice()).unwrap_or_default();
        for span in comments.iter().chain(&manifest.outline().html) {
            read(manifest.file, manifest.source.slice(*span), *span, &mut silences);
        }
    }
    for uasp in skill.uasp.iter().filter(|uasp| uasp.source.text().contains(MARK)) {
        for span in &uasp.comments {
            read(&uasp.file, uasp.source.slice(*span), *span, &mut silences);
        }
    }
    silences
}

fn read(file: &str, comment: &str, span: Span, silences: &mut Vec<Silence>) {
    let inner = comment.trim_start_matches('#').trim();
    let inner = inner.strip_prefix("<!--").map_or(inner, |rest| rest.trim_end().trim_end_matches("-->")).trim();
    let Some((rule, reason)) = inner.strip_prefix(MARK).and_then(|rest| rest.split_once(')')) else { return };
    silences.push(Silence {
        file: file.to_owned(),
        span,
        rule: rule.trim().to_owned(),
        reason: reason.trim().to_owned(),
    });
}
