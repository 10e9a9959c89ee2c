//! Negotiates permessage-deflate in the opening handshake (RFC 7692, sections 5 and 7.1).

use super::extension_list::{Extension, MalformedHeader, parse};
use super::{Deflater, Inflater};
use alloc::format;
use alloc::string::String;
use core::error::Error;
use core::fmt;

const NAME: &str = "permessage-deflate";

/// Which end of a connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It compresses with the `server_` parameters.
    Server,
    /// It compresses with the `client_` parameters.
    Client,
}

/// The parameters of permessage-deflate: before the negotiation, what this end asks for; after it,
/// what both ends have agreed on.
///
/// [`accept`](Self::accept) is for a server; [`offer`](Self::offer) and then
/// [`confirm`](Self::confirm) are for a client.
///
/// This end cannot compress with a window of 8 bits (see [`Deflater::WINDOW_BITS`]): a server declines
/// an offer that demands it, and a client closes the connection if the server demands it. The peer
/// may use it. Window bits out of range are replaced by the nearest supported value.
///
/// The default has both context takeovers and the largest windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Whether the server compresses each message independently.
    pub server_no_context_takeover: bool,
    /// Whether the client compresses each message independently.
    pub client_no_context_takeover: bool,
    /// The server's window bits: it may refer back 2 to the power of this, in bytes.
    pub server_max_window_bits: u8,
    /// The client's window bits.
    pub client_max_window_bits: u8,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            server_no_context_takeover: false,
            client_no_context_takeover: false,
            server_max_window_bits: 15,
            client_max_window_bits: 15,
        }
    }
}

/// What a server has agreed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The parameters of the connection.
    pub parameters: Parameters,
    /// The element for the header `Sec-WebSocket-Extensions` of the response.
    pub response: String,
}

impl Parameters {
    /// For a server: accepts the first acceptable offer in the value of the request's header
    /// `Sec-WebSocket-Extensions` (of several such headers, the values joined by commas), or `None`
    /// if there is none. Other extensions are ignored.
    ///
    /// It accepts what the offer demands, and adds these parameters where RFC 7692 allows them: a
    /// client that has not offered `client_max_window_bits` may use 15.
    ///
    /// # Errors
    ///
    /// If the header is malformed: the handshake must fail.
    ///
    /// ```
    /// # use ws_unmask_core::deflate::Parameters;
    /// let wanted = Parameters { server_max_window_bits: 11, ..Parameters::default() };
    /// let accepted = wanted.accept("bbf-usp-protocol, permessage-deflate").unwrap().unwrap();
    /// assert_eq!(accepted.response, "permessage-deflate; server_max_window_bits=11");
    /// assert_eq!(accepted.parameters, wanted);
    /// ```
    pub fn accept(&self, header: &str) -> Result<Option<Accepted>, MalformedHeader> {
        let extensions = parse(header)?;
        let mut offers = extensions.iter().filter(|extension| is_ours(extension));
        Ok(offers.find_map(|offer| self.accept_offer(&List::read(offer).ok()?)))
    }

    /// Section 7.1.1 and 7.1.2, as a server.
    fn accept_offer(&self, offer: &List) -> Option<Accepted> {
        let wanted = self.for_role(Role::Server);
        let server_bits = match offer.server_max_window_bits {
            None => wanted.server_max_window_bits,
            Some(None) => return None,
            Some(Some(bits)) if !Deflater::WINDOW_BITS.contains(&bits) => return None,
            Some(Some(bits)) => bits.min(wanted.server_max_window_bits),
        };
        let client_bits = match offer.client_max_window_bits {
            None => 15,
            Some(hint) => hint.unwrap_or(15).min(wanted.client_max_window_bits),
        };
        let parameters = Self {
            server_no_context_takeover: offer.server_no_context_takeover
                || wanted.server_no_context_takeover,
            client_no_context_takeover: offer.client_no_context_takeover
                || wanted.client_no_context_takeover,
            server_max_window_bits: server_bits,
            client_max_window_bits: client_bits,
        };
        let response = List {
            server_no_context_takeover: parameters.server_no_context_takeover,
            client_no_context_takeover: parameters.client_no_context_takeover,
            server_max_window_bits: (offer.server_max_window_bits.is_some() || server_bits < 15)
                .then_some(Some(server_bits)),
            client_max_window_bits: (client_bits < 15).then_some(Some(client_bits)),
        };
        Some(Accepted { parameters, response: format!("{response}") })
    }

