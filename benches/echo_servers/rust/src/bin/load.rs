//! The load generator of `rake bench:echo`. It knows no protocol: it opens connections, and on each
//! it writes the same bytes again whenever the same answer has come back, every byte of which it
//! checks. `load PORT PID CONNECTIONS SECONDS`, and on standard input the lengths of five byte
//! strings, each on a line, and then these: the opening handshake, what is written next, how the
//! answer to that ends, the messages in flight, and the answer to them.
//!
//! It prints how often all was answered, in how many seconds, and the CPU time that the process PID
//! took meanwhile, in seconds.

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::error::Error;
use std::io::{BufRead, ErrorKind, Read, Write, stdin};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, pid, connections, seconds] = &arguments[..] else {
        return Err("usage: load PORT PID CONNECTIONS SECONDS".into());
    };
    let traffic = Traffic::read()?;
    let mut load = Load::open(port.parse()?, connections.parse()?, &traffic)?;
    load.run(Duration::from_millis(100))?;
    let cpu = cpu_seconds(pid)?;
    let start = Instant::now();
    let answered = load.run(Duration::from_secs_f64(seconds.parse()?))?;
    println!("{answered} {} {}", start.elapsed().as_secs_f64(), cpu_seconds(pid)? - cpu);
    Ok(())
}

struct Traffic {
    handshake: Vec<u8>,
    greeting: Vec<u8>,
    greeting_end: Vec<u8>,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Traffic {
    fn read() -> Result<Self> {
        let mut input = stdin().lock();
        let mut lengths = [0; 5];
        for length in &mut lengths {
            let mut line = String::new();
            input.read_line(&mut line)?;
            *length = line.trim().parse()?;
        }
        let mut next = |index: usize| -> Result<Vec<u8>> {
            let mut bytes = vec![0; lengths[index]];
            input.read_exact(&mut bytes)?;
            Ok(bytes)
        };
        Ok(Self {
            handshake: next(0)?,
            greeting: next(1)?,
            greeting_end: next(2)?,
            request: next(3)?,
            answer: next(4)?,
        })
    }
}

/// All connections to a server.
struct Load<'a> {
    traffic: &'a Traffic,
    poll: Poll,
    peers: Vec<Peer>,
    buffer: Vec<u8>,
}

struct Peer {
    socket: TcpStream,
    /// What is left to be written of the request, and how much of the answer has come.
    unwritten: usize,
    received: usize,
}

impl<'a> Load<'a> {
    fn open(port: u16, connections: usize, traffic: &'a Traffic) -> Result<Self> {
        let poll = Poll::new()?;
        let mut peers = Vec::new();
        for number in 0..connections {
            let mut socket = TcpStream::from_std(open(port, traffic)?);
            poll.registry().register(
                &mut socket,
                Token(number),
                Interest::READABLE | Interest::WRITABLE,
            )?;
            peers.push(Peer { socket, unwritten: 0, received: 0 });
        }
        Ok(Self { traffic, poll, peers, buffer: vec![0; 1 << 18] })
    }

    /// How often all that was in flight on a connection has come back.
    fn run(&mut self, time: Duration) -> Result<u64> {
        let deadline = Instant::now() + time;
        let mut answered = 0;
        let mut busy = self.peers.len();
        let mut events = Events::with_capacity(busy);
        for peer in &mut self.peers {
            peer.begin(self.traffic)?;
        }
        while busy > 0 {
            self.poll.poll(&mut events, Some(Duration::from_secs(10)))?;
            if events.is_empty() {
                return Err("no answer for 10 s".into());
            }
            for event in &events {
                let peer = &mut self.peers[event.token().0];
                if peer.is_done(self.traffic) {
                    continue;
                }
                peer.write(self.traffic)?;
                if !peer.read(self.traffic, &mut self.buffer)? {
                    continue;
                }
                answered += 1;
                if Instant::now() < deadline {
                    peer.begin(self.traffic)?;
                } else {
                    busy -= 1;
                }
            }
        }
        Ok(answered)
    }
}

fn open(port: u16, traffic: &Traffic) -> Result<std::net::TcpStream> {
    let mut socket = std::net::TcpStream::connect(("127.0.0.1", port))?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    socket.write_all(&traffic.handshake)?;
    read_to(&mut socket, b"\r\n\r\n")?;
    socket.write_all(&traffic.greeting)?;
    read_to(&mut socket, &traffic.greeting_end)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn read_to(socket: &mut std::net::TcpStream, end: &[u8]) -> Result<()> {
    let mut answer = Vec::new();
    while !answer.ends_with(end) {
        let mut byte = [0];
        if socket.read(&mut byte)? == 0 {
            return Err(format!("refused: {}", String::from_utf8_lossy(&answer)).into());
        }
        answer.push(byte[0]);
    }
    Ok(())
}

impl Peer {
    fn begin(&mut self, traffic: &Traffic) -> Result<()> {
        self.unwritten = traffic.request.len();
        self.received = 0;
        self.write(traffic)
    }

    fn is_done(&self, traffic: &Traffic) -> bool {
        self.unwritten == 0 && self.received == traffic.answer.len()
    }

    fn write(&mut self, traffic: &Traffic) -> Result<()> {
        while self.unwritten > 0 {
            let at = traffic.request.len() - self.unwritten;
            match self.socket.write(&traffic.request[at..]) {
                Ok(written) => self.unwritten -= written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether the answer is complete. Reads until nothing is there, or it is.
    fn read(&mut self, traffic: &Traffic, buffer: &mut [u8]) -> Result<bool> {
        while self.received < traffic.answer.len() {
            let read = match self.socket.read(buffer) {
                Ok(0) => return Err("the server has closed".into()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            if !traffic.answer[self.received..].starts_with(&buffer[..read]) {
                return Err("something else was echoed".into());
            }
            self.received += read;
        }
        Ok(self.is_done(traffic))
    }
}

/// User and system time of all threads of the process.
fn cpu_seconds(pid: &str) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields = stat.rsplit(") ").next().ok_or("no fields")?.split(' ');
    let ticks: u64 = fields.skip(11).take(2).map(|field| field.parse().unwrap_or(0)).sum();
    // What sysconf(_SC_CLK_TCK) is on every Linux.
    Ok(ticks as f64 / 100.0)
}
