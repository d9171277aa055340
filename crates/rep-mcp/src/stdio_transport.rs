//! The transport of messages over stdin and stdout: one JSON-RPC message per line.
//!
//! The SDK's own transport drops lines that it cannot parse. This one answers them, as JSON-RPC demands, limits the
//! length of a line, and accepts the batches of revision 2025-03-26.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::{ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::watch;

use crate::json_rpc::{self, BATCH_MESSAGES_MAX, MessageFault};

/// The maximum length of a line. The rest of a longer one is discarded.
const LINE_BYTES_MAX: usize = 16 << 20;

/// Messages over two streams.
pub(crate) struct StdioTransport<R, W> {
    input: R,
    /// The begun part of a line.
    line: Vec<u8>,
    is_too_long: bool,
    output: Arc<tokio::sync::Mutex<W>>,
    /// Messages of a batch that were not handled yet.
    queue: VecDeque<RxJsonRpcMessage<RoleServer>>,
    answers: Arc<Mutex<AnswerTable>>,
    /// The number of requests that are not answered yet.
    open_answers: watch::Sender<usize>,
}

/// The requests that wait for an answer.
#[derive(Default)]
struct AnswerTable {
    open: Vec<RequestId>,
    batches: Vec<OpenBatch>,
    /// Whether batches are part of the revision that the client chose.
    allows_batches: bool,
}

/// A batch whose answers are sent together.
struct OpenBatch {
    waiting: Vec<RequestId>,
    answers: Vec<Value>,
}

/// A line of the input.
enum InputLine {
    Text(Vec<u8>),
    TooLong,
    End,
}

impl<R: AsyncBufRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> StdioTransport<R, W> {
    pub(crate) fn new(input: R, output: W, open_answers: watch::Sender<usize>) -> Self {
        let output = Arc::new(tokio::sync::Mutex::new(output));
        Self {
            input,
            line: Vec::new(),
            is_too_long: false,
            output,
            queue: VecDeque::new(),
            answers: Arc::default(),
            open_answers,
        }
    }

    /// Reads a line without its end. The begun part is in `self`, because the SDK drops this future at any time.
    async fn read_line(&mut self) -> io::Result<InputLine> {
        loop {
            let chunk = self.input.fill_buf().await?;
            if chunk.is_empty() {
                let line = std::mem::take(&mut self.line);
                return Ok(if line.is_empty() { InputLine::End } else { InputLine::Text(line) });
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(chunk.len());
            if self.line.len() + length > LINE_BYTES_MAX {
                self.is_too_long = true;
                self.line = Vec::new();
            }
            if !self.is_too_long {
                self.line.extend_from_slice(&chunk[..length]);
            }
            let consumed = end.map_or(length, |end| end + 1);
            self.input.consume(consumed);
            if end.is_some() {
                let (line, is_too_long) = (std::mem::take(&mut self.line), std::mem::take(&mut self.is_too_long));
                return Ok(if is_too_long { InputLine::TooLong } else { InputLine::Text(line) });
            }
        }
    }

    /// Parses a line into messages, and answers what is not one.
    fn accept_line(&mut self, line: &[u8]) {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        // The common case needs only one pass.
        if line.first() == Some(&b'{')
            && let Ok(message) = serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(line)
        {
            self.enqueue(message);
            return;
        }
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            return self.send_line(&MessageFault::not_json().to_answer());
        };
        if !value.is_array() {
            return match json_rpc::check_message(&value) {
                Err(fault) => self.send_line(&fault.to_answer()),
                Ok(()) => self.accept_value(value),
            };
        }
        let allows_batches = self.answers.lock().allows_batches;
        match json_rpc::split_batch(value, allows_batches) {
            Ok(messages) => self.accept_batch(messages),
            Err(fault) => self.send_line(&fault.to_answer()),
        }
    }

    /// Accepts a well-formed message that the SDK may not know.
    fn accept_value(&mut self, value: Value) {
        let id = value.get("id").cloned();
        match serde_json::from_value(value) {
            Ok(message) => self.enqueue(message),
            // An unknown notification is ignored.
            Err(_) if id.is_none() => {}
            Err(_) => self.send_line(&MessageFault::unreadable(id.as_ref()).to_answer()),
        }
    }