    /// For a client: the offer, an element for the header `Sec-WebSocket-Extensions` of the request.
    ///
    /// ```
    /// # use ws_unmask_core::deflate::Parameters;
    /// let offer = Parameters::default().offer();
    /// assert_eq!(offer, "permessage-deflate; client_max_window_bits");
    /// ```
    pub fn offer(&self) -> String {
        let wanted = self.for_role(Role::Client);
        let below_15 = |bits| Some(bits).filter(|&bits| bits < 15);
        let offer = List {
            server_no_context_takeover: wanted.server_no_context_takeover,
            client_no_context_takeover: wanted.client_no_context_takeover,
            server_max_window_bits: below_15(wanted.server_max_window_bits).map(Some),
            client_max_window_bits: Some(below_15(wanted.client_max_window_bits)),
        };
        format!("{offer}")
    }

    /// For a client: what the server has accepted of [`offer`](Self::offer), according to the value of
    /// the response's header `Sec-WebSocket-Extensions`, or `None` if it has declined.
    ///
    /// # Errors
    ///
    /// Why the client must close the connection. An extension that was not offered is one reason.
    pub fn confirm(&self, header: &str) -> Result<Option<Self>, NegotiationError> {
        let extensions = parse(header)?;
        if let Some(other) = extensions.iter().find(|extension| !is_ours(extension)) {
            return Err(NegotiationError::NotOffered(String::from(other.name)));
        }
        match &extensions[..] {
            [] => Ok(None),
            [response] => self.confirm_response(&List::read(response)?).map(Some),
            _ => Err(NegotiationError::Repeated),
        }
    }

    /// Section 7.1.1 and 7.1.2, as a client.
    fn confirm_response(&self, response: &List) -> Result<Self, NegotiationError> {
        let offered = self.for_role(Role::Client);
        if offered.server_no_context_takeover && !response.server_no_context_takeover {
            return Err(NegotiationError::Ignored("server_no_context_takeover"));
        }
        let server_bits = match response.server_max_window_bits {
            Some(Some(bits)) if bits <= offered.server_max_window_bits => bits,
            None if offered.server_max_window_bits == 15 => 15,
            Some(None) => return Err(NegotiationError::Value("server_max_window_bits")),
            _ => return Err(NegotiationError::Ignored("server_max_window_bits")),
        };
        let client_bits = match response.client_max_window_bits {
            None => offered.client_max_window_bits,
            Some(Some(bits)) if bits < *Deflater::WINDOW_BITS.start() => {
                return Err(NegotiationError::Unsupported("client_max_window_bits"));
            }
            Some(Some(bits)) if bits <= offered.client_max_window_bits => bits,
            Some(_) => return Err(NegotiationError::Value("client_max_window_bits")),
        };
        Ok(Self {
            server_no_context_takeover: response.server_no_context_takeover,
            client_no_context_takeover: offered.client_no_context_takeover
                || response.client_no_context_takeover,
            server_max_window_bits: server_bits,
            client_max_window_bits: client_bits,
        })
    }

    /// An inflater for the messages of the peer.
    pub fn inflater(&self, role: Role) -> Inflater {
        Inflater::new(match role {
            Role::Server => self.client_no_context_takeover,
            Role::Client => self.server_no_context_takeover,
        })
    }

    /// A deflater for the messages of this end.
    pub fn deflater(&self, role: Role) -> Deflater {
        match role {
            Role::Server => {
                Deflater::new(self.server_max_window_bits, self.server_no_context_takeover)
            }
            Role::Client => {
                Deflater::new(self.client_max_window_bits, self.client_no_context_takeover)
            }
        }
    }

    /// The same, with window bits that this end supports.
    fn for_role(&self, role: Role) -> Self {
        let own = |bits: u8| bits.clamp(*Deflater::WINDOW_BITS.start(), 15);
        let peers = |bits: u8| bits.clamp(8, 15);
        let (server, client) = (self.server_max_window_bits, self.client_max_window_bits);
        let (server_max_window_bits, client_max_window_bits) = match role {
            Role::Server => (own(server), peers(client)),
            Role::Client => (peers(server), own(client)),
        };
        Self { server_max_window_bits, client_max_window_bits, ..*self }
    }
}

fn is_ours(extension: &Extension<'_>) -> bool {
    extension.name.eq_ignore_ascii_case(NAME)
}

