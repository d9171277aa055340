//! Reads a SKILL.md of any bytes, checks it with every profile, fixes it and renders it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_check::render::{self, ReportFormat};
use rep_check::{CheckOptions, CheckReport, Profile, check_skill, fix};
use rep_model::{FileContent, Skill, SkillTree, TreeEntry};

fuzz_target!(|bytes: &[u8]| {
    let mut tree = SkillTree::from_texts("pdf-tools", &[("references/a.md", "[b](b.md)\n")]);
    let content = FileContent::Bytes(bytes.to_vec());
    tree.entries.insert(
        "SKILL.md".to_owned(),
        TreeEntry::File { size_bytes: bytes.len() as u64, is_executable: false, content },
    );
    let (skill, faults) = Skill::parse(tree);
    let options = CheckOptions { profiles: Profile::all().to_vec(), ..CheckOptions::default() };
    let found = check_skill(&skill, faults, &options);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = fix::apply_fixes("SKILL.md", text, found.findings.iter().filter_map(|finding| finding.fix.as_ref()));
    }
    let report = CheckReport { findings: found.findings, skills: 1 };
    let formats =
        [ReportFormat::Text, ReportFormat::Sarif, ReportFormat::Github, ReportFormat::Junit, ReportFormat::Gitlab];
    for format in formats {
        let _ = render::render_report(&report, format, render::ColourMode::Plain);
    }
});
