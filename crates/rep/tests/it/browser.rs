//! A real browser, driven over its own protocol (CDP) through two pipes: no library is needed for that, and none is
//! added for it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rep_test_support::{DEADLINE, ScratchFolder, poll_until};
use serde_json::{Value, json};

/// The programs that are this browser.
const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser with one page open. Ends with the value.
pub(super) struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    session: Option<String>,
    /// What pages complained about: errors of scripts, refusals of the content policy, dialogs.
    pub(super) complaints: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The test is over either way.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The browser that is installed. Says so loudly where there is none, and fails where a machine of CI has none.
fn program() -> Option<&'static str> {
    let is_there = |name: &&&str| {
        let found = Command::new("sh").args(["-c", "command -v \"$0\"", name]).stdout(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    let found = PROGRAMS.iter().find(is_there).copied();
    if found.is_none() {
        rep_test_support::skip_unless_ci("no Chromium is installed (`apt-get install chromium`)");
    }
    found
}

impl Browser {
    /// Opens a browser; nothing where none is installed.
    pub(super) fn open(scratch: &ScratchFolder) -> Option<Self> {
        let program = program()?;
        let profile = scratch.work_folder().parent().expect("there is a home").join("profile");
        // The protocol is spoken on the descriptors 3 and 4.
        let script = "exec \"$0\" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                      --disable-background-networking --disable-component-update --disable-sync \
                      --remote-debugging-pipe --user-data-dir=\"$1\" about:blank 3<&0 4>&1 </dev/null >/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", script, program])
            .arg(&profile)
            .env("HOME", &profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser can be started");
        let input = child.stdin.take().expect("the browser is there");
        let output = BufReader::new(child.stdout.take().expect("the browser is there"));
        let mut browser = Self { child, input, output, next: 0, session: None, complaints: Vec::new() };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.ask("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.ask(domain, json!({}));
        }
        Some(browser)
    }

    fn hear(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes).expect("the browser is there");
        bytes.pop();
        let message: Value = serde_json::from_slice(&bytes).expect("the browser speaks its protocol");
        let text = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => message["params"]["exceptionDetails"].to_string(),
            Some("Page.javascriptDialogOpening") => "a dialog".to_owned(),
            Some("Log.entryAdded") if message["params"]["entry"]["level"] == "error" => {
                message["params"]["entry"]["text"].to_string()
            }
            _ => return message,
        };
        self.complaints.push(text);
        message
    }

    fn try_ask(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.clone().into();
        }
        self.input.write_all(message.to_string().as_bytes()).expect("the browser is there");
        self.input.write_all(&[0]).expect("the browser is there");
        loop {
            let answer = self.hear();
            if answer["id"] == self.next {
                return if answer["error"].is_null() {
                    Ok(answer["result"].clone())
                } else {
                    Err(answer["error"].clone())
                };
            }
        }
    }

    /// Asks the browser for something.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let params = params;
        self.try_ask(method, &params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// What an expression is on the page.
    pub(super) fn js(&mut self, expression: &str) -> Value {
        let done = self
            .ask("Runtime.evaluate", json!({ "expression": expression, "awaitPromise": true, "returnByValue": true }));
        assert!(done["exceptionDetails"].is_null(), "{expression}: {done}");
        done["result"]["value"].clone()
    }

    /// Waits until something is true on the page, whichever page that is by then.
    pub(super) fn wait(&mut self, condition: &str) {
        let expression = format!(
            "new Promise((done) => {{ const end = Date.now() + 5000; const look = () => {{ let is = false; try {{ is = Boolean({condition}); }} catch {{}} is || Date.now() > end ? done(is) : setTimeout(look, 10); }}; look(); }})"
        );
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        // A page that is left takes its promises with it.
        let mut is_true =
            || self.try_ask("Runtime.evaluate", &params).is_ok_and(|done| done["result"]["value"] == true);
        if poll_until(DEADLINE, || is_true().then_some(())).is_some() {
            return;
        }
        let page = self.js("location.href + '\\n' + document.body.innerText");
        panic!("{condition} is never true: {page}");
    }

    /// Goes to a page, and waits until it is there.
    pub(super) fn go(&mut self, address: &str) {
        let done = self.ask("Page.navigate", json!({ "url": address }));
        assert!(done["errorText"].is_null(), "{address}: {done}");
        let loader = done["loaderId"].clone();
        if loader.is_null() {
            return;
        }
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /// Types into what has the focus.
    pub(super) fn write(&mut self, text: &str) {
        self.ask("Input.insertText", json!({ "text": text }));
    }

    /// Presses a key.
    pub(super) fn press(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let text = if key == "Enter" { "\r" } else { "" };
            let params = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.ask("Input.dispatchKeyEvent", params);
        }
    }

    /// Clicks at a place of the window.
    pub(super) fn click(&mut self, x: f64, y: f64) {
        for kind in ["mousePressed", "mouseReleased"] {
            let params = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", params);
        }
    }

    /// A screen of this width, light or dark.
    pub(super) fn screen(&mut self, width: u32, is_dark: bool) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.ask("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if is_dark { "dark" } else { "light" };
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.ask("Emulation.setEmulatedMedia", json!({ "features": [feature] }));
    }
}
