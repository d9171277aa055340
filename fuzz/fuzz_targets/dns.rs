//! Reads a DNS packet of any bytes. The answer is small, is marked as an answer, and repeats only the question.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_sandbox::gateway::fuzzing::answer_dns;

const HEADER: usize = 12;
/// The size of a name with its lengths, type and class.
const QUESTION_MAX: usize = 255 + 4;
/// The size of a record with an IPv4 address.
const RECORD: usize = 16;

fuzz_target!(|packet: &[u8]| {
    let (name, answer) = answer_dns(packet);
    if let Some(name) = &name {
        assert!(name.len() <= 4 * 255 && name.bytes().all(|byte| byte.is_ascii_graphic()), "{name:?}");
        assert!(!name.bytes().any(|byte| byte.is_ascii_uppercase()), "{name:?}");
        assert!(answer.is_some(), "a question gets an answer");
    }
    let Some(answer) = answer else { return };
    assert_eq!(answer[..2], packet[..2], "the answer has the number of the question");
    assert_ne!(answer[2] & 0x80, 0, "an answer is marked as one, so that it is not answered again");
    let (records, questions) = (usize::from(answer[7]), usize::from(answer[5]));
    assert_eq!(questions, usize::from(name.is_some()));
    let question = answer.len() - HEADER - records * RECORD;
    assert!(records <= questions && question <= QUESTION_MAX);
    assert_eq!(answer[HEADER..HEADER + question], packet[HEADER..HEADER + question]);
    assert_eq!(answer_dns(&answer), (None, None), "an answer is not answered");
});
