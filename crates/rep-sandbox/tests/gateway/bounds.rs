//! What hostile and clumsy programs do to the gateway: nothing.

use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use rep_permissions::resolver::HostResolver;
use rep_sandbox::gateway::RefusalReason;
use rep_test_support::{DEADLINE, wait_until};
use serde_json::json;

use crate::inside::{Asked, again, run, script, start, start_with, steps};
use crate::servers::{echo, late, lingering};

const ALONE: &str = "REP_TEST_ALONE";

#[test]
fn two_hundred_connections_are_served_at_once() {
    let server = echo();
    let known = [("many.example.com", 8080, server.address)];
    let declared = ["many.example.com:8080", &server.declared()];
    let (inside, results) = run(&declared, &known, &[json!(["many", "many.example.com", 8080, 200])]);
    assert_eq!(results, [json!(200)]);
    assert_eq!((server.visits(), inside.denied()), (200, vec![]));
}

#[test]
fn clients_that_never_finish_their_greeting_stop_nobody_else() {
    let server = echo();
    let known = [("many.example.com", 8080, server.address)];
    let lines = [
        json!(["hold", "api.example.com", 443, 200, "160301"]),
        json!(["tcp", "many.example.com", 8080, "hello"]),
        json!(["hold", "api.example.com", 443, 100, ""]),
        json!(["wait_reset"]),
    ];
    let (inside, results) = run(&["api.example.com:443", "many.example.com:8080", &server.declared()], &known, &lines);
    assert_eq!(results[1], "hello");
    assert_eq!(results[3], "ECONNRESET", "the connection beyond the bound");
    let refusals = inside.gateway.refusals();
    assert!(refusals.iter().any(|refusal| refusal.reason == RefusalReason::TooManyConnections), "{refusals:?}");
    assert!(inside.asked.names().iter().all(|name| name == "many.example.com"), "nobody was looked up for them");
}

#[test]
fn a_greeting_that_does_not_come_is_ended() {
    let lines = [json!(["hold", "api.example.com", 443, 1, "1603010200"]), json!(["wait_reset"])];
    let (inside, results) = run(&["api.example.com:443"], &[], &lines);
    assert_eq!(results[1], "ECONNRESET");
    assert_eq!(inside.gateway.refusals()[0].reason, RefusalReason::GreetingTimeout);
}

#[test]
fn packets_that_are_no_questions_stop_no_answers() {
    let good = "51520100000100000000000003617069076578616d706c6503636f6d0000010001";
    let mut junk: Vec<String> = vec![
        String::new(),
        "00".into(),
        "ff".repeat(12),
        "00".repeat(5000),
        "ff".repeat(65000),
        // An answer, two questions, a pointer to itself, a label beyond the end, a name without an end.
        "51518180000100000000000003617069076578616d706c6503636f6d0000010001".into(),
        "51510100000200000000000003617069076578616d706c6503636f6d0000010001".into(),
        "515101000001000000000000c00c00010001".into(),
        "5151010000010000000000003f61".into(),
        format!("515101000001000000000000{}", "0161".repeat(300)),
        format!("{good}{}", "00".repeat(4000)),
    ];
    junk.extend((0..500).map(|number: u32| format!("{:08x}", number.wrapping_mul(2_654_435_761)).repeat(9)));
    junk.push(good.to_owned());
    let mut line = vec![json!("ask")];
    line.extend(junk.into_iter().map(serde_json::Value::from));
    let (_, results) = run(&["api.example.com:443"], &[], &[serde_json::Value::from(line)]);
    assert!(results[0].as_str().unwrap().ends_with("c6120002"), "{}", results[0]);
}

#[test]
fn a_client_that_leaves_early_takes_nothing_with_it() {
    let (server, patient) = (echo(), late());
    let known = [("echo.example.com", 8080, server.address), ("late.example.com", 8080, patient.address)];
    let mut lines = vec![json!(["abort", "echo.example.com", 8080, "half a sen"]); 50];
    lines.extend(vec![json!(["abort", "late.example.com", 8080, "half a sen"]); 50]);
    lines.push(json!(["tcp", "echo.example.com", 8080, "hello"]));
    lines.push(json!(["tcp", "late.example.com", 8080, "hello"]));
    let declared = ["echo.example.com:8080", "late.example.com:8080", &server.declared(), &patient.declared()];
    let (_, results) = run(&declared, &known, &lines);
    assert_eq!(results[100..], [json!("hello"), json!("got 5 bytes")]);
}

#[test]
fn clients_that_are_gone_hold_no_place_though_the_server_waits() {
    let (server, quiet) = (echo(), lingering());
    let known = [("echo.example.com", 8080, server.address), ("quiet.example.com", 8080, quiet.address)];
    let mut lines = vec![json!(["finish_and_abort", "quiet.example.com", 8080, 100]); 4];
    lines.push(json!(["tcp", "echo.example.com", 8080, "hello"]));
    let declared = ["*.example.com:8080", &server.declared(), &quiet.declared()];
    let (inside, results) = run(&declared, &known, &lines);
    assert_eq!(results[4], "hello");
    assert_eq!((inside.denied(), quiet.visits()), (vec![], 400));
}

