//! The negotiation of permessage-deflate: each sentence of RFC 7692, sections 5 and 7.1, that has a
//! MUST in it, and what browsers and libraries send.

#![cfg(feature = "deflate")]

use proptest::prelude::*;
use ws_unmask_core::deflate::{Accepted, NegotiationError, Parameters, Role};

const DEFAULT: Parameters = Parameters {
    server_no_context_takeover: false,
    client_no_context_takeover: false,
    server_max_window_bits: 15,
    client_max_window_bits: 15,
};

fn accept(wanted: Parameters, header: &str) -> Option<(Parameters, String)> {
    let accepted = wanted.accept(header).expect("a well-formed header");
    accepted.map(|Accepted { parameters, response }| (parameters, response))
}

fn response(wanted: Parameters, header: &str) -> Option<String> {
    accept(wanted, header).map(|(_, response)| response)
}

fn declines(offer: &str) {
    assert_eq!(accept(DEFAULT, offer), None, "{offer}");
}

mod server {
    use super::*;

    #[test]
    fn accepts_what_browsers_offer() {
        let plain = Some((DEFAULT, "permessage-deflate".to_owned()));
        for offer in ["permessage-deflate; client_max_window_bits", "permessage-deflate"] {
            assert_eq!(accept(DEFAULT, offer), plain);
        }
    }

    #[test]
    fn gives_no_answer_to_other_extensions() {
        for offer in ["", "permessage-bzip2", "x-webkit-deflate-frame", "mux; max-channels=4"] {
            declines(offer);
        }
    }

    #[test]
    fn finds_its_offer_among_other_extensions() {
        let offer = "mux; max-channels=4, x; y=\"z\", permessage-deflate, foo";
        assert_eq!(response(DEFAULT, offer).as_deref(), Some("permessage-deflate"));
    }

    #[test]
    fn takes_names_in_any_case_and_spaces_anywhere() {
        let offer =
            " Permessage-Deflate ;\tSERVER_max_window_bits = 10;Client_No_Context_Takeover ";
        let expected = "permessage-deflate; client_no_context_takeover; server_max_window_bits=10";
        assert_eq!(response(DEFAULT, offer).as_deref(), Some(expected));
    }

    #[test]
    fn takes_quoted_values() {
        let offer = r#"permessage-deflate; server_max_window_bits="1\0""#;
        let expected = "permessage-deflate; server_max_window_bits=10";
        assert_eq!(response(DEFAULT, offer).as_deref(), Some(expected));
    }

    /// "it lists multiple offers in order of preference": the first one that can be had
    #[test]
    fn section_5_1_takes_the_first_acceptable_of_several_offers() {
        let offer = "permessage-deflate; server_max_window_bits=8, \
                     permessage-deflate; server_max_window_bits=10; unknown, \
                     permessage-deflate; server_max_window_bits=11, permessage-deflate";
        let expected = "permessage-deflate; server_max_window_bits=11";
        assert_eq!(response(DEFAULT, offer).as_deref(), Some(expected));
    }

    /// RFC 6455, section 9.1: "MUST immediately _Fail the WebSocket Connection_"
    #[test]
    fn rfc_6455_section_9_1_fails_on_a_malformed_header() {
        for header in ["permessage-deflate;", "permessage-deflate, a b", "a;b=\"", "é"] {
            assert!(DEFAULT.accept(header).is_err(), "{header}");
        }
    }

    /// "A server MUST decline [if] the negotiation offer contains an extension parameter not defined for use
    /// in an offer."
    #[test]
    fn section_7_declines_unknown_parameters() {
        declines("permessage-deflate; unknown");
        declines("permessage-deflate; server_max_window_bit=10");
        declines("permessage-deflate; client_max_window_bits; x=\"y\"");
    }

    /// "... contains an extension parameter with an invalid value."
    #[test]
    fn section_7_declines_invalid_values() {
        for name in ["server_no_context_takeover", "client_no_context_takeover"] {
            for value in ["=true", "=1", "=\"8\""] {
                declines(&format!("permessage-deflate; {name}{value}"));
            }
        }
        for name in ["server_max_window_bits", "client_max_window_bits"] {
            for value in
                ["0", "7", "16", "08", "010", "+9", "-9", "9.0", "0x9", "x", "150", "99999999999"]
            {
                declines(&format!("permessage-deflate; {name}={value}"));
                declines(&format!("permessage-deflate; {name}=\"{value}\""));
            }
        }
    }

