//! `rep workflow`: a checklist, and its steps as commands.

use serde_json::json;

use super::exec::Bench;
use super::json;
use super::policy::typed;

#[test]
fn a_workflow_is_shown_with_what_each_step_needs() {
    let bench = Bench::new();
    let shown = json(&bench.rep(&["workflow", "./web-browser", "basic", "--json"]));
    let steps = &shown["steps"];
    assert_eq!(
        (&shown["invariants"], &steps[1]["slots"]),
        (&json!(["Always snapshot before using refs"]), &json!(["url"]))
    );
    assert_eq!((&steps[2]["command"], &steps[3]["slots"]), (&"snapshot".into(), &json!(["action", "ref"])));
    assert!(steps[0]["by_hand"].is_string() && steps[0]["optional"] == true, "{shown}");
    let text = bench.rep(&["workflow", "./web-browser", "by_hand"]);
    assert!(
        text.stdout.contains("manual: it uses the shell syntax `>`")
            && text.stdout.contains("needs: refs (NOT valid at this step)"),
        "{text:?}"
    );
    let all = bench.rep(&["workflow", "./web-browser"]);
    assert!(all.stdout.contains("basic  6 steps  Look and click."), "{all:?}");
    let none = bench.rep(&["workflow", "./web-browser", "none", "--json"]);
    assert_eq!((none.code, &json(&none)["error"]["code"]), (1, &"PATH_NOT_FOUND".into()), "{none:?}");
}

#[test]
fn a_workflow_runs_step_by_step_stops_and_goes_on() {
    let bench = Bench::new();
    let words =
        |more: &[&'static str]| [&["workflow", "./web-browser", "basic", "--run", "--yes", "--json"], more].concat();
    let stopped = bench.rep(&words(&["--set", "url=https://a b;$(id)", "--set", "action=click"]));
    let told = json(&stopped);
    assert_eq!((stopped.code, &told["done"]), (3, &false.into()), "{stopped:?}");
    let outcomes: Vec<&str> =
        told["steps"].as_array().unwrap().iter().map(|step| step["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["by_hand", "done", "done", "failed"], "{told}");
    assert!(told["steps"][3]["result"]["error"]["message"].as_str().unwrap().contains("needs `ref`"), "{told}");
    // It stopped once: what to do now is for its user to say.
    let again = bench.rep(&words(&[]));
    assert_eq!((again.code, &json(&again)["error"]["code"]), (2, &"STOPPED_BEFORE".into()), "{again:?}");
    let resumed = bench.rep(&words(&["--resume", "--set", "action=click", "--set", "ref=@e1"]));
    let told = json(&resumed);
    assert_eq!((resumed.code, &told["done"]), (0, &true.into()), "{resumed:?}");
    // The optional step failed, and the rest went on.
    let outcomes: Vec<&str> =
        told["steps"].as_array().unwrap().iter().map(|step| step["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["done", "failed", "done"], "{told}");
    assert_eq!(
        bench.scratch.read_file("browser.log"),
        "[open][https://a b;$(id)]\n[snapshot][-i]\n[click][@e1]\n[crash]\n[get][url]\n"
    );
    let skipped =
        bench.rep(&words(&["--skip-optional", "--set", "url=x", "--set", "action=click", "--set", "ref=@e1"]));
    assert_eq!(skipped.code, 0, "{skipped:?}");
    assert_eq!(json(&skipped)["steps"][4]["outcome"], "skipped");
    let odd = bench.rep(&words(&["--set", "nobody=x"]));
    assert_eq!(odd.code, 2, "{odd:?}");
}

#[test]
fn what_only_a_shell_understands_is_never_run() {
    let bench = Bench::new();
    let words = ["workflow", "./web-browser", "by_hand", "--run", "--yes"];
    let stopped = bench.rep(&words);
    assert!(stopped.code == 3 && stopped.stderr.contains("do this step manually"), "{stopped:?}");
    assert!(!bench.scratch.work_folder().join("out.txt").exists());
    assert_eq!(bench.rep(&[&words[..], &["--from", "3"]].concat()).code, 0);
    assert_eq!(bench.scratch.read_file("browser.log"), "[get][url]\n[close]\n");
}

#[test]
fn slots_are_asked_for_on_a_terminal() {
    let bench = Bench::new();
    bench.scratch.write_file("asks/asks.uasp.yaml", "meta: {name: asks, version: \"00000000\", type: cli, description: For a test.}\ncommands: {say: {syntax: 'printf %s <what>'}}\nworkflows: {w: {description: Says., steps: [{cmd: 'say <what>'}]}}\n");
    let (code, seen) = typed(&bench.scratch, &["workflow", "./asks", "w", "--run", "--yes"], "what:", b"a word\n");
    assert_eq!(code, 0, "{seen}");
}