    fn accept_batch(&mut self, messages: Vec<Value>) {
        debug_assert!(messages.len() <= BATCH_MESSAGES_MAX, "the batch was split with this limit");
        let mut batch = OpenBatch { waiting: Vec::new(), answers: Vec::new() };
        let mut accepted = Vec::new();
        for value in messages {
            if let Err(fault) = json_rpc::check_message(&value) {
                batch.answers.push(fault.to_answer());
                continue;
            }
            let id = value.get("id").cloned();
            match serde_json::from_value::<RxJsonRpcMessage<RoleServer>>(value) {
                Ok(message) => {
                    batch.waiting.extend(request_id(&message));
                    accepted.push(message);
                }
                Err(_) if id.is_none() => {}
                Err(_) => batch.answers.push(MessageFault::unreadable(id.as_ref()).to_answer()),
            }
        }
        if batch.waiting.is_empty() {
            if !batch.answers.is_empty() {
                self.send_line(&Value::Array(batch.answers));
            }
        } else {
            self.answers.lock().batches.push(batch);
        }
        for message in accepted {
            self.enqueue(message);
        }
    }

    fn enqueue(&mut self, message: RxJsonRpcMessage<RoleServer>) {
        if let Some(id) = request_id(&message) {
            self.answers.lock().open.push(id);
            self.open_answers.send_modify(|count| *count += 1);
        }
        self.queue.push_back(message);
    }

    /// Sends a line without waiting for the client to read it.
    fn send_line(&self, value: &Value) {
        let (output, line) = (Arc::clone(&self.output), value.to_string().into_bytes());
        tokio::spawn(async move {
            // A client that is gone needs no answer.
            let _ = write_line(&output, line).await;
        });
    }
}

/// Returns the id of a message that is answered. Streams of notifications are answered at their end only.
fn request_id(message: &RxJsonRpcMessage<RoleServer>) -> Option<RequestId> {
    match message {
        RxJsonRpcMessage::<RoleServer>::Request(request) => {
            let is_stream = matches!(request.request, rmcp::model::ClientRequest::SubscriptionsListenRequest(_));
            (!is_stream).then(|| request.id.clone())
        }
        _ => None,
    }
}

async fn write_line<W: AsyncWrite + Unpin>(output: &tokio::sync::Mutex<W>, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

impl AnswerTable {
    /// Notes an answer, and returns the line to send: the answer, the answers of its batch, or nothing yet. Also
    /// returns whether a request was answered.
    fn note_answer(&mut self, message: &ServerJsonRpcMessage) -> (Option<Vec<u8>>, bool) {
        let id = match message {
            ServerJsonRpcMessage::Response(response) => {
                if let ServerResult::InitializeResult(result) = &response.result {
                    self.allows_batches = result.protocol_version == ProtocolVersion::V_2025_03_26;
                }
                Some(&response.id)
            }
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let place = id.and_then(|id| self.open.iter().position(|open| open == id));
        if let Some(place) = place {
            self.open.swap_remove(place);
        }
        let of_batch = id.and_then(|id| self.batches.iter().position(|batch| batch.waiting.contains(id)));
        let (Some(index), Some(id)) = (of_batch, id) else {
            return (serde_json::to_vec(message).ok(), place.is_some());
        };
        let batch = &mut self.batches[index];
        batch.waiting.retain(|waiting| waiting != id);
        batch.answers.push(json!(message));
        let is_complete = batch.waiting.is_empty();
        let line = is_complete.then(|| {
            let batch = self.batches.swap_remove(index);
            Value::Array(batch.answers).to_string().into_bytes()
        });
        (line, place.is_some())
    }
}

impl<R: AsyncBufRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer>
    for StdioTransport<R, W>
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (line, is_answer) = self.answers.lock().note_answer(&item);
        let (output, open_answers) = (Arc::clone(&self.output), self.open_answers.clone());
        async move {
            let written = match line {
                Some(line) => write_line(&output, line).await,
                None => Ok(()),
            };
            if is_answer {
                open_answers.send_modify(|count| *count -= 1);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(message) = self.queue.pop_front() {
                return Some(message);
            }
            match self.read_line().await {
                Ok(InputLine::Text(line)) => self.accept_line(&line),
                Ok(InputLine::TooLong) => self.send_line(&MessageFault::too_long().to_answer()),
                Ok(InputLine::End) | Err(_) => return None,
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.lock().await.flush().await
    }
}
