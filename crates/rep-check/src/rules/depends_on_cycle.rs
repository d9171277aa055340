use std::collections::{BTreeMap, BTreeSet};

use crate::report::{Facts, SetFindings};
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "depends-on-cycle",
    summary: "skills that depend on each other in a circle",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("frontmatter mapping, depends_on"), Cite::universal("§3, depends_on")],
    requirements: &["DISC-17", "DISC-18"],
    page: include_str!("depends_on_cycle.md"),
    check: Check::Set(check),
};

/// The most names of a circle that are written out.
const SHOWN_MAX: usize = 12;

/// How far the search is with a skill.
#[derive(Clone, Copy)]
enum Seen {
    Never,
    /// It stands on the path, at this depth.
    Open(usize),
    Done,
}

/// A skill on the path, and the dependency to follow next.
struct Step {
    skill: usize,
    next: usize,
}

/// Searches depth first, from the skills in order of name; every dependency is followed once.
fn check(skills: &[Facts], findings: &mut SetFindings) {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, skill) in skills.iter().enumerate() {
        if let Some((name, _)) = &skill.name {
            numbers.entry(name).or_insert(number);
        }
    }
    let mut seen = vec![Seen::Never; skills.len()];
    let mut closed = BTreeSet::new();
    for start in numbers.values() {
        let mut path = Vec::new();
        if matches!(seen[*start], Seen::Never) {
            seen[*start] = Seen::Open(0);
            path.push(Step { skill: *start, next: 0 });
        }
        while let Some(step) = path.last_mut() {
            let from = step.skill;
            let Some((id, _)) = skills[from].depends_on.get(step.next) else {
                seen[from] = Seen::Done;
                path.pop();
                continue;
            };
            step.next += 1;
            let Some(to) = numbers.get(id.as_str()).copied() else { continue };
            match seen[to] {
                Seen::Never => {
                    seen[to] = Seen::Open(path.len());
                    path.push(Step { skill: to, next: 0 });
                }
                // A dependency that stands in both dialects closes one circle, not two.
                Seen::Open(depth) if closed.insert((from, to)) => report(skills, &path[depth..], findings),
                Seen::Open(_) | Seen::Done => {}
            }
        }
    }
}

fn report(skills: &[Facts], circle: &[Step], findings: &mut SetFindings) {
    let name = |step: &Step| skills[step.skill].name.as_ref().map_or("", |(name, _)| name);
    let Some(first) = circle.first() else { return };
    let mut names: Vec<&str> = circle.iter().take(SHOWN_MAX).map(name).collect();
    if circle.len() > SHOWN_MAX {
        names.push("…");
    }
    names.push(name(first));
    let Some((_, place)) = skills[first.skill].depends_on.get(first.next - 1) else { return };
    findings.add(place, format!("dependency cycle `{}`", names.join(" → ")), "remove one of these dependencies");
}