    /// "... contains multiple extension parameters with the same name."
    #[test]
    fn section_7_declines_a_parameter_that_is_there_twice() {
        for parameter in [
            "server_no_context_takeover",
            "client_no_context_takeover",
            "server_max_window_bits=10",
            "client_max_window_bits",
            "client_max_window_bits=10",
        ] {
            declines(&format!("permessage-deflate; {parameter}; {parameter}"));
        }
        declines("permessage-deflate; client_max_window_bits; CLIENT_max_window_bits=9");
    }

    /// "... The server doesn't support the offered configuration."
    #[test]
    fn section_7_declines_a_window_that_it_cannot_compress_with() {
        declines("permessage-deflate; server_max_window_bits=8");
        for bits in 9..=15 {
            let offer = format!("permessage-deflate; server_max_window_bits={bits}");
            assert_eq!(response(DEFAULT, &offer), Some(offer));
        }
    }

    #[test]
    fn section_7_1_1_1_accepts_server_no_context_takeover_by_including_it() {
        let offer = "permessage-deflate; server_no_context_takeover";
        let agreed = Parameters { server_no_context_takeover: true, ..DEFAULT };
        assert_eq!(accept(DEFAULT, offer), Some((agreed, offer.to_owned())));
    }

    /// "A server MAY include [it] even if the [...] offer [...] didn't include [it]."
    #[test]
    fn section_7_1_1_includes_no_context_takeover_if_it_wants_to() {
        let wanted = Parameters {
            server_no_context_takeover: true,
            client_no_context_takeover: true,
            ..DEFAULT
        };
        let expected = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
        assert_eq!(accept(wanted, "permessage-deflate"), Some((wanted, expected.to_owned())));
    }

    #[test]
    fn section_7_1_1_2_takes_the_hint_of_client_no_context_takeover() {
        let offer = "permessage-deflate; client_no_context_takeover";
        let agreed = Parameters { client_no_context_takeover: true, ..DEFAULT };
        assert_eq!(accept(DEFAULT, offer), Some((agreed, offer.to_owned())));
    }

    /// It needs a value in an offer.
    #[test]
    fn section_7_1_2_1_declines_server_max_window_bits_without_a_value() {
        declines("permessage-deflate; server_max_window_bits");
    }

    /// "... with the same or smaller value as the offer."
    #[test]
    fn section_7_1_2_1_answers_with_the_same_bits_or_fewer() {
        let wanted = Parameters { server_max_window_bits: 11, ..DEFAULT };
        for (offered, answered) in [("10", "10"), ("11", "11"), ("12", "11"), ("15", "11")] {
            let offer = format!("permessage-deflate; server_max_window_bits={offered}");
            let expected = format!("permessage-deflate; server_max_window_bits={answered}");
            assert_eq!(response(wanted, &offer), Some(expected));
        }
        let expected = "permessage-deflate; server_max_window_bits=11";
        assert_eq!(response(wanted, "permessage-deflate").as_deref(), Some(expected));
    }

    /// "If a received [...] offer doesn't have the "client_max_window_bits" extension parameter, the
    /// corresponding [...] response [...] MUST NOT include [it]."
    #[test]
    fn section_7_1_2_2_does_not_limit_a_client_that_has_not_offered_it() {
        let wanted = Parameters { client_max_window_bits: 9, ..DEFAULT };
        let plain = Some((DEFAULT, "permessage-deflate".to_owned()));
        assert_eq!(accept(wanted, "permessage-deflate"), plain);
    }

    /// "... with a value equal to or smaller than the received value."
    #[test]
    fn section_7_1_2_2_limits_the_client_to_its_own_bits_or_fewer() {
        for (wanted, offered, agreed) in [
            (15, "", 15),
            (11, "", 11),
            (11, "=10", 10),
            (11, "=12", 11),
            (15, "=8", 8),
            (8, "", 8),
        ] {
            let wanted = Parameters { client_max_window_bits: wanted, ..DEFAULT };
            let offer = format!("permessage-deflate; client_max_window_bits{offered}");
            let (parameters, response) = accept(wanted, &offer).unwrap();
            assert_eq!(parameters.client_max_window_bits, agreed);
            let expected = match agreed {
                15 => "permessage-deflate".to_owned(),
                _ => format!("permessage-deflate; client_max_window_bits={agreed}"),
            };
            assert_eq!(response, expected);
        }
    }

