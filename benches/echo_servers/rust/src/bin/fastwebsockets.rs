//! An echo server of fastwebsockets, after its examples: `fastwebsockets PORT [batched]`. Natural is
//! a `write_frame` for each message; batched, they are written into a buffer, which is flushed when
//! all of what one read brought is answered.

use fastwebsockets::{FragmentCollector, FragmentCollectorRead, OpCode, WebSocketError, upgrade};
use futures_util::poll;
use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::pin::pin;
use std::task::Poll;
use tokio::io::BufWriter;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().expect("a port").parse().expect("a number");
    let is_batched = arguments.next().is_some();
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let service = service_fn(|request| serve(request, is_batched));
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // An error is a client that has gone.
            _ = connection.with_upgrades().await;
        });
    }
}

async fn serve(
    mut request: Request<Incoming>,
    is_batched: bool,
) -> Result<Response<Empty<Bytes>>, WebSocketError> {
    let (response, upgraded) = upgrade::upgrade(&mut request)?;
    tokio::spawn(async move {
        _ = if is_batched {
            tokio::task::unconstrained(echo_batched(upgraded)).await
        } else {
            tokio::task::unconstrained(echo(upgraded)).await
        };
    });
    Ok(response)
}

async fn echo(upgraded: upgrade::UpgradeFut) -> Result<(), WebSocketError> {
    let mut socket = FragmentCollector::new(upgraded.await?);
    loop {
        let frame = socket.read_frame().await?;
        match frame.opcode {
            OpCode::Close => return Ok(()),
            OpCode::Text | OpCode::Binary => socket.write_frame(frame).await?,
            _ => {}
        }
    }
}

async fn echo_batched(upgraded: upgrade::UpgradeFut) -> Result<(), WebSocketError> {
    let (reader, mut writer) = upgraded.await?.split(|stream| {
        let (reader, writer) = tokio::io::split(stream);
        (reader, BufWriter::with_capacity(64 * 1024, writer))
    });
    let mut reader = FragmentCollectorRead::new(reader);
    loop {
        let mut send = |_| async { Ok::<_, WebSocketError>(()) };
        let mut next = pin!(reader.read_frame(&mut send));
        let frame = match poll!(next.as_mut()) {
            Poll::Ready(frame) => frame?,
            Poll::Pending => {
                writer.flush().await?;
                next.await?
            }
        };
        match frame.opcode {
            OpCode::Close => return Ok(()),
            OpCode::Text | OpCode::Binary => writer.write_frame(frame).await?,
            _ => {}
        }
    }
}
