//! Any bytes as the scripts of a skill: the scan ends, and gives the same result twice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_model::{Skill, SkillTree};
use rep_scan::scan_skill;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let files = [("SKILL.md", &*text), ("a.sh", &text), ("a.py", &text), ("a.ts", &text), ("package.json", &text)];
    let (skill, _) = Skill::parse(SkillTree::from_texts("x", &files));
    assert_eq!(scan_skill(&skill), scan_skill(&skill));
});