    #[test]
    fn takes_bits_out_of_range_for_the_nearest() {
        let wanted =
            Parameters { server_max_window_bits: 8, client_max_window_bits: 200, ..DEFAULT };
        let expected = "permessage-deflate; server_max_window_bits=9";
        let offer = "permessage-deflate; client_max_window_bits";
        assert_eq!(response(wanted, offer).as_deref(), Some(expected));
    }
}

mod client {
    use super::*;

    fn confirm(wanted: Parameters, response: &str) -> Result<Parameters, NegotiationError> {
        wanted.confirm(response).map(|agreed| agreed.expect("an accepted offer"))
    }

    #[test]
    fn offers_only_what_it_wants() {
        assert_eq!(DEFAULT.offer(), "permessage-deflate; client_max_window_bits");
        let wanted = Parameters {
            server_no_context_takeover: true,
            client_no_context_takeover: true,
            server_max_window_bits: 8,
            client_max_window_bits: 8,
        };
        assert_eq!(
            wanted.offer(),
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; \
             server_max_window_bits=8; client_max_window_bits=9"
        );
    }

    #[test]
    fn takes_no_answer_for_no_compression() {
        assert_eq!(DEFAULT.confirm(""), Ok(None));
        assert_eq!(DEFAULT.confirm("mux; max-channels=4"), Ok(None));
    }

    #[test]
    fn takes_what_servers_answer() {
        assert_eq!(confirm(DEFAULT, "permessage-deflate"), Ok(DEFAULT));
        assert_eq!(
            confirm(
                DEFAULT,
                "Permessage-Deflate; client_max_window_bits=\"10\" ;server_max_window_bits=8; \
                 client_no_context_takeover;server_no_context_takeover, other"
            ),
            Ok(Parameters {
                server_no_context_takeover: true,
                client_no_context_takeover: true,
                server_max_window_bits: 8,
                client_max_window_bits: 10,
            })
        );
    }

    #[test]
    fn rfc_6455_section_9_1_fails_on_a_malformed_header() {
        let result = DEFAULT.confirm("permessage-deflate;");
        assert!(matches!(result, Err(NegotiationError::Malformed(error)) if error.offset == 19));
    }

    #[test]
    fn section_5_1_fails_on_two_answers() {
        let result = confirm(DEFAULT, "permessage-deflate, permessage-deflate");
        assert_eq!(result, Err(NegotiationError::Repeated));
    }

    /// "A client MUST _Fail the WebSocket Connection_ [if] the negotiation response contains an extension
    /// parameter not defined for use in a response."
    #[test]
    fn section_7_fails_on_unknown_parameters() {
        let result = confirm(DEFAULT, "permessage-deflate; Unknown=1");
        assert_eq!(result, Err(NegotiationError::Unknown("Unknown".to_owned())));
    }

    /// "... contains an extension parameter with an invalid value."
    #[test]
    fn section_7_fails_on_invalid_values() {
        for name in ["server_no_context_takeover", "client_no_context_takeover"] {
            let result = confirm(DEFAULT, &format!("permessage-deflate; {name}=1"));
            assert_eq!(result, Err(NegotiationError::Value(name)));
        }
        for name in ["server_max_window_bits", "client_max_window_bits"] {
            for value in ["", "=7", "=16", "=08", "=x"] {
                let result = confirm(DEFAULT, &format!("permessage-deflate; {name}{value}"));
                assert_eq!(result, Err(NegotiationError::Value(name)), "{value}");
            }
        }
    }

    /// "... contains multiple extension parameters with the same name."
    #[test]
    fn section_7_fails_on_a_parameter_that_is_there_twice() {
        for (name, value) in [
            ("server_no_context_takeover", ""),
            ("client_no_context_takeover", ""),
            ("server_max_window_bits", "=10"),
            ("client_max_window_bits", "=10"),
        ] {
            let response = format!("permessage-deflate; {name}{value}; {name}{value}");
            assert_eq!(confirm(DEFAULT, &response), Err(NegotiationError::Twice(name)));
        }
    }

    /// "... The client does not support the configuration that the response represents."
    #[test]
    fn section_7_fails_on_a_window_that_it_cannot_compress_with() {
        let result = confirm(DEFAULT, "permessage-deflate; client_max_window_bits=8");
        assert_eq!(result, Err(NegotiationError::Unsupported("client_max_window_bits")));
    }

