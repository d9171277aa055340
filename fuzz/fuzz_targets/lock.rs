//! Reads a lock file of any bytes. Its content survives a round trip, and a new entry can be read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_package::lock::SkillsLockFile;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut lock) = SkillsLockFile::parse(bytes) else { return };
    let again = SkillsLockFile::parse(lock.to_json_text().as_bytes()).expect("what is written can be read");
    assert_eq!(again.skill_names(), lock.skill_names());
    for name in lock.skill_names() {
        let skill = lock.get(&name).expect("a listed skill is there");
        assert_eq!(again.get(&name).as_ref(), Some(&skill));
        lock.insert_skill(&name, &skill);
        let put = lock.get(&name).expect("what was put is there");
        assert!(!put.is_foreign);
        assert_eq!(rep_package::lock::InstalledSkill { is_foreign: skill.is_foreign, ..put }, skill);
    }
    for name in lock.skill_names() {
        lock.remove_skill(&name);
    }
    assert!(lock.skill_names().is_empty());
});
