//! The page in a real browser: what a person sees and does.

use std::io::Write;
use std::net::TcpStream;

use rep_test_support::ScratchFolder;
use rep_test_support::synthetic_library::{
    BodyLength, LibraryShape, PlantedSkill, SyntheticLibrary, SyntheticLibrarySpec,
};
use serde_json::{Value, json};

use super::browser::Browser;
use super::run::{sandboxed, skill};
use super::serve::{PATH, library, meta};
use super::serve_http::{ask_new, listening};
use super::serve_runs::{RUN, tools};
use super::serve_web::{get, hostile};

/// Calls a tool as a client that cannot ask its user, on a thread of its own.
fn call(address: &str, tool: &'static str) -> std::thread::JoinHandle<Value> {
    let address = address.to_owned();
    std::thread::spawn(move || {
        let answer = ask_new(&address, "tools/call", json!({ "name": tool, "arguments": {} }), &[]);
        answer.message()["result"].clone()
    })
}

/// Calls a tool, and waits for nothing: the call lasts as long as the connection.
fn begin(address: &str, tool: &str) -> TcpStream {
    let params = json!({ "name": tool, "arguments": {}, "_meta": meta(&json!({})) });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address).expect("the server is there");
    stream.write_all((head + &body).as_bytes()).expect("the server is there");
    stream
}

#[test]
fn a_person_searches_opens_a_skill_and_asks_it() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let (_server, address) = listening(&scratch, &PATH);
    browser.go(&format!("http://{address}/"));
    assert_eq!(browser.js("document.querySelectorAll('.skill').length"), 5);
    // Not a form that is sent: what is typed is searched for.
    browser.press("/", 191);
    browser.js("document.querySelector('#q').focus(); window.same = true");
    browser.write("fill forms");
    browser.wait("document.querySelectorAll('.skill').length === 1");
    assert_eq!(browser.js("window.same && location.search"), "?q=fill+forms");
    assert_eq!(browser.js("document.querySelector('.skill h2').textContent"), "pdf");
    browser.js("document.querySelector('.skill h2 a').click()");
    browser.wait("document.querySelector('h1')?.textContent === 'pdf' && document.readyState === 'complete'");
    assert!(browser.js("document.querySelector('.body').innerText").as_str().unwrap().contains("Fill the form."));
    browser.go(&format!("http://{address}/try"));
    browser.js("document.querySelector('#q-text').focus()");
    browser.write("pdf:meta.name");
    browser.press("Enter", 13);
    browser.wait("document.querySelector('.result pre')?.textContent.includes('pdf')");
    browser.js("document.querySelector('#a-skill').focus()");
    browser.write("pdf");
    browser.js("document.querySelector('#a-about').focus()");
    browser.write("fill");
    browser.press("Enter", 13);
    browser.wait("document.querySelector('.result')?.textContent.includes('Queries:')");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn a_run_is_seen_when_it_happens_and_one_that_goes_on_can_be_ended() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let (_server, address) = listening(&scratch, &RUN);
    browser.go(&format!("http://{address}/runs"));
    browser.js("window.same = true");
    browser.wait("document.documentElement.classList.contains('is-live')");
    assert_eq!(call(&address, "plain__echo").join().unwrap()["structuredContent"], json!({ "ok": true }));
    browser.wait("document.querySelector('table.runs .pill.active')?.textContent === 'ended ok'");
    assert_eq!(browser.js("window.same"), true);
    // The same from the page itself.
    browser.go(&format!("http://{address}/skill?name=plain"));
    browser.js("document.querySelector('.tool').open = true; document.querySelector('.tool .run button').click()");
    browser.wait(
        "location.pathname === '/call' && document.querySelector('#live pre')?.textContent.includes('\"ok\": true')",
    );
    // One that does not end by itself.
    browser.go(&format!("http://{address}/tasks"));
    browser.wait("document.documentElement.classList.contains('is-live')");
    let going = call(&address, "plain__forever");
    browser.wait("document.querySelector('.going button')?.getAttribute('aria-label') === 'Cancel plain__forever'");
    browser.js("document.querySelector('.going button').click()");
    let ended = going.join().unwrap();
    assert_eq!(ended["structuredContent"]["error"]["code"], "CANCELLED", "{ended}");
    browser.wait("document.readyState === 'complete' && !document.querySelector('.going button')");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn a_run_that_goes_on_stays_where_it_is_when_another_ends() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let (_server, address) = listening(&scratch, &RUN);
    browser.go(&format!("http://{address}/runs"));
    browser.wait("document.documentElement.classList.contains('is-live')");
    let first = call(&address, "plain__forever");
    browser.wait("document.querySelectorAll('.going button').length === 1");
    let second = call(&address, "plain__forever");
    browser.wait("document.querySelectorAll('.going button').length === 2");
    let place = "[...document.querySelectorAll('.going button')].at(-1).getBoundingClientRect().top";
    let before = browser.js(place);
    browser.js("fetch('/cancel', { method: 'POST', body: new URLSearchParams(new FormData(document.querySelector('.going form'))) })");
    assert_eq!(first.join().unwrap()["structuredContent"]["error"]["code"], "CANCELLED");
    browser.wait("document.querySelector('.going li').inert");
    assert_eq!(browser.js(place), before);
    assert_eq!(browser.js("getComputedStyle(document.querySelector('.going button')).visibility"), "hidden");
    browser.js("[...document.querySelectorAll('.going button')].at(-1).click()");
    assert_eq!(second.join().unwrap()["structuredContent"]["error"]["code"], "CANCELLED");
    browser.wait("document.readyState === 'complete' && !document.querySelector('.going button')");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn what_a_run_is_denied_is_seen_when_it_happens() {
    let scratch = ScratchFolder::new();
    scratch.write_file("private.txt", "mine");
    skill(&scratch, "walls", "", &[("steal", "read -r x < private.txt && echo '{}'\n")]);
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let (_server, address) = listening(&scratch, &["--path", "walls"]);
    browser.go(&format!("http://{address}/runs"));
    browser.wait("document.documentElement.classList.contains('is-live')");
    browser.js("window.same = true");
    // Another process of the same user, in the sandbox.
    assert_eq!(sandboxed(&scratch, "./walls:steal", &[]).code, 4);
    browser.wait("document.querySelector('.denials')?.textContent.includes('private.txt')");
    assert_eq!(browser.js("window.same"), true);
    let wanted = |query: &str| get(&address, &format!("/audit?{query}")).body.contains("walls:steal");
    assert!(wanted("") && wanted("skill=walls&denied=1&state=ended&since=1h"));
    assert!(!wanted("skill=other") && !wanted("state=refused") && !wanted("since=2999-01-01"));
    assert!(get(&address, "/audit?since=whenever").body.contains("not a date or duration"));
}

