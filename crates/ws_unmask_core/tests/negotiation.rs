//! The negotiation of permessage-deflate: each sentence of RFC 7692, sections 5, 7 and 7.1, that has a
//! MUST in it, quoted at the test for it; and what browsers and libraries send.
//!
//! Only two are about what comes afterwards, and so tested with the property at the end: "both
//! endpoints MUST use [...] the message payload transformation (compressing and decompressing)
//! procedure of the PMCE configured with the "agreed parameters"" (section 5), and "A client MUST
//! support the "client_no_context_takeover" extension parameter in an extension negotiation response."
//! (section 7.1.1.2)

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

    /// "To accept the use of an offered PMCE, a server MUST include the extension name of the PMCE in
    /// the "Sec-WebSocket-Extensions" header field of its opening handshake"
    #[test]
    fn section_5_accepts_what_browsers_offer_by_its_name() {
        let plain = Some((DEFAULT, "permessage-deflate".to_owned()));
        for offer in ["permessage-deflate; client_max_window_bits", "permessage-deflate"] {
            assert_eq!(accept(DEFAULT, offer), plain);
        }
    }

    /// "A server declining all offered PMCEs MUST NOT include any element with PMCE names."
    #[test]
    fn section_5_gives_no_answer_to_other_extensions() {
        for offer in ["", "permessage-bzip2", "x-webkit-deflate-frame", "mux; max-channels=4"] {
            declines(offer);
        }
    }

    /// "A server MUST NOT accept a PMCE extension negotiation offer together with another extension if
    /// the PMCE will conflict with the extension on their use of the RSV1 bit." And "if the PMCE will
    /// be applied to the output of the extension and": it accepts no other extension.
    #[test]
    fn section_5_accepts_nothing_else_together_with_it() {
        for offer in [
            "mux; max-channels=4, x; y=\"z\", permessage-deflate, foo",
            "permessage-bzip2, permessage-deflate",
            "permessage-deflate, x-webkit-deflate-frame, permessage-deflate",
        ] {
            assert_eq!(response(DEFAULT, offer).as_deref(), Some("permessage-deflate"), "{offer}");
        }
    }

    /// "The element MUST represent a PMCE that is fully supported by the server."
    #[test]
    fn section_5_answers_only_what_it_can_do() {
        for bits in 0..=u8::MAX {
            let wanted = Parameters { server_max_window_bits: bits, ..DEFAULT };
            let (agreed, response) = accept(wanted, "permessage-deflate").unwrap();
            assert!((9..=15).contains(&agreed.server_max_window_bits), "{response}");
        }
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

    /// "An element preceding another element has higher preference. It is recommended that a server
    /// accepts PMCEs with higher preference if the server supports them."
    #[test]
    fn section_5_takes_the_first_acceptable_of_several_offers() {
        let offer = "permessage-deflate; server_max_window_bits=8, \
                     permessage-deflate; server_max_window_bits=10; unknown, \
                     permessage-deflate; server_max_window_bits=11, permessage-deflate";
        let expected = "permessage-deflate; server_max_window_bits=11";
        assert_eq!(response(DEFAULT, offer).as_deref(), Some(expected));
    }

    /// "If a value is received by either the client or the server during negotiation that does not
    /// conform to the ABNF below, the recipient of such malformed data MUST immediately _Fail the
    /// WebSocket Connection_."
    #[test]
    fn rfc_6455_section_9_1_fails_on_a_malformed_header() {
        for header in ["permessage-deflate;", "permessage-deflate, a b", "a;b=\"", "é"] {
            assert!(DEFAULT.accept(header).is_err(), "{header}");
        }
    }

    /// "A server MUST decline an extension negotiation offer for this extension if any of the following
    /// conditions are met: [...] The negotiation offer contains an extension parameter not defined for
    /// use in an offer."
    #[test]
    fn section_7_declines_unknown_parameters() {
        declines("permessage-deflate; unknown");
        declines("permessage-deflate; server_max_window_bit=10");
        declines("permessage-deflate; client_max_window_bits; x=\"y\"");
    }

    /// "The negotiation offer contains an extension parameter with an invalid value." And sections
    /// 7.1.2.1 and 7.1.2.2: "a decimal integer value without leading zeroes between 8 to 15 [...] MUST
    /// conform to the ABNF below. server-max-window-bits = 1*DIGIT"
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

    /// "The negotiation offer contains multiple extension parameters with the same name."
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

    /// "The server doesn't support the offered configuration." Section 7.1.2.1: "A server declines an
    /// extension negotiation offer with this parameter if the server doesn't support it."
    #[test]
    fn section_7_declines_a_window_that_it_cannot_compress_with() {
        declines("permessage-deflate; server_max_window_bits=8");
        for bits in 9..=15 {
            let offer = format!("permessage-deflate; server_max_window_bits={bits}");
            assert_eq!(response(DEFAULT, &offer), Some(offer));
        }
    }

    /// "A server accepts an extension negotiation offer that includes the "server_no_context_takeover"
    /// extension parameter by including the "server_no_context_takeover" extension parameter in the
    /// corresponding extension negotiation response"
    #[test]
    fn section_7_1_1_1_accepts_server_no_context_takeover_by_including_it() {
        let offer = "permessage-deflate; server_no_context_takeover";
        let agreed = Parameters { server_no_context_takeover: true, ..DEFAULT };
        assert_eq!(accept(DEFAULT, offer), Some((agreed, offer.to_owned())));
    }

    /// "A server MAY include the "server_no_context_takeover" extension parameter in an extension
    /// negotiation response even if the extension negotiation offer [...] didn't include" it.
    #[test]
    fn section_7_1_1_1_includes_no_context_takeover_if_it_wants_to() {
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

    /// "This parameter has a decimal integer value"
    #[test]
    fn section_7_1_2_1_declines_server_max_window_bits_without_a_value() {
        declines("permessage-deflate; server_max_window_bits");
    }

    /// "A server accepts an extension negotiation offer with this parameter by including the
    /// "server_max_window_bits" extension parameter [...] with the same or smaller value as the offer."
    /// The response's "MUST conform to the ABNF below", too.
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

    /// "If a received extension negotiation offer doesn't have the "client_max_window_bits" extension
    /// parameter, the corresponding extension negotiation response to the offer MUST NOT include the
    /// "client_max_window_bits" extension parameter."
    #[test]
    fn section_7_1_2_2_does_not_limit_a_client_that_has_not_offered_it() {
        let wanted = Parameters { client_max_window_bits: 9, ..DEFAULT };
        let plain = Some((DEFAULT, "permessage-deflate".to_owned()));
        assert_eq!(accept(wanted, "permessage-deflate"), plain);
    }

    /// "by including the "client_max_window_bits" extension parameter [...] with a value equal to or
    /// smaller than the received value. [It] has a decimal integer value without leading zeroes between
    /// 8 to 15 inclusive [...] and MUST conform to the ABNF below."
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

    /// "To offer use of a PMCE, a client MUST include the extension name of the PMCE", and "the client
    /// MUST inform the server of its LZ77 window size so that the server uses an LZ77 window size that
    /// is not greater".
    #[test]
    fn section_5_offers_what_it_wants_by_its_name() {
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

    /// "If a server responds with no PMCE element in the "Sec-WebSocket-Extensions" header, both
    /// endpoints proceed without per-message compression"
    #[test]
    fn section_5_takes_no_answer_for_no_compression() {
        assert_eq!(DEFAULT.confirm(""), Ok(None));
    }

    /// "If a server gives an invalid response, such as accepting a PMCE that the client did not offer,
    /// the client MUST _Fail the WebSocket Connection_."
    #[test]
    fn section_5_fails_on_an_extension_that_it_did_not_offer() {
        for (response, name) in [
            ("permessage-bzip2", "permessage-bzip2"),
            ("x-webkit-deflate-frame", "x-webkit-deflate-frame"),
            ("mux; max-channels=4", "mux"),
        ] {
            let result = DEFAULT.confirm(response);
            assert_eq!(result, Err(NegotiationError::NotOffered(name.to_owned())));
        }
    }

    /// "A client that received a response accepting a PMCE extension negotiation offer together with
    /// such an extension MUST _Fail the WebSocket Connection_": one that uses RSV1, or to whose output
    /// the PMCE is applied.
    #[test]
    fn section_5_fails_on_another_extension_together_with_it() {
        for response in ["permessage-deflate, x-webkit-deflate-frame", "mux, permessage-deflate"] {
            let result = confirm(DEFAULT, response);
            assert!(matches!(result, Err(NegotiationError::NotOffered(_))), "{response}");
        }
    }

    #[test]
    fn takes_what_servers_answer() {
        assert_eq!(confirm(DEFAULT, "permessage-deflate"), Ok(DEFAULT));
        assert_eq!(
            confirm(
                DEFAULT,
                "Permessage-Deflate; client_max_window_bits=\"10\" ;server_max_window_bits=8; \
                 client_no_context_takeover;server_no_context_takeover"
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

    /// It offers one element, so two are "an invalid response".
    #[test]
    fn section_5_fails_on_two_answers() {
        let result = confirm(DEFAULT, "permessage-deflate, permessage-deflate");
        assert_eq!(result, Err(NegotiationError::Repeated));
    }

    /// "A client MUST _Fail the WebSocket Connection_ if the peer server accepted an extension
    /// negotiation offer for this extension with an extension negotiation response meeting any of the
    /// following conditions: [...] The negotiation response contains an extension parameter not defined
    /// for use in a response."
    #[test]
    fn section_7_fails_on_unknown_parameters() {
        let result = confirm(DEFAULT, "permessage-deflate; Unknown=1");
        assert_eq!(result, Err(NegotiationError::Unknown("Unknown".to_owned())));
    }

    /// "The negotiation response contains an extension parameter with an invalid value." And sections
    /// 7.1.2.1 and 7.1.2.2: "a decimal integer value without leading zeroes between 8 to 15, inclusive,
    /// [...] and MUST conform to the ABNF below. server-max-window-bits = 1*DIGIT"
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

    /// "The negotiation response contains multiple extension parameters with the same name."
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

    /// "The client does not support the configuration that the response represents."
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

    /// "a client informs the peer server of a hint that even if the server doesn't include the
    /// "client_no_context_takeover" extension parameter [...], the client is not going to use context
    /// takeover."
    #[test]
    fn section_7_1_1_2_keeps_to_its_own_client_no_context_takeover() {
        let wanted = Parameters { client_no_context_takeover: true, ..DEFAULT };
        assert_eq!(confirm(wanted, "permessage-deflate"), Ok(wanted));
    }

    /// "By including this parameter in an extension negotiation offer, a client limits the LZ77 sliding
    /// window size that the server will use to compress messages."
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

    /// "the client is not going to use an LZ77 sliding window size greater than the size specified by the
    /// value in the extension negotiation offer"
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
    /// Both ends come to the same parameters, or to none; and the messages of each come out at the other,
    /// compressed for themselves if that was agreed on.
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
                    let payloads = [b"Hello"; 2].map(|message| {
                        let (mut payload, mut plain) = (Vec::new(), Vec::new());
                        deflater.deflate(message, &mut payload).unwrap();
                        inflater.inflate_message(&payload, &mut plain, 5).unwrap();
                        assert_eq!(plain, message);
                        payload
                    });
                    let alone = match sender {
                        Role::Server => parameters.server_no_context_takeover,
                        Role::Client => parameters.client_no_context_takeover,
                    };
                    prop_assert_eq!(payloads[0] == payloads[1], alone);
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
