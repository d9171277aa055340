use std::collections::{BTreeMap, BTreeSet};

use crate::report::{SetFindings, SkillFacts};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "depends-on-cycle",
    summary: "skills depend on each other in a cycle",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("frontmatter mapping, depends_on"), RuleCitation::universal("§3, depends_on")],
    requirements: &["DISC-17", "DISC-18"],
    page: include_str!("depends_on_cycle.md"),
    check: RuleCheck::Set(check),
};

/// The maximum number of names of a cycle in a message.
const NAMES_SHOWN_MAX: usize = 12;

/// The state of the search for a skill.
#[derive(Clone, Copy)]
enum SearchProgress {
    Unvisited,
    /// On the current path, at this depth.
    OnPath(usize),
    Finished,
}

/// A skill on the current path, and the dependency to follow next.
struct DependencyStep {
    skill: usize,
    next: usize,
}

/// Searches depth first, starting from the skills sorted by name. Each dependency is followed once.
fn check(skills: &[&SkillFacts], findings: &mut SetFindings) {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, skill) in skills.iter().enumerate() {
        if let Some((name, _)) = &skill.name {
            numbers.entry(name).or_insert(number);
        }
    }
    let mut seen = vec![SearchProgress::Unvisited; skills.len()];
    let mut closed = BTreeSet::new();
    for start in numbers.values() {
        let mut path = Vec::new();
        if matches!(seen[*start], SearchProgress::Unvisited) {
            seen[*start] = SearchProgress::OnPath(0);
            path.push(DependencyStep { skill: *start, next: 0 });
        }
        while let Some(step) = path.last_mut() {
            let from = step.skill;
            let Some((id, _)) = skills[from].depends_on.get(step.next) else {
                seen[from] = SearchProgress::Finished;
                path.pop();
                continue;
            };
            step.next += 1;
            let Some(to) = numbers.get(id.as_str()).copied() else { continue };
            match seen[to] {
                SearchProgress::Unvisited => {
                    seen[to] = SearchProgress::OnPath(path.len());
                    path.push(DependencyStep { skill: to, next: 0 });
                }
                // A dependency that is declared in both dialects closes one cycle, not two.
                SearchProgress::OnPath(depth) if closed.insert((from, to)) => {
                    report_cycle(skills, &path[depth..], findings);
                }
                SearchProgress::OnPath(_) | SearchProgress::Finished => {}
            }
        }
    }
}

fn report_cycle(skills: &[&SkillFacts], circle: &[DependencyStep], findings: &mut SetFindings) {
    let name = |step: &DependencyStep| skills[step.skill].name.as_ref().map_or("", |(name, _)| name);
    let Some(first) = circle.first() else { return };
    let mut names: Vec<&str> = circle.iter().take(NAMES_SHOWN_MAX).map(name).collect();
    if circle.len() > NAMES_SHOWN_MAX {
        names.push("…");
    }
    names.push(name(first));
    let Some((_, place)) = skills[first.skill].depends_on.get(first.next - 1) else { return };
    let message = format!("dependency cycle `{}`", names.join(" → "));
    let draft = findings.add_finding(place, message, "remove one of these dependencies");
    for step in circle.iter().skip(1).take(NAMES_SHOWN_MAX) {
        if let Some((id, place)) = skills[step.skill].depends_on.get(step.next - 1) {
            draft.with_related(place, format!("`{}` depends on `{id}`", name(step)));
        }
    }
}
