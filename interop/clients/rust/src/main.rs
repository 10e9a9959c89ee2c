//! client URL

use std::collections::HashMap;
use std::io::{stdin, BufRead};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{CloseFrame, Frame};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

type Failure = Box<dyn std::error::Error>;
type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// What it repeats is of a prime length: whatever is at the wrong place is noticed. Text is not cut
/// within a character: it ends with dots.
fn fill(name: &str, size: usize) -> Vec<u8> {
    let unit = "a😀é漢!".as_bytes();
    let letter = |i: usize| 97 + ((i + (i >> 8)) % 26) as u8;
    let byte = |i: usize| (i * 31 + (i >> 8) * 17) as u8;
    (0..size)
        .map(|i| match name {
            "ascii" => letter(i % 6661),
            "bytes" => byte(i % 65521),
            _ if i < size - size % unit.len() => unit[i % unit.len()],
            _ => b'.',
        })
        .collect()
}

fn message(kind: &str, payload: Vec<u8>) -> Result<Message, Failure> {
    Ok(match kind {
        "text" => Message::text(String::from_utf8(payload)?),
        _ => Message::binary(payload),
    })
}

/// Frames as the library would not make them by itself.
fn frames(kind: &str, payload: &[u8], count: usize) -> Vec<Message> {
    let size = payload.len().div_ceil(count).max(1);
    (0..count)
        .map(|i| {
            let opcode = match (i, kind) {
                (0, "text") => Data::Text,
                (0, _) => Data::Binary,
                _ => Data::Continue,
            };
            let part = &payload[(i * size).min(payload.len())..((i + 1) * size).min(payload.len())];
            let part = Bytes::copy_from_slice(part);
            Message::Frame(Frame::message(part, OpCode::Data(opcode), i == count - 1))
        })
        .collect()
}

struct Checks {
    url: String,
    settings: HashMap<String, String>,
}

impl Checks {
    fn setting(&self, name: &str) -> &str {
        self.settings.get(name).map_or("", String::as_str)
    }

    async fn open(&self) -> Result<Socket, Failure> {
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (mut socket, _) =
            tokio_tungstenite::connect_async_with_config(&self.url, Some(config), true).await?;
        if !self.setting("hello").is_empty() {
            socket.send(Message::text(self.setting("hello"))).await?;
            self.receive(&mut socket).await?;
        }
        Ok(socket)
    }

    async fn receive(
        &self,
        socket: &mut (impl StreamExt<Item = Result<Message, tokio_tungstenite::tungstenite::Error>>
                  + Unpin),
    ) -> Result<Message, Failure> {
        let ignore = self.setting("ignore");
        loop {
            let message = socket.next().await.ok_or("the connection has ended")??;
            match &message {
                Message::Ping(_) => continue,
                Message::Text(text) if !ignore.is_empty() && text.starts_with(ignore) => continue,
                _ => return Ok(message),
            }
        }
    }

    fn within(&self, before: &str, payload: &[u8], after: &str) -> Vec<u8> {
        [self.setting(before).as_bytes(), payload, self.setting(after).as_bytes()].concat()
    }

    async fn send(
        &self,
        socket: &mut Socket,
        kind: &str,
        payload: &[u8],
        fragments: usize,
    ) -> Result<(), Failure> {
        let payload = self.within("before", payload, "after");
        if fragments == 1 {
            return Ok(socket.send(message(kind, payload)?).await?);
        }
        for frame in frames(kind, &payload, fragments) {
            socket.send(frame).await?;
        }
        Ok(())
    }

    async fn expect_echo(
        &self,
        socket: &mut Socket,
        kind: &str,
        payload: &[u8],
    ) -> Result<(), Failure> {
        let right = message(kind, self.within("reply_before", payload, "reply_after"))?;
        let got = self.receive(socket).await?;
        if got == right {
            Ok(())
        } else {
            Err(format!("{} other bytes came back", got.len()).into())
        }
    }

