use std::collections::BTreeSet;

use crate::error::ErrorCode;
use crate::grant::{GrantOrigin, RunRefusal};
use crate::plan::{Confinement, HostRule, Risk};
use rep_permissions::glob::Glob;

use super::*;

fn refused(policy: &Policy, plan: Plan, context: &GrantContext<'_>) -> ErrorCode {
    match crate::grant::decide_plan(policy, plan, context) {
        GrantDecision::Refused(refusal) => refusal.code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn consent_is_asked_only_for_what_a_run_can_do() {
    let none = Approvals::default();
    for (front, is_asked) in [
        ("", false),
        (WRITES, true),
        ("permissions: {filesystem: {write: ['output/**']}}\nsafety: {require_confirmation_for: []}\n", false),
        (
            "permissions: {filesystem: {write: ['o/**']}}\nsafety: {require_confirmation_for: [external_network]}\n",
            false,
        ),
        ("permissions: {network: {outbound: [a.b]}}\nsafety: {require_confirmation_for: [external_network]}\n", true),
        // A pattern that grants nothing needs no confirmation.
        ("permissions: {filesystem: {write: ['!x']}}\n", false),
        ("permissions: {filesystem: {read: ['**']}, processes: {allow_subprocess: true}}\n", false),
    ] {
        let decision = crate::grant::decide_plan(&Policy::default(), plan(front), &context(&none, GrantConsent::Ask));
        assert_eq!(matches!(decision, GrantDecision::Ask(_)), is_asked, "{front}");
        assert_eq!(matches!(decision, GrantDecision::Granted(_)), !is_asked, "{front}");
    }
}

#[test]
fn consent_that_comes_with_the_call_grants() {
    assert_eq!(granted(plan(WRITES)).origin(), GrantOrigin::CallerConsent);
}

#[test]
fn an_answer_makes_a_grant_or_a_refusal() {
    let none = Approvals::default();
    let question =
        || match crate::grant::decide_plan(&Policy::default(), plan(WRITES), &context(&none, GrantConsent::Ask)) {
            GrantDecision::Ask(question) => question,
            other => panic!("{other:?}"),
        };
    assert_eq!(question().into_grant().origin(), GrantOrigin::Confirmation);
    assert_eq!(question().into_declined().code, ErrorCode::Declined);
    let unanswerable = question().into_unanswerable("ask the user".to_owned());
    assert_eq!((unanswerable.code, unanswerable.remedy.as_str()), (ErrorCode::ConfirmationRequired, "ask the user"));
    let mut long = plan(WRITES);
    long.prompt = Some("Please agree.\n".repeat(500) + &"é".repeat(5000));
    let GrantDecision::Ask(long) =
        crate::grant::decide_plan(&Policy::default(), long, &context(&none, GrantConsent::Ask))
    else {
        panic!("not asked")
    };
    assert!(long.render_text().lines().count() < 20, "{}", long.render_text());
    let text = question().render_text();
    assert!(text.contains("gets the arguments {\"path\":\"a.pdf\"}"), "{text}");
    for words in [
        "makes, changes and removes `output/**` in /work",
        "`api.example.org` on 443 and 80",
        "starts no other program",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn consent_does_not_lift_what_is_refused() {
    let none = Approvals::default();
    let untrusted = GrantContext {
        trust: ExecutionTrust::Untrusted("it changed".to_owned()),
        ..context(&none, GrantConsent::Given)
    };
    assert_eq!(refused(&Policy::default(), plan(""), &untrusted), ErrorCode::Untrusted);
    let missing = "secrets: {required: [{name: KEY, usage: env}, {name: TOKEN, usage: env}]}\n";
    assert_eq!(
        refused(&Policy::default(), plan(missing), &context(&none, GrantConsent::Given)),
        ErrorCode::SecretMissing
    );
    let optional = "secrets: {required: [{name: TOKEN, usage: env, optional: true}]}\n";
    assert_eq!(granted(plan(optional)).origin(), GrantOrigin::NoConsentNeeded);
}

#[test]
fn the_operator_can_only_deny() {
    let none = Approvals::default();
    let host = |host: &str, port| HostRule { host: host.to_owned(), port };
    let given = || context(&none, GrantConsent::Given);
    for policy in [
        Policy { denied_skills: vec!["pdf".to_owned()], ..Policy::default() },
        Policy { denied_hosts: vec![host("*.example.org", None)], ..Policy::default() },
        Policy { denied_hosts: vec![host("api.example.org", Some(80))], ..Policy::default() },
        Policy { denied_paths: vec![Glob::parse("**/*.exe").unwrap()], ..Policy::default() },
    ] {
        assert_eq!(refused(&policy, plan(WRITES), &given()), ErrorCode::PolicyDenied, "{policy:?}");
    }
    for policy in [
        Policy { denied_skills: vec!["pdfs".to_owned()], ..Policy::default() },
        Policy { denied_hosts: vec![host("example.org", None)], ..Policy::default() },
        Policy { denied_hosts: vec![host("*.api.example.org", None)], ..Policy::default() },
        Policy { denied_hosts: vec![host("api.example.org", Some(8080))], ..Policy::default() },
        Policy { denied_paths: vec![Glob::parse("secret/**").unwrap()], ..Policy::default() },
    ] {
        assert!(
            matches!(crate::grant::decide_plan(&policy, plan(WRITES), &given()), GrantDecision::Granted(_)),
            "{policy:?}"
        );
    }
}

#[test]
fn a_secret_that_is_at_hand_is_not_missed() {
    let none = Approvals::default();
    assert_eq!(
        granted(plan("secrets: {required: [{name: KEY, usage: env}]}\n")).origin(),
        GrantOrigin::NoConsentNeeded
    );
    let both = plan("secrets: {required: [{name: KEY, usage: env}, {name: TOKEN, usage: env}]}\n");
    match crate::grant::decide_plan(&Policy::default(), both, &context(&none, GrantConsent::Given)) {
        GrantDecision::Refused(refusal) => {
            assert_eq!(refusal.message, "`pdf` needs the secret `TOKEN`, which is not set");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_grant_does_not_outlive_what_it_rests_on() {
    let granted = granted(plan(&format!("{WRITES}secrets: {{required: [{{name: KEY, usage: env}}]}}\n")));
    let secrets = || BTreeSet::from(["KEY".to_owned()]);
    assert_eq!(granted.check_still_permitted(&Policy::default(), &ExecutionTrust::Trusted, &secrets()), Ok(()));
    let denies = Policy { denied_skills: vec!["pdf".to_owned()], ..Policy::default() };
    let code = |refused: Result<(), RunRefusal>| refused.unwrap_err().code;
    assert_eq!(
        code(granted.check_still_permitted(&denies, &ExecutionTrust::Trusted, &secrets())),
        ErrorCode::PolicyDenied
    );
    let untrusted = ExecutionTrust::Untrusted("it changed".to_owned());
    assert_eq!(code(granted.check_still_permitted(&Policy::default(), &untrusted, &secrets())), ErrorCode::Untrusted);
    let gone = granted.check_still_permitted(&Policy::default(), &ExecutionTrust::Trusted, &BTreeSet::new());
    assert_eq!(code(gone), ErrorCode::SecretMissing);
}

#[test]
fn a_grant_keeps_what_was_planned() {
    for confinement in [Confinement::Sandboxed, Confinement::Unconfined] {
        let granted = granted(Plan { confinement, ..plan(WRITES) });
        assert_eq!(granted.confinement(), confinement);
        assert_eq!((granted.plan().skill.as_str(), granted.plan().tool.as_str()), ("pdf", "fill"));
    }
}

#[test]
fn a_question_names_its_risks() {
    let none = Approvals::default();
    let GrantDecision::Ask(question) =
        crate::grant::decide_plan(&Policy::default(), plan(WRITES), &context(&none, GrantConsent::Ask))
    else {
        panic!("not asked")
    };
    assert_eq!(question.risks(), &BTreeSet::from([Risk::DestructiveWrites, Risk::ExternalNetwork]));
    let words = "`pdf:fill` needs confirmation (destructive_writes, external_network), and no prompt is available";
    assert_eq!(question.into_unanswerable(String::new()).message, words);
}

#[test]
fn records_say_how_a_grant_came_about() {
    let names = [
        GrantOrigin::NoConsentNeeded,
        GrantOrigin::PriorApproval,
        GrantOrigin::CallerConsent,
        GrantOrigin::Confirmation,
    ]
    .map(GrantOrigin::name);
    assert_eq!(names, ["unasked", "remembered", "given", "answered"]);
}
