//! Allow comments in a skill: `# rep: allow(rule) reason` in YAML, `<!-- rep: allow(rule) reason -->` in Markdown.
//!
//! An allow comment applies to its file. It must give a reason, and one that suppresses nothing is a finding.

use rep_model::{Skill, Span};

use crate::draft::FindingDraft;
use crate::fix::FindingFix;
use crate::report::Finding;
use crate::rule::LintRule;
use crate::rules::{ALLOW_UNKNOWN, ALLOW_UNUSED, ALLOW_WITHOUT_REASON, find_rule};

const ALLOW_MARK: &str = "rep: allow(";

struct AllowComment {
    file: String,
    span: Span,
    rule: String,
    reason: String,
}

/// Removes suppressed findings, and adds findings about the allow comments through `judge`.
pub(crate) fn apply_allow_comments(
    skill: &Skill,
    findings: &mut Vec<Finding>,
    is_judged: impl Fn(&'static LintRule) -> bool,
    judge: impl Fn(&'static LintRule, FindingDraft) -> Option<Finding>,
) {
    let silences = collect_allow_comments(skill);
    let mut complaints = Vec::new();
    for AllowComment { file, span, rule: name, reason } in silences {
        let mut complain = |rule: &'static LintRule, message: String, help: String, fix: Option<FindingFix>| {
            let mut draft = FindingDraft::new(&file, span, message);
            draft.help(help).with_optional_fix(fix);
            complaints.extend(judge(rule, draft));
        };
        let Some(silenced) = find_rule(&name) else {
            let near = crate::rules::nearest_rule_name(&name);
            // The corrected comment must have a reason and silence something, or it is at fault again.
            let is_used = |near: &&str| {
                !reason.is_empty()
                    && findings.iter().any(|finding| finding.rule.name == *near && finding.place.file == file)
            };
            let fix = near.filter(is_used).and_then(|near| rename_rule(skill, &file, span, &name, near));
            let help = near.map_or_else(
                || "run `rep explain` to list the rules".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            complain(ALLOW_UNKNOWN, format!("unknown rule `{name}`"), help, fix);
            continue;
        };
        if reason.is_empty() {
            let help = format!("give a reason: `{ALLOW_MARK}{name}) because …`");
            complain(ALLOW_WITHOUT_REASON, format!("`{name}` is allowed without a reason"), help, None);
            continue;
        }
        let before = findings.len();
        findings.retain(|finding| !(finding.rule.name == name && finding.place.file == file));
        // A rule that did not run may be needed under another profile.
        if findings.len() == before && is_judged(silenced) {
            let fix = remove_comment(skill, &file, span);
            complain(
                ALLOW_UNUSED,
                format!("unused `allow` comment for `{name}`"),
                "remove the comment".to_owned(),
                fix,
            );
        }
    }
    findings.extend(complaints);
}

/// Returns a fix that corrects the rule that a comment names.
fn rename_rule(skill: &Skill, file: &str, span: Span, name: &str, near: &str) -> Option<FindingFix> {
    let at = span.start + skill.find_source(file)?.slice(span).find(name)?;
    let fix = FindingFix::suggestion(format!("write `{near}`"));
    Some(fix.replace(file, Span::new(at, at + name.len()), near))
}

/// Returns a fix that removes a comment, with its line if nothing else is on it.
fn remove_comment(skill: &Skill, file: &str, span: Span) -> Option<FindingFix> {
    let text = skill.find_source(file)?.text();
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
    let is_alone = text[start..span.start].trim().is_empty() && text[span.end..end].trim().is_empty();
    let before = text[start..span.start].trim_end_matches(' ').len();
    let removed = if is_alone { Span::new(start, end) } else { Span::new(start + before, span.end) };
    // Without the comment, the body would be empty, which is another fault.
    let body = skill.manifest.as_ref().filter(|manifest| manifest.file == file).map(rep_model::Manifest::body_span);
    let is_last = body.is_some_and(|body| {
        body.start <= removed.start
            && text[body.start..removed.start].trim().is_empty()
            && text[removed.end..].trim().is_empty()
    });
    (!is_last).then(|| FindingFix::suggestion("remove the comment").replace(file, removed, ""))
}

fn collect_allow_comments(skill: &Skill) -> Vec<AllowComment> {
    let mut silences = Vec::new();
    if let Some(manifest) = skill.manifest.as_ref().filter(|manifest| manifest.source.text().contains(ALLOW_MARK)) {
        let comments = manifest.front.as_ref().map(|front| front.comments.as_slice()).unwrap_or_default();
        for span in comments.iter().chain(&manifest.outline().html) {
            parse_allow_comment(manifest.file, manifest.source.slice(*span), *span, &mut silences);
        }
    }
    for uasp in skill.uasp.iter().filter(|uasp| uasp.source.text().contains(ALLOW_MARK)) {
        for span in &uasp.comments {
            parse_allow_comment(&uasp.file, uasp.source.slice(*span), *span, &mut silences);
        }
    }
    silences
}

fn parse_allow_comment(file: &str, comment: &str, span: Span, silences: &mut Vec<AllowComment>) {
    let inner = comment.trim_start_matches('#').trim();
    let inner = inner.strip_prefix("<!--").map_or(inner, |rest| rest.trim_end().trim_end_matches("-->")).trim();
    let Some((rule, reason)) = inner.strip_prefix(ALLOW_MARK).and_then(|rest| rest.split_once(')')) else { return };
    silences.push(AllowComment {
        file: file.to_owned(),
        span,
        rule: rule.trim().to_owned(),
        reason: reason.trim().to_owned(),
    });
}