#[test]
fn a_task_of_another_process_is_cancelled_from_the_page() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let begun = super::run(&scratch, &["run", "plain:forever", "--path", "skills", "--no-sandbox", "--detach"]);
    assert!(begun.stdout.contains("task_"), "{begun:?}");
    let (_server, address) = listening(&scratch, &RUN);
    browser.go(&format!("http://{address}/tasks"));
    // Before the page listens, the button sends its form and leaves the page, which then lists the task among those that ended.
    browser.wait("document.documentElement.classList.contains('is-live') && document.querySelector('.going button')");
    browser.js("document.querySelector('.going button').click()");
    browser.wait("document.querySelector('.going .pill')?.textContent === 'cancelled'");
    let told = super::run(&scratch, &["tasks", "list", "--json"]);
    assert!(told.stdout.contains("\"cancelled\""), "{told:?}");
}

#[test]
fn a_question_is_answered_in_the_browser() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let (_server, address) = listening(&scratch, &RUN);
    // With no page open nobody can be asked.
    let refused = call(&address, "writer__mark").join().unwrap();
    assert_eq!(refused["structuredContent"]["error"]["code"], "CONFIRMATION_REQUIRED", "{refused}");
    browser.go(&format!("http://{address}/"));
    browser.wait("document.documentElement.classList.contains('is-live')");
    for is_yes in [false, true] {
        let waiting = call(&address, "writer__mark");
        browser.wait("document.querySelector('#notices .notice a')");
        browser.js("document.querySelector('#notices .notice a').click()");
        browser.wait("document.querySelector('.question .words')?.textContent.includes('out/**')");
        browser.js(&format!(
            "document.querySelector('.question button[value={}]').click()",
            if is_yes { "yes" } else { "no" }
        ));
        let done = waiting.join().unwrap();
        assert_eq!(done["isError"], !is_yes, "{done}");
        assert_eq!(scratch.work_folder().join("marked").exists(), is_yes);
        browser.go(&format!("http://{address}/"));
        browser.wait("document.documentElement.classList.contains('is-live')");
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn a_question_stays_where_it_is_when_another_ends() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let (_server, address) = listening(&scratch, &RUN);
    browser.screen(390, false);
    browser.go(&format!("http://{address}/runs"));
    browser.wait("document.documentElement.classList.contains('is-live')");
    browser.js("window.same = true");
    let mut waiting = Vec::new();
    for count in 1..=3 {
        waiting.push(begin(&address, "writer__mark"));
        browser.wait(&format!("document.querySelectorAll('.question').length === {count}"));
    }
    let numbers = "[...document.querySelectorAll('.question')].map((one) => Number(one.id.slice(9)))";
    let numbers: Vec<u64> = serde_json::from_value(browser.js(numbers)).unwrap();
    assert!(numbers.is_sorted(), "the newest is last: {numbers:?}");
    let [first, second, third] = numbers[..] else { panic!("{numbers:?}") };
    let place = |number: u64| {
        format!(
            "(() => {{ const at = document.querySelector('#yes-{number}').getBoundingClientRect(); return [at.x, at.y + scrollY]; }})()"
        )
    };
    let places = (browser.js(&place(second)), browser.js(&place(third)));
    browser.js(&format!("document.querySelector('#no-{first}').focus()"));
    browser.press("Enter", 13);
    let said = |number: u64| format!("document.querySelector('#question-{number} .said')?.textContent");
    browser.wait(&format!("{} === 'Answered: do not run.'", said(first)));
    assert_eq!(browser.js("window.same"), true, "the page is the same");
    assert_eq!((browser.js(&place(second)), browser.js(&place(third))), places);
    browser.wait(&format!("document.activeElement.id === 'question-{first}'"));
    // From there the keyboard goes on to the next one, and past what can be answered no more.
    browser.press("Tab", 9);
    assert_eq!(browser.js("document.activeElement.id"), format!("yes-{second}"));
    // Its client goes while it has the focus.
    drop(waiting.remove(1));
    browser.wait(&format!("{}?.startsWith('Cancelled by')", said(second)));
    assert_eq!((browser.js(&place(second)), browser.js(&place(third))), places);
    browser.wait(&format!("document.activeElement.id === 'question-{second}'"));
    // A click where the last one stands is an answer to the last one.
    browser.js(&format!("document.querySelector('#yes-{third}').scrollIntoView({{ block: 'center' }})"));
    browser.wait(&format!("getComputedStyle(document.querySelector('#yes-{third}')).pointerEvents === 'auto'"));
    let middle = format!(
        "(() => {{ const at = document.querySelector('#yes-{third}').getBoundingClientRect(); return [at.x + at.width / 2, at.y + at.height / 2]; }})()"
    );
    let middle = browser.js(&middle);
    browser.click(middle[0].as_f64().unwrap(), middle[1].as_f64().unwrap());
    browser.wait(&format!("{} === 'Answered: run once.'", said(third)));
    browser.wait("document.querySelector('.asking h2').textContent === 'Answered'");
    // Who loads the page again is done with them.
    browser.go(&format!("http://{address}/costs"));
    browser.go(&format!("http://{address}/runs"));
    assert_eq!(browser.js("document.querySelectorAll('.question').length"), 0);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn a_question_about_a_call_of_the_page_is_answered_beside_its_result() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let (_server, address) = listening(&scratch, &RUN);
    browser.go(&format!("http://{address}/skill?name=writer"));
    browser.js("document.querySelector('.tool').open = true; document.querySelector('.tool .run button').click()");
    browser.wait("location.pathname === '/call' && document.querySelector('.question button')");
    browser.wait("document.documentElement.classList.contains('is-live')");
    assert_eq!(browser.js("document.querySelectorAll('.notice').length"), 0, "it is told once");
    browser.js("document.querySelector('.question button[value=yes]').click()");
    browser.wait("document.querySelector('#live')?.textContent.includes('\"done\": 1')");
    assert_eq!(browser.js("document.querySelector('.said').textContent"), "Answered: run once.");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn times_are_local_and_addresses_can_be_copied() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let (_server, address) = listening(&scratch, &RUN);
    browser.ask("Emulation.setTimezoneOverride", json!({ "timezoneId": "Asia/Kathmandu" }));
    browser.go(&format!("http://{address}/connect"));
    browser.wait("document.querySelector('.copyable button.copy')");
    // Settings that are loaded later have the button too.
    browser.js("document.querySelector('#host').value = 'codex'; document.querySelector('#host').dispatchEvent(new Event('input', { bubbles: true }))");
    browser.wait("document.querySelector('#config').textContent.includes('mcp_servers') && document.querySelector('#config button.copy')");
    call(&address, "plain__echo").join().unwrap();
    browser.go(&format!("http://{address}/runs"));
    browser.wait("document.querySelector('.runs time')?.title.endsWith(' UTC')");
    let local = "(() => { const time = document.querySelector('.runs time'); return time.textContent.includes(new Date(time.dateTime).toLocaleTimeString([], { timeStyle: 'medium' })); })()";
    assert_eq!(browser.js(local), true);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn a_hostile_skill_is_only_text() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    hostile(&scratch);
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let (_server, address) = listening(&scratch, &PATH);
    let name = "%3Cscript%3Edocument.title%3D%27owned%27%3C%2Fscript%3E";
    for path in ["/", "/?q=evil", "/costs", "/try?panel=search&text=evil", &format!("/skill?name={name}")] {
        browser.go(&format!("http://{address}{path}"));
        assert_ne!(browser.js("document.title"), "owned", "{path}");
        assert_eq!(browser.js("document.querySelectorAll('img, main script, iframe, object').length"), 0, "{path}");
        assert!(browser.js("document.body.innerText").as_str().unwrap().contains("<script>document.title"), "{path}");
        let links = "[...document.querySelectorAll('a')].filter((a) => !/^https?:$/.test(a.protocol)).length";
        assert_eq!(browser.js(links), 0, "{path}");
    }
    // Even markup that got through would do nothing.
    browser.js(
        "document.querySelector('main').innerHTML += '<img src=x onerror=\"document.title=1\"><p style=\"color:red\">'",
    );
    browser.wait("document.querySelector('img')?.complete");
    assert_ne!(browser.js("document.title"), "1");
    assert!(!browser.complaints.is_empty(), "the content policy refuses");
}