#[test]
fn one_name_is_looked_up_once_for_all_who_wait_and_the_loop_goes_on_meanwhile() {
    let server = echo();
    let (release, gate) = channel::<()>();
    let (gate, address) = (Mutex::new(gate), server.address);
    let asked = Asked::default();
    let count = Arc::new(Mutex::new(0));
    let counted = count.clone();
    let resolver = HostResolver::new(move |name, _| {
        if name == "slow.example.com" {
            let mut count = counted.lock().unwrap();
            *count += 1;
            if *count == 1 {
                drop(count);
                // Waits until the quick name was asked, which proves that nothing waits for this one.
                gate.lock().unwrap().recv().unwrap();
            }
        } else {
            release.send(()).unwrap();
        }
        Ok(vec![address])
    });
    let lines = [
        json!(["hold", "slow.example.com", 8080, 20, "61"]),
        json!(["tcp", "quick.example.com", 8080, "hello"]),
        json!(["wait_echo"]),
    ];
    let declared = ["*.example.com:8080", &server.declared()];
    let client = script(&lines, Path::new("/nonexistent"));
    let [sh, option, line] = client.program();
    let mut inside = start_with(&declared, resolver, asked, &[&sh, &option, &line]);
    assert_eq!(steps(&mut inside)[1..], [json!("hello"), json!(20)]);
    assert_eq!(*count.lock().unwrap(), 1, "one lookup for twenty");
}

#[test]
fn a_cancelled_run_has_no_network_any_more() {
    let server = echo();
    let known = [("echo.example.com", 8080, server.address)];
    let declared = ["echo.example.com:8080", &server.declared()];
    let lines = [json!(["hold", "echo.example.com", 8080, 1, ""]), json!(["wait_reset"])];
    let client = script(&lines, Path::new("/nonexistent"));
    let [sh, option, line] = client.program();
    let mut inside = start(&declared, &known, &[&sh, &option, &line]);
    wait_until("the server has a visitor", DEADLINE, || server.visits() > 0);
    inside.cancel.cancel();
    let result = steps(&mut inside).pop().unwrap();
    assert!(result == "" || result == "ECONNRESET", "{result}");
}

/// Threads and sockets are counted, so no other test may run in the same process.
#[test]
fn nothing_is_left_after_the_end() {
    if std::env::var_os(ALONE).is_none() {
        let mut command = again("env", &["--"], "bounds::nothing_is_left_after_the_end");
        let status = command.env(ALONE, "1").stdin(Stdio::null()).status().expect("`env` starts");
        assert!(status.success(), "{status}");
        return;
    }
    let server = echo();
    let known = [("echo.example.com", 8080, server.address)];
    let lines = [
        json!(["hold", "api.example.com", 443, 20, "160301"]),
        json!(["hold", "echo.example.com", 8080, 20, "61"]),
        json!(["tcp", "other.example.com", 443, "x"]),
        json!(["wait_reset"]),
    ];
    let client = script(&lines, Path::new("/nonexistent"));
    let [sh, option, line] = client.program();
    let (threads, files) = (gateway_threads(), open_sockets());
    let declared = ["api.example.com:443", "echo.example.com:8080", &server.declared()];
    let mut inside = start(&declared, &known, &[&sh, &option, &line]);
    wait_until("the gateway has denied a connection", DEADLINE, || !inside.denied().is_empty());
    assert!(gateway_threads() > threads && open_sockets() > files, "it served");
    inside.gateway.stop();
    assert_eq!(gateway_threads(), threads, "no thread is left");
    // The unfinished greetings may or may not have been denied by now; what was denied before the end stays.
    let denied = inside.denied();
    assert!(denied.iter().any(|(target, _)| target == "other.example.com"), "{denied:?}");
    inside.gateway.stop();
    assert_eq!(inside.denied(), denied, "what was recorded stays");
    drop(steps(&mut inside));
    drop(inside);
    // The server of this test still holds its ends of the connections until it sees their end.
    wait_until("no socket is left", DEADLINE, || open_sockets() <= files);
}

fn gateway_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("rep-gateway")).count()
}

fn open_sockets() -> usize {
    let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    links.filter(|link| link.to_string_lossy().starts_with("socket:") || link.ends_with("anon_inode:[eventfd]")).count()
}

#[test]
fn sockets_of_another_kind_are_not_taken_for_a_gateway() {
    use rep_sandbox::gateway::GatewaySockets;
    let connected = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = std::net::TcpStream::connect(connected.local_addr().unwrap()).unwrap();
    let fd = stream.as_fd().try_clone_to_owned().unwrap();
    assert_eq!(GatewaySockets::from_fds(vec![fd]).unwrap_err().kind(), ErrorKind::InvalidData);
    assert_eq!(GatewaySockets::from_fds(vec![]).unwrap_err().kind(), ErrorKind::InvalidData);
}