/// The parameters of an offer or a response as written: window bits may be missing (`None`), or have
/// no value (`Some(None)`).
#[derive(Debug, Default)]
struct List {
    server_no_context_takeover: bool,
    client_no_context_takeover: bool,
    server_max_window_bits: Option<Option<u8>>,
    client_max_window_bits: Option<Option<u8>>,
}

impl List {
    /// The checks of section 7 that offers and responses share: no unknown parameters, no duplicates,
    /// no invalid values.
    fn read(extension: &Extension<'_>) -> Result<Self, NegotiationError> {
        let mut list = Self::default();
        for (name, value) in &extension.parameters {
            let value = value.as_deref();
            match name.to_ascii_lowercase().as_str() {
                "server_no_context_takeover" => {
                    flag(&mut list.server_no_context_takeover, "server_no_context_takeover", value)?
                }
                "client_no_context_takeover" => {
                    flag(&mut list.client_no_context_takeover, "client_no_context_takeover", value)?
                }
                "server_max_window_bits" => {
                    bits(&mut list.server_max_window_bits, "server_max_window_bits", value)?
                }
                "client_max_window_bits" => {
                    bits(&mut list.client_max_window_bits, "client_max_window_bits", value)?
                }
                _ => return Err(NegotiationError::Unknown(String::from(*name))),
            }
        }
        Ok(list)
    }
}

fn flag(seen: &mut bool, name: &'static str, value: Option<&str>) -> Result<(), NegotiationError> {
    if value.is_some() {
        return Err(NegotiationError::Value(name));
    }
    if core::mem::replace(seen, true) {
        return Err(NegotiationError::Twice(name));
    }
    Ok(())
}

/// A decimal number without leading zeros, from 8 to 15 (sections 7.1.2.1 and 7.1.2.2).
fn bits(
    seen: &mut Option<Option<u8>>,
    name: &'static str,
    value: Option<&str>,
) -> Result<(), NegotiationError> {
    let bits = match value {
        None => None,
        Some(digits @ ("8" | "9" | "10" | "11" | "12" | "13" | "14" | "15")) => digits.parse().ok(),
        Some(_) => return Err(NegotiationError::Value(name)),
    };
    match seen.replace(bits) {
        None => Ok(()),
        Some(_) => Err(NegotiationError::Twice(name)),
    }
}

impl fmt::Display for List {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(NAME)?;
        for (name, is_set) in [
            ("server_no_context_takeover", self.server_no_context_takeover),
            ("client_no_context_takeover", self.client_no_context_takeover),
        ] {
            if is_set {
                write!(formatter, "; {name}")?;
            }
        }
        for (name, bits) in [
            ("server_max_window_bits", self.server_max_window_bits),
            ("client_max_window_bits", self.client_max_window_bits),
        ] {
            match bits {
                None => {}
                Some(None) => write!(formatter, "; {name}")?,
                Some(Some(bits)) => write!(formatter, "; {name}={bits}")?,
            }
        }
        Ok(())
    }
}

/// Why a client must close the connection: the server's response does not match the client's offer
/// (RFC 7692, section 7), or is malformed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NegotiationError {
    /// The header does not conform to its grammar.
    Malformed(MalformedHeader),
    /// This extension was not offered.
    NotOffered(String),
    /// The extension is in the response more than once.
    Repeated,
    /// This parameter is not defined.
    Unknown(String),
    /// This parameter is in the response more than once.
    Twice(&'static str),
    /// This parameter has an invalid value, or none where it needs one.
    Value(&'static str),
    /// The offer demands this parameter, and the response does not fulfill it.
    Ignored(&'static str),
    /// The response demands a value of this parameter that this end does not support.
    Unsupported(&'static str),
}

impl From<MalformedHeader> for NegotiationError {
    fn from(error: MalformedHeader) -> Self {
        Self::Malformed(error)
    }
}

impl fmt::Display for NegotiationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => error.fmt(formatter),
            Self::NotOffered(name) => write!(formatter, "{name} was accepted but not offered"),
            Self::Repeated => write!(formatter, "{NAME} was accepted more than once"),
            Self::Unknown(name) => write!(formatter, "{NAME} has no parameter {name}"),
            Self::Twice(name) => write!(formatter, "{name} is there more than once"),
            Self::Value(name) => write!(formatter, "{name} has an invalid value"),
            Self::Ignored(name) => write!(formatter, "{name} was offered but not fulfilled"),
            Self::Unsupported(name) => write!(formatter, "{name} cannot be fulfilled here"),
        }
    }
}

impl Error for NegotiationError {}