/// What is wrong with a page for who cannot see it, or not well: every contrast and every name is worked out in the page.
const AMISS: &str = r"(() => {
  const amiss = [];
  const say = (what, one) => amiss.push(`${what}: ${one.outerHTML.slice(0, 120)}`);
  const parse = (text) => { const n = text.match(/[\d.]+/g).map(Number); return { r: n[0], g: n[1], b: n[2], a: n[3] ?? 1 }; };
  const light = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.a > 0.99) return colour;
    }
    return { r: 255, g: 255, b: 255 };
  };
  for (const one of document.querySelectorAll('body *:not(svg *)')) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const style = getComputedStyle(one);
    if (!own || style.visibility === 'hidden' || !one.getClientRects().length || one.closest('option')) continue;
    const [a, b] = [light(parse(style.color)), light(behind(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) say(`contrast ${ratio.toFixed(2)}`, one);
  }
  let last = 0;
  for (const heading of document.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const level = Number(heading.tagName[1]);
    if (level > last + 1) say('heading after ' + last, heading);
    last = level;
  }
  if (document.querySelectorAll('h1').length !== 1) amiss.push('not one h1');
  for (const mark of ['header', 'main', 'nav[aria-label]', 'footer']) if (!document.querySelector(mark)) amiss.push('no ' + mark);
  const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);
  if (new Set(ids).size !== ids.length) amiss.push('an id twice');
  for (const field of document.querySelectorAll('input:not([type=hidden]), select, textarea')) if (!field.labels?.length) say('no label', field);
  for (const one of document.querySelectorAll('button, input:not([type=hidden]), select, summary')) {
    const size = one.getBoundingClientRect();
    if (size.height && size.height < 18) say('too small', one);
  }
  if (!document.documentElement.lang || !document.title) amiss.push('no language or title');
  const isCut = (one) => one.getClientRects().length && one.getBoundingClientRect().right > innerWidth;
  for (const one of document.querySelectorAll('header a, header button, .runs td *:not(pre *), .going *:not(pre *), .question *')) if (isCut(one)) say('out of sight', one);
  for (const one of document.querySelectorAll('.scroll, pre')) {
    const isLong = one.scrollWidth > one.clientWidth + 1;
    if (isLong && getComputedStyle(one).backgroundImage === 'none') say('goes on with no sign of it', one);
  }
  if (document.documentElement.scrollWidth > innerWidth) {
    const wide = [...document.querySelectorAll('main *')].find((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.scroll, pre'));
    amiss.push('wider than the screen: ' + (wide?.outerHTML.slice(0, 120) ?? 'something'));
  }
  return amiss;
})()";

