//! Reads a settings file of any text, as the user's and as the administrator's. What it says about sources is either refused or
//! can be applied: nothing is dropped in silence.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_library::settings::{SourceSettingsFile, parse_source_settings};
use rep_package::source_rules::{SourceRuleSet, SourceRules};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let user = parse_source_settings(text, "rep.yaml", SourceSettingsFile::User);
    let Ok(system) = parse_source_settings(text, "rep.yaml", SourceSettingsFile::System) else { return };
    // The administrator's file has one section, which means the same in the user's.
    assert_eq!(user.ok().as_ref(), Some(&system));
    let (allow, deny) = (system.allow.clone(), system.deny.clone());
    let set = SourceRuleSet {
        origin: "rep.yaml".to_owned(),
        allow: system.allow,
        deny: system.deny,
        mirrors: system.mirrors,
        proxy: system.proxy,
    };
    let Ok(rules) = SourceRules::new(vec![set]) else { return };
    let check = |name: &str| rules.check(&[name.to_owned()], name);
    for denied in deny {
        assert!(check(&denied.replace('*', "x")).is_err(), "{denied:?}");
    }
    if allow.is_some_and(|allow| allow.is_empty()) {
        assert!(check("github:acme/skills").is_err());
    }
    for address in ["https://a.example/x", "oci://a.example/team/pdf"] {
        if let Some(mirror) = rules.find_mirror(address) {
            assert!(mirror.address.contains("://"));
        }
    }
});