    async fn expect_closed(
        &self,
        stream: &mut (impl StreamExt<Item = Result<Message, tokio_tungstenite::tungstenite::Error>>
                  + Unpin),
        codes: &str,
        reason: Option<&str>,
    ) -> Result<(), Failure> {
        let end = match self.receive(stream).await {
            Ok(Message::Close(Some(frame))) => (u16::from(frame.code), frame.reason.to_string()),
            Ok(Message::Close(None)) => (1005, String::new()),
            Ok(_) => return Err("a message came instead of a close".into()),
            Err(_) => (1006, String::new()),
        };
        let as_expected = codes.split(',').any(|code| code == end.0.to_string())
            && reason.is_none_or(|reason| reason == end.1);
        if as_expected {
            Ok(())
        } else {
            Err(format!("closed with {} {}", end.0, end.1).into())
        }
    }

    async fn echo(
        &self,
        socket: &mut Socket,
        kind: &str,
        payload: &[u8],
        fragments: usize,
    ) -> Result<(), Failure> {
        self.send(socket, kind, payload, fragments).await?;
        self.expect_echo(socket, kind, payload).await
    }

    async fn burst(&self, socket: &mut Socket, count: usize) -> Result<(), Failure> {
        let payload = |i: usize| match i % 2 {
            0 => ("text", fill("emoji", i * 37)),
            _ => ("binary", fill("bytes", i * 37)),
        };
        for (kind, payload) in (0..count).map(payload) {
            self.send(socket, kind, &payload, 1).await?;
        }
        for (kind, payload) in (0..count).map(payload) {
            self.expect_echo(socket, kind, &payload).await?;
        }
        Ok(())
    }

    async fn restart(&self, mut socket: Socket) -> Result<(), Failure> {
        let payload = fill("ascii", 200);
        self.echo(&mut socket, "text", &payload, 1).await?;
        println!("restart");
        while self.receive(&mut socket).await.is_ok() {}
        for attempts in 0.. {
            match self.open().await {
                Ok(mut again) => return self.echo(&mut again, "text", &payload, 1).await,
                Err(error) if attempts == 300 => return Err(error),
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
        unreachable!()
    }

    async fn check(&self, name: &str, words: &[&str]) -> Result<(), Failure> {
        let mut socket = self.open().await?;
        match (name, words) {
            ("echo", &[kind, name, size, fragments]) => {
                let payload = fill(name, size.parse()?);
                self.echo(&mut socket, kind, &payload, fragments.parse()?).await?;
            }
            ("burst", &[count]) => self.burst(&mut socket, count.parse()?).await?,
            ("ping", &[size]) => {
                let payload = Bytes::from(fill("bytes", size.parse()?));
                socket.send(Message::Ping(payload.clone())).await?;
                if self.receive(&mut socket).await? != Message::Pong(payload) {
                    return Err("another pong".into());
                }
            }
            // The client closes first.
            ("close", &[code, reason]) => {
                let code = code.parse::<u16>()?.into();
                socket.close(Some(CloseFrame { code, reason: reason.into() })).await?;
                return self.expect_closed(&mut socket, words[0], Some(reason)).await;
            }
            // The server closes first, as it is told to.
            ("closed", &[code, reason]) => {
                socket.send(Message::text(format!("close {code} {reason}"))).await?;
                return self.expect_closed(&mut socket, code, Some(reason)).await;
            }
            // The server pings, and says when the pong has come.
            ("pinged", []) => {
                socket.send(Message::text("ping")).await?;
                self.expect_echo(&mut socket, "text", b"pong").await?;
            }
            // The close has to arrive while this client is still sending.
            ("too_big", &[size, codes]) => {
                let (mut sink, mut stream) = socket.split();
                let payload = Message::binary(vec![0; size.parse()?]);
                tokio::spawn(async move { sink.send(payload).await.ok() });
                return self.expect_closed(&mut stream, codes, None).await;
            }
            ("invalid_utf8", []) => {
                for frame in frames("text", b"a\xff", 1) {
                    socket.send(frame).await?;
                }
                return self.expect_closed(&mut socket, "1007", None).await;
            }
            ("restart", []) => return self.restart(socket).await,
            _ => return Err("no such check".into()),
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() {
    let url = std::env::args().nth(1).expect("client URL");
    let mut checks = Checks { url, settings: HashMap::new() };
    for line in stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        if let ["set", name, value] = words[..] {
            checks.settings.insert(name.to_owned(), value.to_owned());
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        match checks.check(words[0], &words[1..]).await {
            Ok(()) => println!("ok {line}"),
            Err(error) => println!("fail {line}: {error}"),
        }
    }
}