/// The pages of the dashboard, with every part that they can have.
const PAGES: [&str; 19] = [
    "/",
    "/?q=tools",
    "/?view=table&sort=tokens&findings=any",
    "/skill?name=plain",
    "/skill?name=needy",
    "/skill?name=writer",
    "/try?panel=select&text=x",
    "/try?panel=query&text=plain:",
    "/costs",
    "/costs?budget=60",
    "/graph",
    "/graph?name=needy",
    "/connect",
    "/overview",
    "/runs",
    "/tasks",
    "/audit",
    "/audit?calls=1",
    "/skill?name=nobody",
];

/// Asserts that axe-core finds nothing on any page, if it is installed.
fn assert_axe_finds_nothing(browser: &mut Browser, address: &str) {
    let Some(script) = rep_test_support::find_oracle("axe.min.js") else { return };
    let script = std::fs::read_to_string(script).expect("the script can be read");
    // The content policy of the pages would keep axe-core out.
    browser.ask("Page.setBypassCSP", json!({ "enabled": true }));
    for (width, is_dark) in [(1280, false), (390, true)] {
        browser.screen(width, is_dark);
        for page in PAGES.into_iter().chain(["/sign-in"]) {
            browser.go(&format!("http://{address}{page}"));
            browser.js("document.querySelectorAll('details').forEach((one) => one.open = true)");
            browser.js(&format!("{script}; undefined"));
            // New buttons are pale for a moment.
            browser.js("Promise.all(document.getAnimations().map((one) => one.finished)).then(() => true)");
            let found = browser.js(
                "axe.run().then((done) => done.violations.map((one) => [one.id, one.nodes.map((node) => node.html)]))",
            );
            assert_eq!(found, json!([]), "{page} at {width}, dark: {is_dark}");
        }
    }
}

