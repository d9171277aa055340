//! Allow comments in a skill: `# rep: allow(rule) reason` in YAML, `<!-- rep: allow(rule) reason -->` in Markdown.
//!
//! An allow comment applies to its file. It must give a reason, and one that suppresses nothing is a finding.

use rep_model::{Skill, Span};

use crate::draft::FindingDraft;
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
        let mut complain = |rule: &'static LintRule, message: String, help: String| {
            let mut draft = FindingDraft::new(&file, span, message);
            draft.help(help);
            complaints.extend(judge(rule, draft));
        };
        let Some(silenced) = find_rule(&name) else {
            let help = crate::rules::nearest_rule_name(&name).map_or_else(
                || "run `rep explain` to list the rules".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            complain(ALLOW_UNKNOWN, format!("unknown rule `{name}`"), help);
            continue;
        };
        if reason.is_empty() {
            let help = format!("give a reason: `{ALLOW_MARK}{name}) because …`");
            complain(ALLOW_WITHOUT_REASON, format!("`{name}` is allowed without a reason"), help);
            continue;
        }
        let before = findings.len();
        findings.retain(|finding| !(finding.rule.name == name && finding.place.file == file));
        // A rule that did not run may be needed under another profile.
        if findings.len() == before && is_judged(silenced) {
            complain(ALLOW_UNUSED, format!("unused `allow` comment for `{name}`"), "remove the comment".to_owned());
        }
    }
    findings.extend(complaints);
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
