//! Any text is read as YAML; what was read is written and read back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_model::yaml::{self, core, pyyaml};

fuzz_target!(|text: &str| {
    let document = yaml::parse(text, 0);
    let Some(root) = document.root else { return };
    let _ = pyyaml::json(&root);
    let value = core::json(&root);
    let written = yaml::write(&value);
    let again = yaml::parse(&written, 0);
    assert!(again.fatal().is_none(), "{written:?}: {:?}", again.troubles);
    assert_eq!(again.root.map(|root| core::json(&root)), Some(value), "{written:?}");
});
