# frozen_string_literal: true

# By RFC 7692, sections 5 and 7.1. The core has a test for each MUST of them.
RSpec.describe WsUnmask::Deflate do
  subject(:deflate) { described_class.new }

  def terms(agreement)
    [agreement.server_no_context_takeover?, agreement.client_no_context_takeover?,
     agreement.server_max_window_bits, agreement.client_max_window_bits]
  end

  describe ".new" do
    it "refuses unknown bits, and names them" do
      expect { described_class.new(server_max_window_bits: 7) }
        .to raise_error(ArgumentError, "server_max_window_bits must be in 8..15, not 7")
      expect { described_class.new(client_max_window_bits: 16) }
        .to raise_error(ArgumentError, "client_max_window_bits must be in 8..15, not 16")
      expect { described_class.new(client_max_window_bits: 10**30) }
        .to raise_error(ArgumentError, /not 1000/)
      expect { described_class.new(client_max_window_bits: nil) }
        .to raise_error(TypeError, "client_max_window_bits must be an Integer, not nil")
      expect { described_class.new(max_window_bits: 10) }
        .to raise_error(ArgumentError, /max_window_bits/)
    end
  end

  describe "#dup" do
    it "makes the same offer" do
      wanted = described_class.new(client_no_context_takeover: true, client_max_window_bits: 10)
      expect(wanted.dup.offer).to eq wanted.offer
    end
  end

  describe "#accept" do
    it "agrees to what is offered, and answers it" do
      agreement = deflate.accept("permessage-deflate; client_max_window_bits")
      expect(agreement.role).to be :server
      expect(agreement.response).to eq "permessage-deflate"
      expect(terms(agreement)).to eq [false, false, 15, 15]
    end

    it "accepts what the offer demands, and adds this end's parameters" do
      wanted = described_class.new(client_no_context_takeover: true, client_max_window_bits: 10)
      agreement = wanted.accept("permessage-deflate; server_no_context_takeover; " \
                                "server_max_window_bits=11; client_max_window_bits")
      expect(terms(agreement)).to eq [true, true, 11, 10]
      expect(agreement.response)
        .to eq "permessage-deflate; server_no_context_takeover; client_no_context_takeover; " \
               "server_max_window_bits=11; client_max_window_bits=10"
    end

    it "takes the first offer that it can accept, among other extensions" do
      header = "x-other, permessage-deflate; server_max_window_bits=8, " \
               "permessage-deflate; unknown, permessage-deflate; server_max_window_bits=9"
      expect(deflate.accept(header).server_max_window_bits).to eq 9
    end

    it "is nil if there is no offer, or none that it can accept" do
      [nil, "", "x-webkit-deflate-frame", "permessage-deflate; unknown"].each do |header|
        expect(deflate.accept(header)).to be_nil
      end
    end

    it "raises for a malformed header, in any encoding" do
      ["permessage-deflate;;", "a=\xff", "a=\xff".b, "a=ü", "a b"].each do |header|
        expect { deflate.accept(header) }
          .to raise_error(WsUnmask::NegotiationError, /is malformed \(at byte [12]?\d\)/)
      end
      expect { deflate.accept(:deflate) }
        .to raise_error(TypeError, "header must be a String, not Symbol")
    end
  end

  describe "#offer" do
    it "offers the parameters of this end" do
      expect(deflate.offer).to eq "permessage-deflate; client_max_window_bits"
      wanted = described_class.new(server_no_context_takeover: true, server_max_window_bits: 8,
                                   client_max_window_bits: 12)
      expect(wanted.offer).to eq "permessage-deflate; server_no_context_takeover; " \
                                 "server_max_window_bits=8; client_max_window_bits=12"
    end
  end

  describe "#confirm" do
    it "agrees to what the server answers" do
      agreement = deflate.confirm("permessage-deflate; client_max_window_bits=10; " \
                                  "server_no_context_takeover")
      expect(agreement.role).to be :client
      expect(agreement.response).to be_nil
      expect(terms(agreement)).to eq [true, false, 15, 10]
    end

    it "is nil if the server has declined" do
      expect(deflate.confirm(nil)).to be_nil
      expect(deflate.confirm("")).to be_nil
    end

    it "raises for a response that does not match the offer, and says why" do
      wanted = described_class.new(server_max_window_bits: 10)
      {
        "permessage-deflate" => "server_max_window_bits was offered but not fulfilled",
        "permessage-deflate, permessage-deflate" => /was accepted more than once/,
        "permessage-deflate; x" => "permessage-deflate has no parameter x",
        "x-other" => "x-other was accepted but not offered",
        "permessage-deflate; server_max_window_bits=10, x; y=1" =>
          "x was accepted but not offered",
        "permessage-deflate; server_max_window_bits=10; client_max_window_bits=8" =>
          "client_max_window_bits cannot be fulfilled here",
        "permessage-deflate;" => /is malformed/
      }.each do |header, message|
        expect { wanted.confirm(header) }.to raise_error(WsUnmask::NegotiationError, message)
      end
    end

    it "agrees with #accept, with any parameters of both ends" do
      both = [false, true]
      bits = [9, 12, 15]
      all = both.product(both, bits, bits).map do |server, client, server_bits, client_bits|
        described_class.new(server_no_context_takeover: server, client_no_context_takeover: client,
                            server_max_window_bits: server_bits,
                            client_max_window_bits: client_bits)
      end
      all.product(all).each do |client, server|
        accepted = server.accept(client.offer)
        expect(terms(client.confirm(accepted.response))).to eq terms(accepted)
      end
    end
  end

  describe WsUnmask::Deflate::Agreement do
    let(:agreement) { WsUnmask::Deflate.new.accept("permessage-deflate") }

    it "is only created by a negotiation" do
      expect { described_class.new }.to raise_error(TypeError, /allocator undefined/)
    end

    it "says in #inspect what was agreed on" do
      expect(agreement.inspect)
        .to eq "#<WsUnmask::Deflate::Agreement server, server_no_context_takeover: false, " \
               "client_no_context_takeover: false, server_max_window_bits: 15, " \
               "client_max_window_bits: 15>"
    end
  end
end
