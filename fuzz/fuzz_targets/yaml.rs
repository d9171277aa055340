//! Reads any text as YAML; the result survives a round trip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_model::yaml::{self, core, pyyaml};

fuzz_target!(|text: &str| {
    let document = yaml::parse(text, 0);
    let Some(root) = document.root else { return };
    let _ = pyyaml::to_json(&root);
    let value = core::to_json(&root);
    let written = yaml::render_document(&value);
    let again = yaml::parse(&written, 0);
    assert!(again.fatal_problem().is_none(), "{written:?}: {:?}", again.problems);
    assert_eq!(again.root.map(|root| core::to_json(&root)), Some(value), "{written:?}");
});
