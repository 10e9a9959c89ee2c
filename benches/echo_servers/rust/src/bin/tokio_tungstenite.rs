//! An echo server of tokio-tungstenite: `tokio_tungstenite PORT [batched]`. Natural is a `send` for
//! each message; batched, whatever one read brought is answered by `feed`, and one flush.

use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::{Message, Result};
use tokio_tungstenite::{WebSocketStream, accept_async};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().expect("a port").parse().expect("a number");
    let is_batched = arguments.next().is_some();
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            // An error is a client that has gone.
            _ = if is_batched { echo_batched(stream).await } else { echo(stream).await };
        });
    }
}

async fn open(stream: TcpStream) -> Result<WebSocketStream<TcpStream>> {
    stream.set_nodelay(true)?;
    accept_async(stream).await
}

async fn echo(stream: TcpStream) -> Result<()> {
    let mut socket = open(stream).await?;
    while let Some(message) = socket.next().await.transpose()? {
        if is_data(&message) {
            socket.send(message).await?;
        }
    }
    Ok(())
}

async fn echo_batched(stream: TcpStream) -> Result<()> {
    let mut socket = open(stream).await?;
    loop {
        let next = match socket.next().now_or_never() {
            Some(next) => next,
            None => {
                socket.flush().await?;
                socket.next().await
            }
        };
        let Some(message) = next.transpose()? else { return Ok(()) };
        if is_data(&message) {
            socket.feed(message).await?;
        }
    }
}

fn is_data(message: &Message) -> bool {
    message.is_text() || message.is_binary()
}
