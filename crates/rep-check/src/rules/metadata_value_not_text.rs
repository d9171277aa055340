use rep_model::Skill;
use rep_model::yaml::{YamlEntry, YamlNode, core, quote_double};

use crate::draft::{FindingDraft, Findings};
use crate::grouping::{add_places, list_names};
use crate::profile::STANDARD;
use crate::{Level, LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "metadata-value-not-text",
    summary: "a value under `metadata` is not text",
    since: "0.1.0",
    levels: RuleLevels {
        error: STANDARD.union(ProfileSet::new(&[Profile::Aam, Profile::Pmcp])),
        automatic: Some(Level::Warning),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::agentskills("metadata field"),
        RuleCitation::pmcp("frontmatter model"),
        RuleCitation::public_survey("§3: most metadata contains lists and mappings"),
    ],
    requirements: &["VAL-30", "VAL-31"],
    page: include_str!("metadata_value_not_text.md"),
    check: RuleCheck::Skill(check),
};

/// Keys under `metadata` that a host documents as mappings: `OpenClaw` under its three names, and Hermes.
const HOST_NAMESPACES: [&str; 4] = ["clawdbot", "hermes", "moltbot", "openclaw"];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let entries = front.get("metadata").and_then(YamlNode::entries).unwrap_or(&[]);
    let (of_hosts, others): (Vec<&YamlEntry>, Vec<&YamlEntry>) = entries
        .iter()
        .filter(|entry| entry.value.text().is_none())
        .partition(|entry| entry.key.text().is_some_and(|key| HOST_NAMESPACES.contains(&key)));
    for strict in [ProfileSet::new(&[Profile::Aam, Profile::Pmcp]), STANDARD] {
        for entries in [&others, &of_hosts] {
            let Some(draft) = report_collections(manifest.file, entries, findings) else { continue };
            draft.only_for_profiles(strict);
            // Most public skills with metadata have such values, and hosts read them.
            if strict == STANDARD {
                draft.only_when_selected();
            }
        }
    }
    for entry in entries {
        let (key, value) = (entry.key.text().unwrap_or("?"), &entry.value);
        let Some(text) = value.text().filter(|_| core::classify_scalar(value) != Some(core::CoreScalar::Text)) else {
            continue;
        };
        let path = format!("metadata.{key}");
        // Under other profiles, a plain value is text.
        let place = if value.is_null() { entry.key.span } else { value.span };
        let draft = findings
            .add(manifest.file, place, format!("`{path}` is {}, not text", value.describe_kind()))
            .with_data_path(path)
            .only_for_profiles(Profile::Pmcp.as_set());
        if value.is_null() {
            draft.help("give it a value, or remove it");
        } else {
            draft.help("put it in quotes");
            // Quotes would change the meaning of an alias or a tag.
            if value.tag.is_none() && manifest.source.slice(value.span) == text {
                draft.with_replacement(value.span, quote_double(text));
            }
        }
    }
}

/// Reports the lists and mappings in one finding.
fn report_collections<'f>(
    file: &str,
    entries: &[&YamlEntry],
    findings: &'f mut Findings<'_>,
) -> Option<&'f mut FindingDraft> {
    let first = entries.first()?;
    let paths: Vec<String> =
        entries.iter().map(|entry| format!("metadata.{}", entry.key.text().unwrap_or("?"))).collect();
    let (message, help) = match paths.as_slice() {
        [path] => {
            (format!("`{path}` is {}, not text", first.value.describe_kind()), "write it as text, such as quoted JSON")
        }
        paths => {
            let listed = list_names(paths.iter().map(String::as_str));
            (format!("{} values are not text: {listed}", paths.len()), "write them as text, such as quoted JSON")
        }
    };
    let draft = findings.add(file, first.value.span, message);
    draft.with_data_path(&paths[0]).help(help);
    add_places(draft, file, entries.iter().zip(&paths).map(|(entry, path)| (entry.value.span, path.as_str())));
    Some(draft)
}
