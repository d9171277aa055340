//! Reads, hashes and checks a UASP file and a tools.json of any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_check::{CheckOptions, Profile, check_skill};
use rep_model::{FileContent, Skill, SkillTree, TreeEntry, content_hash};

fuzz_target!(|bytes: &[u8]| {
    let mut tree = SkillTree::from_texts("t", &[]);
    for file in ["t.uasp.yaml", "tools.json"] {
        let content = FileContent::Bytes(bytes.to_vec());
        tree.entries.insert(file.to_owned(), TreeEntry::File { size_bytes: 0, is_executable: false, content });
    }
    let (skill, faults) = Skill::parse(tree);
    for uasp in &skill.uasp {
        if let Some(root) = &uasp.root {
            let _ = content_hash::hash_content(root);
        }
        let _ = uasp.document();
    }
    for strict_schema in [false, true] {
        let options = CheckOptions { profiles: Profile::all().to_vec(), strict_schema, ..CheckOptions::default() };
        let _ = check_skill(&skill, faults.clone(), &options);
    }
});
