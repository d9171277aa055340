//! A SKILL.md of any bytes is read, judged under every profile, mended and rendered.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_check::{Options, Profile, Report, check, fix, render};
use rep_model::{Content, Entry, Skill, SkillTree};

fuzz_target!(|bytes: &[u8]| {
    let mut tree = SkillTree::of("pdf-tools", &[("references/a.md", "[b](b.md)\n")]);
    let content = Content::Bytes(bytes.to_vec());
    tree.entries.insert("SKILL.md".to_owned(), Entry::File { size_bytes: bytes.len() as u64, is_executable: false, content });
    let (skill, faults) = Skill::parse(tree);
    let options = Options { profiles: Profile::all().to_vec(), ..Options::default() };
    let found = check(&skill, faults, &options);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = fix::apply(text, found.findings.iter().filter(|finding| finding.place.file == "SKILL.md"));
    }
    let report = Report { findings: found.findings, skills: 1 };
    let _ = (render::text(&report, render::Paint::Plain), render::sarif(&report), render::github(&report));
});
