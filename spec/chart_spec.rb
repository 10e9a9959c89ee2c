# frozen_string_literal: true

require "cgi"
require "json"
require_relative "../benches/support/chart"

RSpec.describe Chart do
  bars = { kind: "bars", title: "Echo <servers>", scale: "us: less is better", ours: ["Connection"],
           data: { "64 B" => { "Connection" => 10, "other" => 20 },
                   "1 KiB" => { "Connection" => 5.5, "other" => 40 } } }
  lines = { kind: "lines", title: "Unmasking", scale: "GB/s: more is better", log: true,
            ours: %w[unmask], base: "memcpy",
            data: { "memcpy" => { "5" => 1, "1024" => 100 }, "unmask" => { "5" => 2, "1024" => 50 },
                    "other" => { "5" => 1, "1024" => 10 } } }

  def draw(chart) = described_class.svg(JSON.generate(chart))

  # @return [Array<Hash{String => String}>] the attributes of all elements of that name
  def elements(svg, name)
    svg.scan(%r{<#{name} ([^>]+?)/?>}).map do |attributes, *|
      attributes.scan(/([\w-]+)="([^"]*)"/).to_h
    end
  end

  def texts(svg) = svg.scan(%r{<text[^>]*>([^<]*)</text>}).flatten.map { CGI.unescapeHTML(_1) }

  def bars_of(svg)
    elements(svg, "rect").select { |rect| rect["height"] == "20" }
                         .map { |rect| [rect["fill"], rect["width"].to_f] }
  end

  def colors_of_lines(chart) = elements(draw(chart), "polyline").map { |line| line["stroke"] }

  it "draws on white, with title, scale, legend and every name and figure" do
    svg = draw(bars)
    expect(elements(svg, "rect").first["fill"]).to eq "#ffffff"
    expect(texts(svg)).to include("Echo <servers>", "us: less is better", "with ws_unmask",
                                  "without", "64 B", "1 KiB", "Connection", "other", "10",
                                  "5.5", "40")
  end

  it "draws bars as long as their figures" do
    lengths = bars_of(draw(bars)).map(&:last)
    expect(lengths.map { |length| (length * 40 / lengths.max).round(1) }).to eq [10, 20, 5.5, 40]
  end

  it "draws ours in one color in bars and lines" do
    ours = bars_of(draw(bars)).map(&:first)
    expect(ours.values_at(0, 2).uniq).to eq [described_class::OURS]
    expect(ours.values_at(1, 3)).not_to include described_class::OURS
    # One in the legend, one in the chart.
    expect(colors_of_lines(lines).count(described_class::OURS)).to eq 2
    expect(colors_of_lines(lines.merge(ours: []))).not_to include described_class::OURS
  end

  describe "bars on a logarithmic scale" do
    chart = { kind: "bars", title: "", scale: "", log: true, ours: [],
              data: { "" => { "half" => 0.5, "ten" => 10, "a hundred" => 100 } } }

    it "begin at 1 for ratios, whose unit is x" do
      svg = draw(chart.merge(unit: "x"))
      half, ten, hundred = bars_of(svg).map(&:last)
      expect([hundred / ten, ten / half]).to match [be_within(0.01).of(2), be_within(0.01).of(3.32)]
      expect(texts(svg)).to include "100x"
    end

    it "begin at the power of ten below all figures otherwise" do
      half, ten, hundred = bars_of(draw(chart)).map(&:last)
      ratios = [hundred / ten, ten / half]
      expect(ratios).to match [be_within(0.01).of(1.5), be_within(0.01).of(2.86)]
    end
  end

  Dir[File.expand_path("../docs/benchmarks/*.json", __dir__)].each do |path|
    it "has drawn #{File.basename(path, ".json")}.svg from its JSON file" do
      svg = File.read(path.sub(/json\z/, "svg"))
      expect(svg).to eq(described_class.svg(File.read(path))), "run rake bench:charts"
    end
  end
end