    #[test]
    fn section_7_1_1_1_fails_if_server_no_context_takeover_is_not_included() {
        let wanted = Parameters { server_no_context_takeover: true, ..DEFAULT };
        let result = confirm(wanted, "permessage-deflate");
        assert_eq!(result, Err(NegotiationError::Ignored("server_no_context_takeover")));
        let result = confirm(wanted, "permessage-deflate; server_no_context_takeover");
        assert_eq!(result, Ok(wanted));
    }

    /// What it hinted at, it does, whether or not the server includes it.
    #[test]
    fn section_7_1_1_2_keeps_to_its_own_client_no_context_takeover() {
        let wanted = Parameters { client_no_context_takeover: true, ..DEFAULT };
        assert_eq!(confirm(wanted, "permessage-deflate"), Ok(wanted));
    }

    #[test]
    fn section_7_1_2_1_fails_if_the_server_uses_a_larger_window_than_offered() {
        let wanted = Parameters { server_max_window_bits: 10, ..DEFAULT };
        let ignored = Err(NegotiationError::Ignored("server_max_window_bits"));
        assert_eq!(confirm(wanted, "permessage-deflate"), ignored);
        assert_eq!(confirm(wanted, "permessage-deflate; server_max_window_bits=11"), ignored);
        for bits in 8..=10 {
            let response = format!("permessage-deflate; server_max_window_bits={bits}");
            let agreed = Parameters { server_max_window_bits: bits, ..DEFAULT };
            assert_eq!(confirm(wanted, &response), Ok(agreed));
        }
    }

    #[test]
    fn section_7_1_2_2_fails_if_the_server_allows_a_larger_window_than_offered() {
        let wanted = Parameters { client_max_window_bits: 10, ..DEFAULT };
        let result = confirm(wanted, "permessage-deflate; client_max_window_bits=11");
        assert_eq!(result, Err(NegotiationError::Value("client_max_window_bits")));
        assert_eq!(confirm(wanted, "permessage-deflate"), Ok(wanted));
        let agreed = Parameters { client_max_window_bits: 9, ..DEFAULT };
        let result = confirm(wanted, "permessage-deflate; client_max_window_bits=9");
        assert_eq!(result, Ok(agreed));
    }
}

fn parameters() -> impl Strategy<Value = Parameters> {
    (any::<bool>(), any::<bool>(), 7..=16_u8, 7..=16_u8).prop_map(
        |(server, client, ours, theirs)| Parameters {
            server_no_context_takeover: server,
            client_no_context_takeover: client,
            server_max_window_bits: ours,
            client_max_window_bits: theirs,
        },
    )
}

proptest! {
    /// Both ends come to the same parameters, or to none; and the messages of each come out at the other.
    #[test]
    fn a_client_and_a_server_agree(client in parameters(), server in parameters()) {
        let accepted = server.accept(&client.offer()).unwrap();
        match accepted {
            // The only thing that this end cannot do.
            None => prop_assert!(client.server_max_window_bits <= 8),
            Some(Accepted { parameters, response }) => {
                match client.confirm(&response) {
                    Ok(confirmed) => prop_assert_eq!(confirmed, Some(parameters)),
                    Err(error) => {
                        prop_assert_eq!(error, NegotiationError::Unsupported("client_max_window_bits"));
                        prop_assert!(server.client_max_window_bits <= 8);
                    }
                }
                for (sender, receiver) in [(Role::Server, Role::Client), (Role::Client, Role::Server)] {
                    let mut deflater = parameters.deflater(sender);
                    let mut inflater = parameters.inflater(receiver);
                    for message in [&b"Hello"[..], b"Hello"] {
                        let (mut payload, mut plain) = (Vec::new(), Vec::new());
                        deflater.deflate(message, &mut payload).unwrap();
                        inflater.inflate_message(&payload, &mut plain, 5).unwrap();
                        prop_assert_eq!(plain, message);
                    }
                }
            }
        }
    }

    #[test]
    fn any_header_is_answered(header in r#"(.|permessage-deflate|(client|server)_(max_window_bits|no_context_takeover)|[;=, "]|1?[0-9]){0,12}"#) {
        if let Ok(Some(accepted)) = DEFAULT.accept(&header) {
            prop_assert!(accepted.response.starts_with("permessage-deflate"));
        }
        let _ = DEFAULT.confirm(&header);
    }
}
