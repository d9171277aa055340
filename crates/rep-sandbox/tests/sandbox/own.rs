//! A folder of a run's own: it does there what it likes, and nowhere else.

use serde_json::json;

use crate::scene::{Scene, everyone};

#[test]
fn a_run_changes_and_runs_what_is_in_its_own_folder_and_reaches_no_other() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "echo new > made.txt; rm docs/b.txt; mkdir .git; echo x > AGENTS.md; mkdir -p .claude; \
                    printf '#!/bin/sh\\necho ran\\n' > x.sh; chmod +x x.sh; ./x.sh; \
                    cat ../home/.ssh/id_canary; echo y > ../evil; echo y > ../skill/lib.txt; cat secret/key.txt";
        let result = scene.bash(code, json!({ "own": scene.workspace(), "read": [], "write": [] }));
        assert_eq!(result["stdout"], "ran\nSECRET\n", "{result:#}");
        assert_eq!(scene.text("made.txt").as_deref(), Some("new\n"));
        assert_eq!((scene.text("docs/b.txt"), scene.text("../evil")), (None, None));
        assert_eq!(scene.text("../skill/lib.txt").as_deref(), Some("of the skill\n"));
        assert!(scene.survivors().is_empty());
    }
}

#[test]
fn a_run_that_may_start_nothing_runs_nothing_in_its_own_folder() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "printf '#!/bin/sh\\necho ran\\n' > x.sh; chmod +x x.sh; ./x.sh";
        let own = json!({ "own": scene.workspace(), "read": [], "write": [], "allow_subprocess": false });
        let result = scene.bash(code, own);
        assert_eq!(result["stdout"], "", "{result:#}");
    }
}

#[test]
fn a_folder_that_others_share_is_nobodys_own() {
    for who in everyone() {
        let scene = Scene::new(who);
        for shared in [scene.workspace(), scene.outside().to_path_buf(), scene.workspace().join("docs")] {
            let job = json!({ "own": scene.workspace(), "readable": [shared], "read": [], "write": [] });
            let result = scene.bash("echo ran > made.txt", job);
            assert!(result.to_string().contains("is not private to it"), "{result:#}");
            assert_eq!(scene.text("made.txt"), None);
        }
    }
}