#[test]
fn every_page_can_be_used_by_everybody() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    hostile(&scratch);
    let need = "---\nname: needy\ndescription: Needs others. Use when testing needs.\nspec_version: \"2.1\"\ndepends_on: [plain, nobody]\n---\n\n# Needy\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n#### Deep\n\n```sh\necho a-very-long-line-that-does-not-fit-on-a-small-screen-and-must-scroll-by-itself-instead-of-the-page\n```\n";
    scratch.write_file("skills/needy/SKILL.md", need);
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let (_server, address) = listening(&scratch, &RUN);
    for tool in ["plain__echo", "plain__fail", "writer__mark"] {
        call(&address, tool).join().unwrap();
    }
    let begun = super::run(&scratch, &["run", "plain:fail", "--path", "skills", "--no-sandbox", "--detach"]);
    assert!(begun.stdout.contains("task_"), "{begun:?}");
    browser.go(&format!("http://{address}/tasks"));
    browser.wait("document.querySelector('.going details') && document.documentElement.classList.contains('is-live')");
    // One that waits, one that goes on, and what every page says of the first.
    let _calls = [begin(&address, "writer__mark"), begin(&address, "plain__forever")];
    browser.wait("document.querySelector('.notice') && document.querySelector('.going button')");
    for (width, is_dark) in [(1280, false), (390, true), (390, false), (1280, true)] {
        browser.screen(width, is_dark);
        for page in PAGES {
            browser.go(&format!("http://{address}{page}"));
            browser.js("document.querySelectorAll('details').forEach((one) => one.open = true)");
            let amiss = browser.js(AMISS);
            assert_eq!(amiss, json!([]), "{page} at {width}, dark: {is_dark}");
            let tree = browser.ask("Accessibility.getFullAXTree", json!({}));
            for node in tree["nodes"].as_array().unwrap().iter().filter(|node| node["ignored"] == false) {
                let role = node["role"]["value"].as_str().unwrap_or_default();
                let is_control =
                    ["button", "link", "textbox", "searchbox", "combobox", "checkbox", "spinbutton"].contains(&role);
                let name = node["name"]["value"].as_str().unwrap_or_default();
                assert!(!is_control || !name.trim().is_empty(), "{page}: a {role} without a name: {node}");
            }
        }
    }
    // The first key leads past the navigation.
    browser.go(&format!("http://{address}/"));
    browser.press("Tab", 9);
    assert_eq!(browser.js("document.activeElement.className"), "skip");
    assert_axe_finds_nothing(&mut browser, &address);
}

