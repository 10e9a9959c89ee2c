# frozen_string_literal: true

require "cgi"
require "fileutils"
require "json"

# Draws every chart of the benchmarks, as SVG on white. What uses ws_unmask is blue.
#
# A benchmark in Ruby saves its chart:
#
#   Chart.save("echo", kind: "bars", title: "Echo servers",
#                      scale: "CPU time of the server for a message, in us: less is better",
#                      ours: ["Connection"],
#                      data: { "64 B" => { "Connection" => 8.1, "faye-websocket" => 31.5 } })
#
# Any other program writes that as JSON to tmp/benchmarks/NAME.json, and runs this file, which draws
# all of tmp/benchmarks/*.json, or of the folder it is given.
#
#   kind    "bars" or "lines"
#   title   what was measured
#   scale   what the figures are, their unit, and which direction is better
#   log     true for a logarithmic scale
#   unit    what to write after the figures of bars; with "x" (ratios), logarithmic bars begin at 1
#   ours    the names of what uses ws_unmask
#   base    the name that the others are compared with (lines only; gray)
#   data    bars:  {group => {name => figure}}; the title of a single group is not shown
#           lines: {name => {bytes => figure}}
class Chart
  FOLDER = File.expand_path("../../tmp/benchmarks", __dir__)
  WIDTH = 900
  MARGIN = 24
  OURS = "#0b62d6" # blue, in every chart
  GRAY = "#6b7280"
  THEIRS = "#bcc3cc"
  OTHERS = %w[#e07b00 #2e8b57 #9b4dca #c0392b #00838f].freeze
  # Our lines are told apart by their dashes.
  DASHES = [nil, "7 4", "2 3"].freeze
  INK = "#1f2328"
  FAINT = "#e3e6ea"
  private_constant :WIDTH, :MARGIN, :GRAY, :THEIRS, :OTHERS, :DASHES, :INK, :FAINT

  # Writes the data and the chart into {FOLDER}.
  def self.save(name, **chart)
    FileUtils.mkdir_p(FOLDER)
    json = "#{JSON.pretty_generate(chart)}\n"
    File.write("#{FOLDER}/#{name}.json", json)
    File.write("#{FOLDER}/#{name}.svg", svg(json))
  end

  # Draws every NAME.json of a folder into its NAME.svg.
  def self.draw_all(folder)
    Dir["#{folder}/*.json"].each do |path|
      File.write("#{path.delete_suffix(".json")}.svg", svg(File.read(path)))
    end
  end

  # @param json [String]
  # @return [String]
  def self.svg(json)
    chart = JSON.parse(json)
    { "bars" => Bars, "lines" => Lines }.fetch(chart.fetch("kind")).new(chart).to_svg
  end

  def initialize(chart)
    @chart = chart
    @data = chart["data"].transform_values { |figures| figures.transform_values(&:to_f) }
    @parts = []
  end

  def to_svg
    text(MARGIN, 34, @chart["title"], size: 19, weight: 600)
    text(MARGIN, 56, @chart["scale"] + (log? ? " (logarithmic scale)" : ""), fill: GRAY)
    height = draw(86)
    <<~SVG
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 #{WIDTH} #{height}" width="#{WIDTH}"
        height="#{height}" role="img" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif">
      <title>#{escape(@chart["title"])}</title>
      <rect width="#{WIDTH}" height="#{height}" rx="6" fill="#ffffff"/>
      #{@parts.join("\n")}
      </svg>
    SVG
  end

  private

  def log? = @chart["log"]
  def ours?(name) = @chart["ours"].include?(name)

  def color(name)
    return OURS if ours?(name)
    return GRAY if name == @chart["base"]

    others = names.reject { |other| ours?(other) || other == @chart["base"] }
    OTHERS[others.index(name) % OTHERS.size]
  end

  # Places on a line from +from+ to +to+ for the figures from +low+ to +high+.
  def scale(low, high, from, to)
    return ->(figure) { from + ((figure - low) / (high - low) * (to - from)) } unless log?

    logarithmic(low, high, from, to)
  end

  def logarithmic(low, high, from, to)
    ->(figure) { from + (Math.log(figure.to_f / low) / Math.log(high.to_f / low) * (to - from)) }
  end

  # Round figures within the scale: not more than twelve.
  def ticks(low, high)
    return linear_ticks(high) unless log?

    powers = (Math.log10(low).floor..Math.log10(high).ceil).map { |power| 10.0**power }
    ticks = powers.flat_map { |power| [power, 2 * power, 5 * power] }
                  .select { |tick| tick.between?(low, high) }
    ticks.size > 12 ? powers.select { |power| power.between?(low, high) } : ticks
  end

  def linear_ticks(high)
    power = 10.0**Math.log10(high).floor
    step = [0.1, 0.2, 0.5, 1.0].map { |part| part * power }.find { |size| high / size <= 10 }
    (0..(high / step).floor).map { |i| i * step }
  end

  def figure(number)
    digits = if number.abs >= 100 || (number % 1).zero? then 0
             else
               number.abs >= 10 || (number * 10 % 1).zero? ? 1 : 2
             end
    format("%.#{digits}f", number).gsub(/(\d)(?=(\d{3})+\z)/, '\1,')
  end

  # @param entries [Hash{String => Proc}] names, and what draws the sign before each
  def legend(y, entries)
    x = MARGIN
    entries.each do |name, draw|
      draw.call(x, y)
      text(x + 34, y, name)
      x += 54 + width_of(name)
    end
  end

  # A rough estimate, good enough for placing the next element.
  def width_of(text, size = 14) = text.length * size * 0.56

  def text(x, y, text, anchor: "start", size: 14, fill: INK, weight: nil)
    element("text", x:, y:, "font-size": size, fill:, "text-anchor": anchor,
                    "font-weight": weight, content: text)
  end

  # @param points [Array<Array>] x and y of each
  def line(points, stroke: FAINT, width: 1, dash: nil)
    points = points.map { |point| point.map { |place| place.round(1) }.join(",") }.join(" ")
    element("polyline", points:, fill: "none", stroke:, "stroke-width": width,
                        "stroke-linejoin": "round", "stroke-dasharray": dash)
  end

  def box(x, y, width, height, fill)
    element("rect", x:, y:, width:, height:, fill:)
  end

  def element(name, content: nil, **attributes)
    attributes = attributes.compact.map do |attribute, value|
      %( #{attribute}="#{value.is_a?(Float) ? value.round(1) : value}")
    end
    @parts << "<#{name}#{attributes.join}#{content ? ">#{escape(content)}</#{name}>" : "/>"}"
  end

  def escape(text) = CGI.escapeHTML(text.to_s)

  # A bar for each name, in groups.
  class Bars < Chart
    BAR = 20
    STEP = 27
    private_constant :BAR, :STEP

    private

    def names = @data.values.flat_map(&:keys).uniq
    def color(name) = ours?(name) ? OURS : THEIRS

    def draw(top)
      colors = { "with ws_unmask" => OURS, "without" => THEIRS }
      legend(top, colors.transform_values { |fill| ->(x, y) { box(x + 8, y - 12, 18, 14, fill) } })
      left = MARGIN + names.map { |name| width_of(name) }.max + 12
      figures = @data.values.flat_map(&:values)
      low = [start, *figures].min
      place = scale(low, figures.max, left, WIDTH - MARGIN - 64)
      bottom = top + 22 + @data.values.sum { |bars| (bars.size * STEP) + heading_height }
      axis(place, low, figures.max, top + 16, bottom)
      groups(place, left, top + 16)
      bottom + 40
    end

    # Where bars begin: on a logarithmic scale at 1, or at the power of ten below all figures.
    def start
      return 0 unless log?

      @chart["unit"] == "x" ? 1.0 : 10.0**Math.log10(@data.values.flat_map(&:values).min).floor
    end

    def heading_height = @data.size > 1 ? 34 : 0

    def axis(place, low, high, top, bottom)
      ticks(low, high).each do |tick|
        x = place.call(tick)
        line([[x, top], [x, bottom]])
        text(x, bottom + 18, figure(tick), anchor: "middle", size: 12, fill: GRAY)
      end
    end

    def groups(place, left, y)
      @data.each do |title, bars|
        text(MARGIN, y + 24, title, weight: 600) if @data.size > 1
        y += heading_height
        bars.each do |name, number|
          bar(place, left, y, name, number)
          y += STEP
        end
      end
    end

    def bar(place, left, y, name, number)
      text(left - 10, y + 19, name, anchor: "end", weight: (600 if ours?(name)))
      from, to = [place.call(start), place.call(number)].minmax
      box(from, y + 4, [to - from, 2].max, BAR, color(name))
      text(to + 6, y + 19, "#{figure(number)}#{@chart["unit"]}", size: 13)
    end
  end

  # A line for each name, over sizes in bytes.
  class Lines < Chart
    HEIGHT = 400
    private_constant :HEIGHT

    private

    # Ours first.
    def names = @data.keys.partition { |name| ours?(name) }.flatten

    def draw(top)
      legend(top, names.to_h do |name|
        [name, ->(x, y) { path(name, [[x, y - 5], [x + 28, y - 5]]) }]
      end)
      sizes = @data.values.flat_map { |points| points.keys.map(&:to_i) }.uniq.sort
      figures = @data.values.flat_map(&:values)
      across = logarithmic(sizes.first, sizes.last, MARGIN + 46, WIDTH - MARGIN - 16)
      low = log? ? figures.min * 0.9 : 0
      bottom = top + 20 + HEIGHT
      up = scale(low, figures.max * 1.1, bottom, top + 20)
      axes(across, up, sizes, ticks(low, figures.max * 1.1), bottom)
      # Ours come last, on top of the others.
      names.reverse_each do |name|
        points = @data[name].transform_keys(&:to_i).sort
        path(name, points.map { |size, number| [across.call(size), up.call(number)] })
      end
      text((WIDTH + MARGIN) / 2, bottom + 42, "payload", anchor: "middle", fill: GRAY)
      bottom + 60
    end

    def axes(across, up, sizes, ticks, bottom)
      ends = [across.call(sizes.first), across.call(sizes.last)]
      ticks.each do |tick|
        line([[ends[0], up.call(tick)], [ends[1], up.call(tick)]])
        text(MARGIN + 38, up.call(tick) + 4, figure(tick), anchor: "end", size: 12, fill: GRAY)
      end
      last = -Float::INFINITY
      sizes.each do |size|
        x = across.call(size)
        next if x - last < 48

        last = x
        line([[x, bottom], [x, bottom + 5]], stroke: GRAY)
        text(x, bottom + 20, human(size), anchor: "middle", size: 12, fill: GRAY)
      end
    end

    def path(name, points)
      dash = DASHES[names.select { |other| ours?(other) }.index(name)] if ours?(name)
      line(points, stroke: color(name), width: ours?(name) ? 3 : 2, dash:)
    end

    def human(bytes)
      return "#{bytes >> 20} MiB" if bytes >= 1 << 20

      bytes >= 1024 && (bytes % 1024).zero? ? "#{bytes >> 10} KiB" : "#{bytes} B"
    end
  end
end

Chart.draw_all(ARGV.fetch(0, Chart::FOLDER)) if $PROGRAM_NAME == __FILE__
