//! A UASP file and a tools.json of any bytes are read, hashed and judged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_check::{Options, Profile, check};
use rep_model::{Content, Entry, Skill, SkillTree, hash};

fuzz_target!(|bytes: &[u8]| {
    let mut tree = SkillTree::of("t", &[]);
    for file in ["t.uasp.yaml", "tools.json"] {
        let content = Content::Bytes(bytes.to_vec());
        tree.entries.insert(file.to_owned(), Entry::File { size_bytes: 0, is_executable: false, content });
    }
    let (skill, faults) = Skill::parse(tree);
    for uasp in &skill.uasp {
        if let Some(root) = &uasp.root {
            let _ = hash::sha256(root);
        }
        let _ = uasp.document();
    }
    for strict_schema in [false, true] {
        let options = Options { profiles: Profile::all().to_vec(), strict_schema, ..Options::default() };
        let _ = check(&skill, faults.clone(), &options);
    }
});
