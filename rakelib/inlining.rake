# frozen_string_literal: true

# The loops must be inlined for each SIMD level: calling one of their functions costs more than its
# work. So the compiled extension must not have symbols of these ...
INLINED = [
  /ws_unmask_core::decoder::Decoder::whole_message/,
  /ws_unmask_core::frame::Frame::(?!check_close)/,
  /ws_unmask_core::key::/,
  /ws_unmask_core::unmask::(?:in_out|target|simd|word)::/,
  /\A(?!.*::vectorize_\w+\z).*fearless_simd::(?!detect_\w+_level\z)/
].freeze

# ... and must have these, which the short paths call, each of them once for every level.
OUT_OF_LINE = %w[long_in_place long_in_place_ascii long_into_uninit
                 short_text_in_place short_text_into text_in_place text_into]
              .map { |name| "ws_unmask_core::unmask::#{name}" }.freeze
LEVELS = { /\Ax86_64/ => %w[sse4_2 avx2 avx512] }.freeze

# The functions of a binary by name, with repetitions.
def functions_in(binary)
  IO.popen(["nm", "--demangle", binary], &:readlines).filter_map { |line| line[/ [tT] (.+)/, 1] }
end

desc "Fails if a hot function of the core is not inlined into its callers"
task inlining: :compile do
  functions = functions_in("lib/ws_unmask/ws_unmask.#{RbConfig::CONFIG["DLEXT"]}")
  wrong = functions.grep(Regexp.union(INLINED)).map { |name| "not inlined: #{name}" }
  wrong += (OUT_OF_LINE - functions).map { |name| "not there: #{name}" }
  levels = LEVELS.find { |platform, _| platform.match?(RUBY_PLATFORM) }&.last || []
  levels.each do |level|
    count = functions.count { |name| name.end_with?("::vectorize_#{level}") }
    next if count == OUT_OF_LINE.size

    wrong << "#{count} loops for #{level}, not #{OUT_OF_LINE.size}"
  end
  abort wrong.join("\n") unless wrong.empty?
  puts "inlined: all of it; out of line: #{OUT_OF_LINE.size} functions, for #{levels.join(", ")}"
end
