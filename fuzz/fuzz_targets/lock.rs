//! A lock file of any bytes is read. What it says survives writing, and what is put into it comes back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_package::lock::Lock;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut lock) = Lock::parse(bytes) else { return };
    let again = Lock::parse(lock.text().as_bytes()).expect("what is written can be read");
    assert_eq!(again.names(), lock.names());
    for name in lock.names() {
        let skill = lock.get(&name).expect("a listed skill is there");
        assert_eq!(again.get(&name).as_ref(), Some(&skill));
        lock.put(&name, &skill);
        let put = lock.get(&name).expect("what was put is there");
        assert!(!put.is_foreign);
        assert_eq!(rep_package::lock::Installed { is_foreign: skill.is_foreign, ..put }, skill);
    }
    for name in lock.names() {
        lock.remove(&name);
    }
    assert!(lock.names().is_empty());
});