#[test]
fn a_person_signs_in_and_out() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    scratch.write_file("tokens.txt", "first-token-of-ours-1\n");
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let (_server, address) = listening(&scratch, &["--path", "skills", "--token-file", "tokens.txt"]);
    browser.go(&format!("http://{address}/"));
    assert_eq!(browser.js("location.pathname"), "/sign-in");
    for (token, is_in) in [("a-wrong-token-of-mine", false), ("first-token-of-ours-1", true)] {
        browser.js("document.querySelector('#token').focus()");
        browser.write(token);
        browser.press("Enter", 13);
        browser.wait(if is_in { "document.querySelector('.out')" } else { "document.querySelector('.alert.bad')" });
    }
    assert_eq!(browser.js("document.cookie"), "");
    browser.wait("document.documentElement.classList.contains('is-live')");
    browser.js("document.querySelector('.out button').click()");
    browser.wait("location.pathname === '/sign-in' && document.readyState === 'complete'");
    browser.go(&format!("http://{address}/skill?name=pdf"));
    assert_eq!(browser.js("location.pathname"), "/sign-in");
}

#[test]
fn ten_thousand_skills_are_searched_while_one_types() {
    let scratch = ScratchFolder::new();
    let Some(mut browser) = Browser::open(&scratch) else { return };
    let order = SyntheticLibrarySpec { count: 10_000, shape: LibraryShape::Plain, bodies: BodyLength::Short };
    let folder = scratch.work_folder().join("many");
    std::fs::create_dir(&folder).unwrap();
    let made = SyntheticLibrary::generate(&folder, order).unwrap();
    let options = made.rep_options();
    let arguments: Vec<&str> = options.iter().map(String::as_str).collect();
    let (_server, address) = listening(&scratch, &arguments);
    assert!(get(&address, "/").body.len() < 100_000);
    browser.go(&format!("http://{address}/"));
    assert_eq!(browser.js("document.querySelectorAll('.skill').length"), 40);
    browser.js("document.querySelector('#q').focus()");
    for letters in ["keep", " light", "house", " log"] {
        browser.write(letters);
    }
    assert_eq!(PlantedSkill::NAME, "keep-lighthouse-log");
    browser.wait("document.querySelector('.skill h2')?.textContent === 'keep-lighthouse-log'");
    browser.js("document.querySelector('.skill h2 a').click()");
    browser.wait("document.querySelector('h1')?.textContent === 'keep-lighthouse-log'");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
